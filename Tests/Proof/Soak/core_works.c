// core_works.c — tasks, signalled sources, timers that others move, nested runs, observers, the main dispatch queue.
#include "soak.h"

//===-- posts --------------------------------------------------------------------------------------------------------===//

static struct count posts = {.name = "posts"};

static void take_post(void *info) {
    take(info, 1);
}

static void post(unsigned *seed) {
    if (is_behind(&posts, 20000))
        return;
    runloop *loop = places[dice(seed, PLACES)].loop;
    for (int i = 0; i < 256; i++) {
        give(&posts, 1);
        MUST(runloop_post(loop, MODE, take_post, &posts, NULL) == 0);
    }
}

//===-- signalled sources --------------------------------------------------------------------------------------------===//

enum { SOURCES = 70 }; // more than a word of the tree has bits

static struct signalled {
    runloop_source *source;
    _Atomic uint64_t asked;
    uint64_t seen; ///< by the place's thread
} signalled[PLACES][SOURCES];
static struct count signals = {.name = "signals"};

// Signals are merged; what was asked for before one was given must have been seen after it was performed.
static void perform(runloop_source *source, void *info) {
    (void)source;
    struct signalled *own = info;
    uint64_t asked = atomic_load(&own->asked);
    take(&signals, asked - own->seen);
    own->seen = asked;
}

static void begin_signals(void) {
    for (int p = 0; p < PLACES; p++)
        for (int i = 0; i < SOURCES; i++) {
            struct signalled *own = &signalled[p][i];
            runloop_source_config config = {{.info = own}, .order = i % 3, .perform = perform};
            MUST(runloop_source_create(&config, &own->source) == 0);
            MUST(runloop_add_source(places[p].loop, own->source, MODE) == 0);
        }
}

static void signal_some(unsigned *seed) {
    unsigned p = dice(seed, PLACES);
    for (int i = 0; i < 64; i++) {
        struct signalled *own = &signalled[p][dice(seed, SOURCES)];
        give(&signals, 1);
        atomic_fetch_add(&own->asked, 1);
        MUST(runloop_source_wake(own->source) == 0);
    }
}

static void end_signals(void) {
    for (int p = 0; p < PLACES; p++)
        for (int i = 0; i < SOURCES; i++)
            end_source(&signalled[p][i].source);
}

//===-- timers -------------------------------------------------------------------------------------------------------===//

enum { TIMERS = 250 };

static struct timed {
    runloop_timer *timer;
    struct place *place;
} timed[PLACES][TIMERS];
static struct count firings = {.name = "firings of timers"}, moves = {.name = "moves of timers"};

static int64_t soon(unsigned *seed) {
    return runloop_now_ns() + dice(seed, 2000) * 10000;
}

// It repeats, so that it can be set again, but only in the far future by itself. Each date that it sets is one firing, whoever moves it.
static void fire(runloop_timer *timer, void *info) {
    struct timed *own = info;
    take(&firings, 1);
    if (is_over)
        return;
    give(&firings, 1);
    MUST(runloop_timer_set_fire_date(timer, soon(&own->place->seed)) == 0);
}

static void begin_timers(void) {
    for (int p = 0; p < PLACES; p++)
        for (int i = 0; i < TIMERS; i++) {
            struct timed *own = &timed[p][i];
            own->place = &places[p];
            runloop_timer_config config = {{.info = own},    i % 3,          soon(&places[p].seed),
                                           1000000 * SECOND, i % 2 ? MS : 0, fire};
            give(&firings, 1);
            MUST(runloop_timer_create(&config, &own->timer) == 0);
            MUST(runloop_add_timer(places[p].loop, own->timer, MODE) == 0);
        }
}

static void move_timers(unsigned *seed) {
    for (int i = 0; i < 16; i++) {
        struct timed *own = &timed[dice(seed, PLACES)][dice(seed, TIMERS)];
        MUST(runloop_timer_set_fire_date(own->timer, soon(seed)) == 0);
        give(&moves, 1);
        take(&moves, 1);
    }
}

static void end_timers(void) {
    for (int p = 0; p < PLACES; p++)
        for (int i = 0; i < TIMERS; i++) {
            runloop_timer_invalidate(timed[p][i].timer);
            runloop_timer_release(timed[p][i].timer);
        }
}

//===-- nested runs --------------------------------------------------------------------------------------------------===//

static struct count nested = {.name = "nested runs"};

static void take_nested(void *info) {
    struct place *place = info;
    take(&nested, 1);
    runloop_stop(place->loop);
}

static void run_nested(struct place *place) {
    give(&nested, 1);
    MUST(runloop_perform(place->loop, "inner", take_nested, place, NULL) == 0);
    runloop_source *source; // keeps the mode from being empty
    MUST(runloop_source_create(&(runloop_source_config){.perform = NULL}, &source) == 0);
    MUST(runloop_add_source(place->loop, source, "inner") == 0);
    int result = runloop_run_in_mode("inner", RUNLOOP_FOREVER, false);
    if (result != RUNLOOP_RESULT_STOPPED)
        complain("a nested run ended by itself", result);
    end_source(&source);
}

//===-- observers ----------------------------------------------------------------------------------------------------===//

static runloop_observer *observers[PLACES];
static struct count sleeps = {.name = "sleeps", .kind = SLEEPS};

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)info;
    if (activity & RUNLOOP_ACTIVITY_BEFORE_WAITING)
        give(&sleeps, 1);
    else
        take(&sleeps, 1);
}

static void begin_observers(void) {
    for (int p = 0; p < PLACES; p++) {
        runloop_observer_config config = {
            {0}, 0, RUNLOOP_ACTIVITY_BEFORE_WAITING | RUNLOOP_ACTIVITY_AFTER_WAITING, true, observe};
        MUST(runloop_observer_create(&config, &observers[p]) == 0);
        MUST(runloop_add_observer(places[p].loop, observers[p], MODE) == 0);
    }
}

static void end_observers(void) {
    for (int p = 0; p < PLACES; p++) {
        runloop_observer_invalidate(observers[p]);
        runloop_observer_release(observers[p]);
    }
}

//===-- the main dispatch queue --------------------------------------------------------------------------------------===//

// There if the program is linked with libdispatch.
struct dispatch_queue_s;
extern __attribute__((weak)) struct dispatch_queue_s _dispatch_main_q;
extern __attribute__((weak)) void dispatch_async_f(struct dispatch_queue_s *, void *, void (*)(void *));
static struct count blocks = {.name = "work of the main dispatch queue"};

static void dispatch(unsigned *seed) {
    (void)seed;
    if (!dispatch_async_f || is_behind(&blocks, 20000))
        return;
    for (int i = 0; i < 32; i++) {
        give(&blocks, 1);
        dispatch_async_f(&_dispatch_main_q, &blocks, take_post);
    }
}

const struct work core_works[] = {
    {"posts", NULL, post, NULL, NULL, {&posts}},
    {"signals", begin_signals, signal_some, NULL, end_signals, {&signals}},
    {"timers", begin_timers, move_timers, NULL, end_timers, {&firings, &moves}},
    {"nested runs", NULL, NULL, run_nested, NULL, {&nested}},
    {"observers", begin_observers, NULL, NULL, end_observers, {&sleeps}, .ends_after_loops = true},
    {"main queue", NULL, dispatch, NULL, NULL, {&blocks}},
    {0},
};
