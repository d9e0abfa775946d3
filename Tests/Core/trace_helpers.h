// trace_helpers.h — items that write their names into the trace, so that a test reads as one line of text.
//
// E T S W A X stand for Entry, BeforeTimers, BeforeSources, BeforeWaiting, AfterWaiting, Exit; "-> Stopped" for results.
// Every test is a process of its own, so its callbacks can use static variables.
#ifndef RUNLOOP_TRACE_HELPERS_H
#define RUNLOOP_TRACE_HELPERS_H

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "test.h"

#define DEFAULT RUNLOOP_DEFAULT_MODE
#define COMMON RUNLOOP_COMMON_MODES

/// The limit of a run that must end for another reason.
#define LONG (20 * SECOND)

/// What an item does after it has traced its name.
typedef void (*action)(void);

/// The loop of the test's main thread, and that thread.
static runloop *loop;
static pid_t loop_thread;

/// The first line of every test.
static inline void begin(void) {
    loop = runloop_current();
    loop_thread = (pid_t)syscall(SYS_gettid);
    REQUIRE(loop);
}

//===-- actors: the info of every traced item ---------------------------------------------------------------------===//

struct actor {
    const char *name; // NULL: observers trace the letter of the activity. "": silent.
    action act;
    void *object; // Keeps what a test doesn't release reachable for the leak checker.
};

static struct actor actors[4096];
static _Atomic size_t actor_count;

static inline struct actor *new_actor(const char *name, action act) {
    size_t index = atomic_fetch_add(&actor_count, 1);
    REQUIRE(index < sizeof actors / sizeof *actors);
    actors[index].name = name;
    actors[index].act = act;
    return &actors[index];
}

static inline void actor_acts(void *info) {
    struct actor *actor = info;
    if (actor->name && actor->name[0])
        trace(actor->name);
    if (actor->act)
        actor->act();
}

/// Traces `sign`, the actor's name, "@" and `mode`.
static inline void trace_membership(char sign, void *info, const char *mode) {
    char word[256];
    snprintf(word, sizeof word, "%c%s@%s", sign, ((struct actor *)info)->name, mode);
    trace(word);
}

//===-- sources ---------------------------------------------------------------------------------------------------===//

static inline void source_acts(runloop_source *source, void *info) {
    (void)source;
    actor_acts(info);
}

static inline void source_scheduled(runloop_source *source, runloop *in, const char *mode, void *info) {
    (void)source, (void)in;
    trace_membership('+', info, mode);
}

static inline void source_cancelled(runloop_source *source, runloop *in, const char *mode, void *info) {
    (void)source, (void)in;
    trace_membership('-', info, mode);
}

static inline runloop_source *new_source(runloop_source_config config) {
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0 && source);
    new_actor("", NULL)->object = source;
    return source;
}

/// A source that traces its name and acts when it performs.
static inline runloop_source *traced_source(const char *name, int32_t order, action act) {
    return new_source(
        (runloop_source_config){.context.info = new_actor(name, act), .order = order, .perform = source_acts});
}

/// A source that also traces "+name@mode" and "-name@mode" when it is added to and removed from a mode.
static inline runloop_source *scheduled_source(const char *name, action act) {
    return new_source((runloop_source_config){.context.info = new_actor(name, act),
                                              .perform = source_acts,
                                              .schedule = source_scheduled,
                                              .cancel = source_cancelled});
}

/// A traced source in `mode` of the test's loop.
static inline runloop_source *add_source(const char *name, action act, const char *mode) {
    runloop_source *source = traced_source(name, 0, act);
    REQUIRE(runloop_add_source(loop, source, mode) == 0);
    return source;
}

static inline void descriptor_acts(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    actor_acts(info);
}

static inline int new_counter(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    REQUIRE(descriptor >= 0);
    return descriptor;
}

static inline void count_up(int descriptor) {
    REQUIRE(eventfd_write(descriptor, 1) == 0);
}

/// A source of a readable descriptor in `mode`; `counter`: the loop reads it before the call.
static inline runloop_source *add_descriptor(const char *name, int descriptor, bool counter, action act,
                                             const char *mode) {
    runloop_descriptor_config config = {.context.info = new_actor(name, act),
                                        .descriptor = descriptor,
                                        .events = RUNLOOP_READABLE,
                                        .counter = counter,
                                        .ready = descriptor_acts};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0 && source);
    new_actor("", NULL)->object = source;
    REQUIRE(runloop_add_source(loop, source, mode) == 0);
    return source;
}

//===-- timers, observers, tasks ----------------------------------------------------------------------------------===//

static inline void timer_acts(runloop_timer *timer, void *info) {
    (void)timer;
    actor_acts(info);
}

/// A timer that is due `after_ns` from now, in no mode.
static inline runloop_timer *traced_timer(const char *name, int64_t after_ns, int64_t interval_ns, action act) {
    runloop_timer_config config = {.context.info = new_actor(name, act),
                                   .fire_ns = runloop_now_ns() + after_ns,
                                   .interval_ns = interval_ns,
                                   .fire = timer_acts};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0 && timer);
    new_actor("", NULL)->object = timer;
    return timer;
}

static inline runloop_timer *add_timer(const char *name, int64_t after_ns, int64_t interval_ns, action act,
                                       const char *mode) {
    runloop_timer *timer = traced_timer(name, after_ns, interval_ns, act);
    REQUIRE(runloop_add_timer(loop, timer, mode) == 0);
    return timer;
}

static inline const char *activity_letter(runloop_activity activity) {
    switch (activity) {
    case RUNLOOP_ACTIVITY_ENTRY: return "E";
    case RUNLOOP_ACTIVITY_BEFORE_TIMERS: return "T";
    case RUNLOOP_ACTIVITY_BEFORE_SOURCES: return "S";
    case RUNLOOP_ACTIVITY_BEFORE_WAITING: return "W";
    case RUNLOOP_ACTIVITY_AFTER_WAITING: return "A";
    case RUNLOOP_ACTIVITY_EXIT: return "X";
    default: return "?";
    }
}

static inline void observer_acts(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer;
    if (!((struct actor *)info)->name)
        trace(activity_letter(activity));
    actor_acts(info);
}

static inline runloop_observer *traced_observer(const char *name, runloop_activity activities, int32_t order,
                                                bool repeats, action act) {
    runloop_observer_config config = {.context.info = new_actor(name, act),
                                      .order = order,
                                      .activities = activities,
                                      .repeats = repeats,
                                      .observe = observer_acts};
    runloop_observer *observer = NULL;
    REQUIRE(runloop_observer_create(&config, &observer) == 0 && observer);
    new_actor("", NULL)->object = observer;
    return observer;
}

static inline runloop_observer *add_observer(const char *name, runloop_activity activities, int32_t order, bool repeats,
                                             action act, const char *mode) {
    runloop_observer *observer = traced_observer(name, activities, order, repeats, act);
    REQUIRE(runloop_add_observer(loop, observer, mode) == 0);
    return observer;
}

/// Traces every activity of the mode by its letter, ahead of all other observers.
static inline runloop_observer *watch(const char *mode) {
    return add_observer(NULL, RUNLOOP_ACTIVITY_ALL, INT32_MIN, true, NULL, mode);
}

/// Acts at every such activity of the mode, silently; `once`: at the first one only.
static inline runloop_observer *always(const char *mode, runloop_activity activity, action act) {
    return add_observer("", activity, 0, true, act, mode);
}
static inline runloop_observer *once(const char *mode, runloop_activity activity, action act) {
    return add_observer("", activity, 0, false, act, mode);
}

/// Queues a task that traces `name` and acts, without waking the loop.
static inline void perform(const char *name, action act, const char *mode) {
    REQUIRE(runloop_perform(loop, mode, actor_acts, new_actor(name, act), NULL) == 0);
}

//===-- runs and modes --------------------------------------------------------------------------------------------===//

static inline const char *result_name(int result) {
    switch (result) {
    case RUNLOOP_RESULT_FINISHED: return "Finished";
    case RUNLOOP_RESULT_STOPPED: return "Stopped";
    case RUNLOOP_RESULT_TIMED_OUT: return "TimedOut";
    case RUNLOOP_RESULT_HANDLED_SOURCE: return "HandledSource";
    default: return "an error";
    }
}

/// Runs and traces "-> " and the result.
static inline int run(const char *mode, int64_t limit_ns, bool return_after_source_handled) {
    int result = runloop_run_in_mode(mode, limit_ns, return_after_source_handled);
    char word[32];
    snprintf(word, sizeof word, "-> %s", result_name(result));
    trace(word);
    return result;
}

static inline void stop_loop(void) {
    runloop_stop(loop);
}

static inline void wake_loop(void) {
    runloop_wake_up(loop);
}

static int waits_until_stop;

static inline void count_wait(void) {
    if (--waits_until_stop == 0)
        runloop_stop(loop);
}

/// Stops the run at the `number`th BeforeWaiting of the mode: the run ends after that wait, which takes no time.
static inline void stop_at_wait(const char *mode, int number) {
    waits_until_stop = number;
    always(mode, RUNLOOP_ACTIVITY_BEFORE_WAITING, count_wait);
}

static inline bool mode_exists(const char *mode) {
    const char *names[64];
    size_t count = runloop_get_modes(loop, names, 64);
    for (size_t i = 0; i < count && i < 64; i++)
        if (strcmp(names[i], mode) == 0)
            return true;
    return false;
}

static inline void spend(int64_t duration_ns) {
    int64_t end = runloop_now_ns() + duration_ns;
    while (runloop_now_ns() < end)
        usleep(500);
}

//===-- another thread that does something to the loop ------------------------------------------------------------===//

static pthread_t helper_thread;

static inline void *helper_main(void *info) {
    ((struct actor *)info)->act();
    return NULL;
}

static inline void start_helper(action body) {
    REQUIRE(pthread_create(&helper_thread, NULL, helper_main, new_actor("", body)) == 0);
}

static inline void join_helper(void) {
    REQUIRE(pthread_join(helper_thread, NULL) == 0);
}

static inline bool loop_is_asleep(void) {
    return sleeps(loop, loop_thread);
}

static inline void wait_until_asleep(void) {
    WAIT_UNTIL(loop_is_asleep());
}

/// Is the trace so far `text`?
static inline bool trace_is(const char *text) {
    pthread_mutex_lock(&test_trace_lock);
    bool same = strcmp(test_trace_text, text) == 0;
    pthread_mutex_unlock(&test_trace_lock);
    return same;
}

//===-- a second loop, whose thread waits for the test to end it --------------------------------------------------===//

static runloop *_Atomic other_loop;
static _Atomic bool other_may_end;
static pthread_t other_thread;

static inline void *other_main(void *info) {
    (void)info;
    other_loop = runloop_current();
    WAIT_UNTIL(other_may_end);
    return NULL;
}

static inline void start_other_loop(void) {
    other_may_end = false;
    other_loop = NULL;
    REQUIRE(pthread_create(&other_thread, NULL, other_main, NULL) == 0);
    WAIT_UNTIL(other_loop != NULL);
}

static inline void end_other_loop(void) {
    other_may_end = true;
    REQUIRE(pthread_join(other_thread, NULL) == 0);
}

#endif // RUNLOOP_TRACE_HELPERS_H
