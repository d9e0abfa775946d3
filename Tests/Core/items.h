// items.h — short functions that create what the tests of loops, timers, descriptors and threads use.
#ifndef RUNLOOP_TEST_ITEMS_H
#define RUNLOOP_TEST_ITEMS_H

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef UNDER_THREAD_SANITIZER
#define UNDER_THREAD_SANITIZER 0
#endif
#ifndef UNDER_ADDRESS_SANITIZER
#define UNDER_ADDRESS_SANITIZER 0
#endif
/// Lines are counted (Tests/bin/coverage), by instructions that are no more the library's than a sanitizer's are.
#ifdef __LLVM_INSTR_PROFILE_GENERATE
#define UNDER_COVERAGE 1
#else
#define UNDER_COVERAGE 0
#endif
#define UNDER_SANITIZER (UNDER_THREAD_SANITIZER || UNDER_ADDRESS_SANITIZER || UNDER_COVERAGE)

/// A mode that is not common, so that only the test's own items are in it, even on the main thread.
#define MODE "test"
#define OTHER_MODE "other"

//===-- callbacks that write their info, a text, to the trace ---------------------------------------------------------===//

static inline void trace_perform(runloop_source *source, void *info) {
    (void)source;
    trace(info);
}

static inline void trace_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    trace(info);
}

static inline void trace_fire(runloop_timer *timer, void *info) {
    (void)timer;
    trace(info);
}

static inline void trace_function(void *info) {
    trace(info);
}

/// For a trace that another thread may be writing.
static inline bool trace_contains(const char *text) {
    pthread_mutex_lock(&test_trace_lock);
    bool found = strstr(test_trace_text, text);
    pthread_mutex_unlock(&test_trace_lock);
    return found;
}

/// Entry T S W A Exit, as in docs/RULES.md.
static inline void trace_activity(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)info;
    trace(activity == RUNLOOP_ACTIVITY_ENTRY            ? "Entry"
          : activity == RUNLOOP_ACTIVITY_BEFORE_TIMERS  ? "T"
          : activity == RUNLOOP_ACTIVITY_BEFORE_SOURCES ? "S"
          : activity == RUNLOOP_ACTIVITY_BEFORE_WAITING ? "W"
          : activity == RUNLOOP_ACTIVITY_AFTER_WAITING  ? "A"
          : activity == RUNLOOP_ACTIVITY_EXIT           ? "Exit"
                                                        : "?");
}

//===-- items: one reference each ------------------------------------------------------------------------------------===//

static inline runloop_source *make_source(void (*perform)(runloop_source *, void *), void *info) {
    runloop_source_config config = {.context = {.info = info}, .perform = perform};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0 && source);
    return source;
}

static inline runloop_source *make_descriptor(int descriptor, runloop_readiness events,
                                              void (*ready)(runloop_source *, runloop_readiness, void *), void *info) {
    runloop_descriptor_config config = {
        .context = {.info = info}, .descriptor = descriptor, .events = events, .ready = ready};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0 && source);
    return source;
}

static inline runloop_source *make_counter(int descriptor, void (*ready)(runloop_source *, runloop_readiness, void *),
                                           void *info) {
    runloop_descriptor_config config = {.context = {.info = info},
                                        .descriptor = descriptor,
                                        .events = RUNLOOP_READABLE,
                                        .counter = true,
                                        .ready = ready};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0 && source);
    return source;
}

static inline runloop_timer *make_timer(int64_t fire_ns, int64_t interval_ns, void (*fire)(runloop_timer *, void *),
                                        void *info) {
    runloop_timer_config config = {
        .context = {.info = info}, .fire_ns = fire_ns, .interval_ns = interval_ns, .fire = fire};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0 && timer);
    return timer;
}

static inline runloop_observer *make_observer(runloop_activity activities,
                                              void (*observe)(runloop_observer *, runloop_activity, void *),
                                              void *info) {
    runloop_observer_config config = {
        .context = {.info = info}, .activities = activities, .repeats = true, .observe = observe};
    runloop_observer *observer = NULL;
    REQUIRE(runloop_observer_create(&config, &observer) == 0 && observer);
    return observer;
}

/// Creates an item, adds it to `mode` of the calling thread's loop and leaves the only reference to the loop: borrowed.
static inline runloop_source *add_source(const char *mode, void (*perform)(runloop_source *, void *), void *info) {
    runloop_source *source = make_source(perform, info);
    REQUIRE(runloop_add_source(runloop_current(), source, mode) == 0);
    runloop_source_release(source);
    return source;
}

static inline runloop_source *add_descriptor(const char *mode, int descriptor, runloop_readiness events,
                                             void (*ready)(runloop_source *, runloop_readiness, void *), void *info) {
    runloop_source *source = make_descriptor(descriptor, events, ready, info);
    REQUIRE(runloop_add_source(runloop_current(), source, mode) == 0);
    runloop_source_release(source);
    return source;
}

static inline runloop_timer *add_timer(const char *mode, int64_t fire_ns, int64_t interval_ns,
                                       void (*fire)(runloop_timer *, void *), void *info) {
    runloop_timer *timer = make_timer(fire_ns, interval_ns, fire, info);
    REQUIRE(runloop_add_timer(runloop_current(), timer, mode) == 0);
    runloop_timer_release(timer);
    return timer;
}

static inline runloop_observer *add_observer(const char *mode, runloop_activity activities,
                                             void (*observe)(runloop_observer *, runloop_activity, void *),
                                             void *info) {
    runloop_observer *observer = make_observer(activities, observe, info);
    REQUIRE(runloop_add_observer(runloop_current(), observer, mode) == 0);
    runloop_observer_release(observer);
    return observer;
}

/// Traces all activities of `mode`.
static inline void trace_activities(const char *mode) {
    add_observer(mode, RUNLOOP_ACTIVITY_ALL, trace_activity, NULL);
}

/// An item that never does anything: the mode isn't empty.
static inline runloop_source *keep_mode(const char *mode) {
    return add_source(mode, NULL, NULL);
}

/// One iteration that doesn't sleep, and a run that does.
static inline int poll_mode(const char *mode) {
    return runloop_run_in_mode(mode, 0, false);
}

static inline int run_for(const char *mode, int64_t limit_ns) {
    return runloop_run_in_mode(mode, limit_ns, false);
}

/// A run that serves whatever is ready or nearly so, and then times out: long enough for a busy machine.
static inline int run_a_while(const char *mode) {
    return run_for(mode, 400 * MS);
}

static inline int handle_one(const char *mode) {
    return runloop_run_in_mode(mode, 30 * SECOND, true);
}

/// Runs iterations of the mode until the condition holds; fails after 30 s.
#define RUN_UNTIL(mode, condition)                                                                                     \
    do {                                                                                                               \
        int64_t test_limit = runloop_now_ns() + 30 * SECOND;                                                           \
        while (!(condition)) {                                                                                         \
            REQUIRE(runloop_now_ns() < test_limit && #condition);                                                      \
            run_for(mode, 5 * MS);                                                                                     \
        }                                                                                                              \
    } while (0)

//===-- descriptors and time -----------------------------------------------------------------------------------------===//

static inline int make_eventfd(unsigned value) {
    int descriptor = eventfd(value, EFD_NONBLOCK | EFD_CLOEXEC);
    REQUIRE(descriptor >= 0);
    return descriptor;
}

/// ends[0] is the read end, ends[1] the write end; both are non-blocking.
static inline void make_pipe(int ends[2]) {
    REQUIRE(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
}

static inline void bump(int descriptor) {
    uint64_t one = 1;
    REQUIRE(write(descriptor, &one, sizeof one) == sizeof one);
}

/// Reads an eventfd, which resets it: its value, or 0.
static inline uint64_t take(int descriptor) {
    uint64_t value = 0;
    return read(descriptor, &value, sizeof value) == sizeof value ? value : 0;
}

static inline void pass_time(int64_t duration_ns) {
    int64_t end = runloop_now_ns() + duration_ns;
    for (int64_t now; (now = runloop_now_ns()) < end;) {
        struct timespec rest = {(end - now) / SECOND, (end - now) % SECOND};
        nanosleep(&rest, NULL);
    }
}

static inline int count_descriptors(void) {
    need_proc();
    DIR *directory = opendir("/proc/self/fd");
    REQUIRE(directory);
    int count = -1; // The directory's own.
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

/// Until restore_descriptors, the process gets no descriptors with numbers from that on.
static struct rlimit test_usual_descriptors;
static inline void limit_descriptors(int number) {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &test_usual_descriptors) == 0);
    struct rlimit limit = {(rlim_t)number, test_usual_descriptors.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/// Leaves the process `spare` more descriptors.
static inline void spare_descriptors(int spare) {
    int taken[8], lowest = 0;
    for (int i = 0; i <= spare; i++)
        lowest = taken[i] = dup(0);
    for (int i = 0; i <= spare; i++)
        close(taken[i]);
    limit_descriptors(lowest);
}

static inline void restore_descriptors(void) {
    REQUIRE(setrlimit(RLIMIT_NOFILE, &test_usual_descriptors) == 0);
}

/// A thread that makes a timer due as soon as this thread's loop sleeps, however long that takes.
struct alarm_clock {
    runloop *loop;
    runloop_timer *timer;
    pid_t thread;
    pthread_t id;
};

static inline void *alarm_clock_body(void *argument) {
    struct alarm_clock *clock = argument;
    WAIT_UNTIL(sleeps(clock->loop, clock->thread));
    runloop_timer_set_fire_date(clock->timer, runloop_now_ns());
    return NULL;
}

/// To be joined.
static inline struct alarm_clock *ring_in_sleep(runloop_timer *timer) {
    static struct alarm_clock clock;
    clock = (struct alarm_clock){.loop = runloop_current(), .timer = timer, .thread = gettid()};
    REQUIRE(pthread_create(&clock.id, NULL, alarm_clock_body, &clock) == 0);
    return &clock;
}

//===-- another thread's loop ----------------------------------------------------------------------------------------===//

/// A thread that runs its loop in `mode`, which has a permanent item, until it is stopped.
struct worker {
    const char *mode;
    void (*prepare)(void); ///< Called on the thread before it runs. May be NULL.
    runloop *loop;         ///< Retained, because the thread may end at any moment after a stop.
    pthread_t thread;
    pid_t id;
    bool ready;
    int result;
};

static inline void *worker_body(void *argument) {
    struct worker *worker = argument;
    worker->loop = runloop_retain(runloop_current());
    REQUIRE(worker->loop);
    worker->id = (pid_t)syscall(SYS_gettid);
    keep_mode(worker->mode);
    if (worker->prepare)
        worker->prepare();
    __atomic_store_n(&worker->ready, true, __ATOMIC_RELEASE);
    worker->result = runloop_run_in_mode(worker->mode, RUNLOOP_FOREVER, false);
    return NULL;
}

static inline void start_worker(struct worker *worker) {
    if (!worker->mode)
        worker->mode = MODE;
    REQUIRE(pthread_create(&worker->thread, NULL, worker_body, worker) == 0);
    WAIT_UNTIL(__atomic_load_n(&worker->ready, __ATOMIC_ACQUIRE));
}

/// Waits until the worker's loop is asleep and idle.
static inline void wait_for_sleep(struct worker *worker) {
    WAIT_UNTIL(sleeps(worker->loop, worker->id));
}

static inline void stop_worker(struct worker *worker) {
    REQUIRE(runloop_stop_latched(worker->loop) == 0);
    REQUIRE(pthread_join(worker->thread, NULL) == 0);
    EXPECT_EQ(worker->result, RUNLOOP_RESULT_STOPPED);
    runloop_release(worker->loop);
}

#endif // RUNLOOP_TEST_ITEMS_H
