// operations.c — the interface of the core as a program of operations, many of them in call-outs and nested runs, with the time of a clock
// that the program has. Whatever it is, items are called only when they may be, and nothing of them is left.
#include <sys/eventfd.h>

#include "fuzz.h"
#include "runloop.h"

enum { MODES = 5, ITEMS = 6, DEEPEST = 4, MOST_CALLOUTS = 300 };

static const char *const modes[MODES] = {RUNLOOP_DEFAULT_MODE, "P", "Q", "R", RUNLOOP_COMMON_MODES};

static __thread struct world {
    struct bytes *bytes;
    int64_t now;
    runloop *loop;
    runloop_source *sources[ITEMS], *descriptors[ITEMS];
    runloop_timer *timers[ITEMS];
    runloop_observer *observers[ITEMS];
    bool signalled[ITEMS], firing[ITEMS], observing[ITEMS], is_written[ITEMS];
    int callouts, depth, contexts, tasks, exits;
} * world;

/// eventfds. They outlive the inputs, after each of which they are 0.
static int counters[ITEMS];

static void operate(void);

//===-- call-outs ----------------------------------------------------------------------------------------------------===//

/// A number of the item that is called; what is behind it counts references.
struct slot {
    struct world *world;
    int number;
};

static void *retain(void *info) {
    struct slot *slot = malloc(sizeof *slot);
    CHECK(slot);
    *slot = *(struct slot *)info;
    slot->world->contexts++;
    return slot;
}

static void release(void *info) {
    ((struct slot *)info)->world->contexts--;
    free(info);
}

static void call_out(void) {
    CHECK(runloop_current_mode(world->loop) && world->depth > 0);
    if (++world->callouts < MOST_CALLOUTS)
        operate();
    else
        runloop_stop(world->loop);
}

static void perform(runloop_source *source, void *info) {
    int number = ((struct slot *)info)->number;
    CHECK(runloop_source_is_valid(source));
    CHECK(world->sources[number] != source || world->signalled[number]);
    if (world->sources[number] == source)
        world->signalled[number] = false;
    call_out();
}

static void ready(runloop_source *source, runloop_readiness readiness, void *info) {
    (void)readiness, (void)info;
    CHECK(runloop_source_is_valid(source));
    call_out();
}

static void fire(runloop_timer *timer, void *info) {
    int number = ((struct slot *)info)->number;
    bool is_named = world->timers[number] == timer;
    CHECK(runloop_timer_is_valid(timer) && runloop_timer_get_fire_date(timer) <= world->now);
    CHECK(!is_named || !world->firing[number]);
    world->firing[number] |= is_named;
    call_out();
    if (world->timers[number] == timer)
        world->firing[number] = false;
}

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    int number = ((struct slot *)info)->number;
    bool is_named = world->observers[number] == observer;
    CHECK(runloop_observer_get_activities(observer) & activity && runloop_observer_is_valid(observer));
    CHECK(!is_named || !world->observing[number]);
    world->observing[number] |= is_named;
    world->exits += activity == RUNLOOP_ACTIVITY_EXIT;
    call_out();
    if (world->observers[number] == observer)
        world->observing[number] = false;
}

static void task(void *info) {
    (void)info;
    world->tasks--;
    call_out();
}

static void discard_task(void *info) {
    ((struct world *)info)->tasks--;
}

//===-- operations ---------------------------------------------------------------------------------------------------===//

static const char *a_mode(void) {
    return modes[bytes_take(world->bytes, MODES)];
}

/// In place of a former item of that number, which the loop may have still.
static void make(int number) {
    struct slot slot = {world, number};
    runloop_context context = {.info = &slot, .retain = retain, .release = release};
    switch (bytes_take(world->bytes, 4)) {
    case 0: {
        runloop_source_config config = {context, .order = (int)bytes_take(world->bytes, 3), .perform = perform};
        runloop_source_release(world->sources[number]);
        world->signalled[number] = false;
        CHECK(runloop_source_create(&config, &world->sources[number]) == 0);
        break;
    }
    case 1: {
        unsigned choice = bytes_take(world->bytes, 4);
        runloop_descriptor_config config = {context, .descriptor = counters[choice ? number : 0],
                                            .events =
                                                choice == 2 ? RUNLOOP_READABLE | RUNLOOP_WRITABLE : RUNLOOP_READABLE,
                                            .counter = choice == 3, .ready = ready};
        runloop_source_release(world->descriptors[number]);
        world->descriptors[number] = NULL;
        int result = runloop_descriptor_source_create(&config, &world->descriptors[number]);
        CHECK(result == 0);
        break;
    }
    case 2: {
        runloop_timer_config config = {context,
                                       .order = (int)bytes_take(world->bytes, 3),
                                       .fire_ns = world->now + (int64_t)bytes_take(world->bytes, 8) - 2,
                                       .interval_ns = (int64_t)bytes_take(world->bytes, 5) * 2,
                                       .tolerance_ns = bytes_take(world->bytes, 4),
                                       .fire = fire};
        runloop_timer_release(world->timers[number]);
        world->firing[number] = false;
        CHECK(runloop_timer_create(&config, &world->timers[number]) == 0);
        break;
    }
    default: {
        runloop_observer_config config = {context, .order = (int)bytes_take(world->bytes, 3),
                                          .activities = bytes_take(world->bytes, 256),
                                          .repeats = bytes_take(world->bytes, 4), .observe = observe};
        runloop_observer_release(world->observers[number]);
        world->observing[number] = false;
        CHECK(runloop_observer_create(&config, &world->observers[number]) == 0);
    }
    }
}

static void add_or_remove(int number, bool adds) {
    const char *mode = a_mode();
    unsigned kind = bytes_take(world->bytes, 4);
    runloop_source *source = kind == 0 ? world->sources[number] : world->descriptors[number];
    if (kind < 2 && source) {
        int result = (adds ? runloop_add_source : runloop_remove_source)(world->loop, source, mode);
        CHECK(result == 0 || !runloop_source_is_valid(source));
        if (result == 0)
            CHECK(runloop_contains_source(world->loop, source, mode) == adds);
    } else if (kind == 2 && world->timers[number]) {
        int result = (adds ? runloop_add_timer : runloop_remove_timer)(world->loop, world->timers[number], mode);
        CHECK(result == 0 || !runloop_timer_is_valid(world->timers[number]));
        CHECK(adds || !runloop_contains_timer(world->loop, world->timers[number], mode));
    } else if (kind == 3 && world->observers[number]) {
        int result =
            (adds ? runloop_add_observer : runloop_remove_observer)(world->loop, world->observers[number], mode);
        CHECK(result == 0 || !runloop_observer_is_valid(world->observers[number]));
        CHECK(adds || !runloop_contains_observer(world->loop, world->observers[number], mode));
    }
}

static void invalidate(int number) {
    switch (bytes_take(world->bytes, 4)) {
    case 0: runloop_source_invalidate(world->sources[number]); break;
    case 1: runloop_source_invalidate(world->descriptors[number]); break;
    case 2: runloop_timer_invalidate(world->timers[number]); break;
    default: runloop_observer_invalidate(world->observers[number]);
    }
}

static void run(void) {
    const char *mode = a_mode(), *before = runloop_current_mode(world->loop);
    int64_t limit = (int64_t[]){0, 0, 3, 20, RUNLOOP_FOREVER}[bytes_take(world->bytes, 5)];
    if (world->depth == DEEPEST)
        return;
    world->depth++;
    bool returns = bytes_take(world->bytes, 2);
    int64_t begin = world->now;
    int exits = world->exits;
    bool is_pass = bytes_take(world->bytes, 6) == 0;
    int result = is_pass ? runloop_run_pass(mode, limit) : runloop_run_in_mode(mode, limit, returns);
    world->depth--;
    CHECK(result >= RUNLOOP_RESULT_FINISHED && result <= RUNLOOP_RESULT_HANDLED_SOURCE);
    // An observer of the exit is notified when the result is known, and may fill the mode again.
    CHECK(result != RUNLOOP_RESULT_FINISHED || world->exits > exits || runloop_mode_is_empty(world->loop, mode));
    // A pass may have waited for a wake-up or a task.
    CHECK(result != RUNLOOP_RESULT_TIMED_OUT || limit <= 0 || is_pass || world->now - begin >= limit);
    const char *after = runloop_current_mode(world->loop);
    CHECK(before == after);
}

static void signal_or_move(int number) {
    uint64_t count = 1;
    switch (bytes_take(world->bytes, 6)) {
    case 0:
        if (runloop_source_signal(world->sources[number]) == 0)
            world->signalled[number] = true;
        break;
    case 1:
        CHECK(write(counters[number], &count, sizeof count) == sizeof count);
        world->is_written[number] = true;
        break;
    case 2:
        if (read(counters[number], &count, sizeof count) < 0)
            CHECK(errno == EAGAIN);
        break;
    case 3:
        runloop_timer_set_fire_date(world->timers[number], world->now + (int)bytes_take(world->bytes, 8) - 2);
        break;
    case 4: runloop_source_set_deadline(world->descriptors[number], world->now + bytes_take(world->bytes, 8)); break;
    default: runloop_source_set_events(world->descriptors[number], 1 + bytes_take(world->bytes, 3));
    }
}

static void ask_of_loop(void) {
    const char *mode = a_mode(), *names[MODES];
    switch (bytes_take(world->bytes, 10)) {
    case 0: runloop_stop(world->loop); break;
    case 1: runloop_stop_latched(world->loop); break;
    case 2: CHECK(runloop_stop_mode(world->loop, mode) == (mode == modes[MODES - 1] ? -EINVAL : 0)); break;
    case 3: CHECK(runloop_wake_up(world->loop) == 0); break;
    case 4: runloop_add_common_mode(world->loop, mode); break;
    case 5: CHECK(runloop_is_idle(world->loop) == 0 || world->depth > 0); break;
    case 6: CHECK(runloop_get_modes(world->loop, names, MODES) <= MODES); break;
    case 7: runloop_next_fire_date(world->loop, mode); break;
    case 8: runloop_has_work(mode); break;
    default: world->now += bytes_take(world->bytes, 8); runloop_clock_moved(world->loop);
    }
}

static void operate(void) {
    for (unsigned count = 1 + bytes_take(world->bytes, 3); count > 0 && bytes_left(world->bytes); count--) {
        unsigned operation = bytes_take(world->bytes, 12);
        int number = (int)bytes_take(world->bytes, ITEMS);
        switch (operation) {
        case 0:
        case 1: make(number); break;
        case 2:
        case 3:
        case 4: add_or_remove(number, true); break;
        case 5: add_or_remove(number, false); break;
        case 6: invalidate(number); break;
        case 7: run(); break;
        case 8:
        case 9: signal_or_move(number); break;
        case 10:
            world->tasks++;
            if ((number % 2 ? runloop_post : runloop_perform)(world->loop, a_mode(), task, world, discard_task) != 0)
                world->tasks--;
            break;
        default: ask_of_loop();
        }
    }
}

//===-- the world ----------------------------------------------------------------------------------------------------===//

static int64_t clock_now(void *context) {
    return ((struct world *)context)->now;
}

/// Time passes when there is nothing else to do; where it would pass for ever, the run is stopped.
static int64_t clock_wait(void *context, int64_t duration_ns) {
    struct world *its = context;
    if (duration_ns == RUNLOOP_FOREVER || its->now > INT64_C(1) << 40)
        runloop_stop(its->loop);
    else
        its->now += duration_ns > 0 ? duration_ns : 1;
    return 0;
}

static void *play(void *argument) {
    struct world *its = argument;
    world = its;
    runloop_clock clock = {its, clock_now, clock_wait};
    CHECK(runloop_set_clock(&clock) == 0);
    its->loop = runloop_current();
    CHECK(its->loop);
    while (bytes_left(its->bytes) && its->callouts < MOST_CALLOUTS)
        operate();
    for (int i = 0; i < ITEMS; i++) {
        runloop_source_release(its->sources[i]);
        runloop_source_release(its->descriptors[i]);
        runloop_timer_release(its->timers[i]);
        runloop_observer_release(its->observers[i]);
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, data + size};
    struct world its = {.bytes = &bytes, .now = 1000};
    static bool has_counters;
    for (int i = 0; i < ITEMS && !has_counters; i++)
        CHECK((counters[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0);
    has_counters = true;
    int descriptors = fuzz_open_descriptors();
    fuzz_with_loop(play, &its, size);
    for (int i = 0; i < ITEMS; i++) {
        uint64_t count;
        CHECK(!its.is_written[i] || read(counters[i], &count, sizeof count) > 0 || errno == EAGAIN);
    }
    CHECK(its.contexts == 0 && its.tasks == 0);
    CHECK(fuzz_open_descriptors() == descriptors);
    return 0;
}
