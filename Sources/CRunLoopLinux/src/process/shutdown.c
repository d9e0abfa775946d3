// shutdown.c — the end of the program by a signal: work in order, a limit, and a second signal that does not wait.

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "process/catcher.h"
#include "process/flush.h"
#include "process/sentry.h"
#include "process/signal_notes.h"
#include "runloop_shutdown.h"
#include "runloop_signal.h"

struct work {
    struct work *next;
    int32_t order;
    runloop_function perform, discard;
    void *info;
};

struct shutdown {
    struct object object;
    struct catcher *catcher;
    struct probe sentry;
    int64_t limit_ns; ///< constant
    /// The signal that began it, or 0. Set once.
    _Atomic int32_t number;
    struct process_lock lock;
    /// What is to be performed, in order. lock
    struct work *first;
    /// Calls of hold without one of resume.
    _Atomic uint32_t held;
    /// The modes that the source is in. 0: no loop calls it any more.
    _Atomic uint32_t modes;
    /// A thread performs the work. Others leave it to that one, which looks for more when it has left.
    _Atomic bool is_performing;
};

/// How long held work may go on without a word about it.
#define PATIENCE_NS INT64_C(10000000000)

static struct shutdown *shutdown_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_SHUTDOWN);
}

struct limit {
    int number;
    struct timespec left;
};

static void *end_at_limit(void *info) {
    struct limit limit = *(struct limit *)info;
    free(info);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &limit.left, &limit.left) == EINTR)
        ;
    runloop_end_process_by_signal(limit.number);
    return NULL;
}

static bool start_limit_thread(int number, struct timespec left) {
    struct limit *limit = malloc(sizeof *limit);
    if (!limit)
        return false;
    *limit = (struct limit){.number = number, .left = left};
    int error = start_thread(end_at_limit, limit);
    if (error)
        free(limit);
    return !error;
}

/// The kernel sends the signal again when the limit has passed, and the handler ends the process even if the loop's thread hangs. Where it
/// has no such timer (a sandbox, or too many signals of the user's wait), a thread does the same.
static void start_limit(int number, int64_t limit_ns) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec limit = {.it_value = {.tv_sec = limit_ns / 1000000000, .tv_nsec = limit_ns % 1000000000}};
    timer_t timer;
    if (limit_ns == RUNLOOP_FOREVER)
        return;
    // libdispatch does not say that it was the timer, and its signal may count as a copy of the first.
    if (!runloop__signal_is_shared(number) && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) {
        if (timer_settime(timer, 0, &limit, NULL) == 0)
            return;
        timer_delete(timer);
    }
    if (!start_limit_thread(number, limit.it_value) && runloop_diagnostics_are_enabled())
        dprintf(STDERR_FILENO,
                "runloop: This shutdown has no limit, since there is neither a timer nor a thread left for it.\n");
}

static struct work *next_work(struct shutdown *shutdown) {
    lock_take(&shutdown->lock);
    struct work *work = shutdown->first;
    if (work)
        shutdown->first = work->next;
    lock_give(&shutdown->lock);
    return work;
}

static void perform_rest_at_end_of_thread(void *info);

/// It may end the thread.
static void perform(struct shutdown *shutdown, struct work work) {
    pthread_cleanup_push(perform_rest_at_end_of_thread, shutdown);
    work.perform(work.info);
    pthread_cleanup_pop(0);
}

/// In a child that was forked by the work: it does nothing more of it.
static bool has_to_wait(struct shutdown *shutdown) {
    return object_is_inherited(&shutdown->object) || atomic_load(&shutdown->held) > 0;
}

/// Performs the rest, and ends the process, unless it is held.
static void perform_rest(struct shutdown *shutdown) {
    struct work *work;
    while (!has_to_wait(shutdown) && (work = next_work(shutdown))) {
        const struct work taken = *work;
        free(work);
        perform(shutdown, taken);
    }
    if (has_to_wait(shutdown))
        return;
    runloop__flush_streams();
    runloop_end_process_by_signal(shutdown->number);
}

static void perform_rest_at_end_of_thread(void *info) {
    struct shutdown *shutdown = info;
    perform_rest(shutdown);
    if (!object_is_inherited(&shutdown->object))
        atomic_store(&shutdown->is_performing, false);
}

/// Called by the thread that ends the last hold, and by those that find that nothing is held; one of them performs.
static void go_on(struct shutdown *shutdown) {
    while (!has_to_wait(shutdown) && !atomic_exchange(&shutdown->is_performing, true)) {
        perform_rest(shutdown);
        // If the last hold has ended by now, the thread that ended it may have seen that another one performs.
        if (!object_is_inherited(&shutdown->object))
            atomic_store(&shutdown->is_performing, false);
    }
}

static void note_waiting(const struct shutdown *shutdown) {
    if (runloop_diagnostics_are_enabled())
        dprintf(
            STDERR_FILENO,
            "runloop: This process was asked to end by signal %d %d seconds ago, and waits for work of its shutdown "
            "that "
            "has not finished (%u times held). A second signal ends it at once, and so does a limit, if it has one.\n",
            (int)shutdown->number, (int)(PATIENCE_NS / 1000000000), (unsigned)shutdown->held);
}

static bool begins(struct shutdown *shutdown) {
    struct catcher_record record;
    int32_t none = 0;
    return runloop__catcher_read(shutdown->catcher, &record, 1) > 0 && record.number != 0 &&
           atomic_compare_exchange_strong(&shutdown->number, &none, record.number);
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    struct shutdown *shutdown = info;
    if (begins(shutdown)) {
        start_limit(shutdown->number, shutdown->limit_ns);
        // Without memory there is no such note.
        runloop_source_set_deadline(source, runloop_now_ns() + PATIENCE_NS);
    } else if ((reasons & RUNLOOP_DUE) && atomic_load(&shutdown->held)) {
        note_waiting(shutdown);
    }
    // The catcher goes on, for the second signal, and the source for what is held.
    if (atomic_load(&shutdown->number))
        go_on(shutdown);
}

static void schedule(void *object, runloop *loop, const char *mode) {
    struct shutdown *shutdown = object;
    atomic_fetch_add(&shutdown->modes, 1);
    runloop__probe_enter(&shutdown->sentry, &runloop__sentry, NULL, loop, mode);
}

/// The loop's thread has ended, or the source was invalidated: what has begun does not depend on a loop any more.
static void cancel(void *object, runloop *loop, const char *mode) {
    struct shutdown *shutdown = object;
    runloop__probe_leave(&shutdown->sentry, loop, mode);
    if (atomic_fetch_sub(&shutdown->modes, 1) == 1 && atomic_load(&shutdown->number))
        go_on(shutdown);
}

static void free_shutdown(void *info) {
    struct shutdown *shutdown = info;
    runloop__probe_end(&shutdown->sentry);
    runloop__catcher_release(shutdown->catcher);
    struct work *work;
    while ((work = next_work(shutdown))) {
        if (work->discard)
            work->discard(work->info);
        free(work);
    }
    runloop__object_end(&shutdown->object);
    free(shutdown);
}

static void invalidated(void *info) {
    struct shutdown *shutdown = info;
    // One that has begun waits for the second signal.
    if (!atomic_load(&shutdown->number))
        runloop__catcher_end(shutdown->catcher);
}

static char *describe(const void *object) {
    const struct shutdown *shutdown = object;
    uint64_t signals = runloop__catcher_wanted(shutdown->catcher);
    return runloop__describe_signals(signals, runloop__signals_caught(signals));
}

static const struct object_class shutdown_class = {
    .kind = OBJECT_SHUTDOWN,
    .ready = ready,
    .schedule = schedule,
    .cancel = cancel,
    .invalidated = invalidated,
    .describe = describe,
    .free = free_shutdown,
};

static int signals_of(const runloop_shutdown_config *config, uint64_t *out) {
    if (!config->numbers || config->count == 0)
        return -EINVAL;
    *out = 0;
    for (size_t i = 0; i < config->count; i++) {
        if (!runloop__signal_can_be_caught(config->numbers[i]))
            return -EINVAL;
        *out |= catcher_bit(config->numbers[i]);
    }
    return 0;
}

int runloop_shutdown_create(const runloop_shutdown_config *config, runloop_shutdown **out) {
    uint64_t signals;
    if (!config || !out || config->limit_ns <= 0 || signals_of(config, &signals))
        return -EINVAL;
    struct catcher *catcher;
    int result = runloop__catcher_open(signals, CATCHER_ONCE | (config->force ? CATCHER_FORCES : 0), &catcher);
    if (result < 0)
        return result;
    const struct object_config object = {.descriptor = runloop__catcher_descriptor(catcher), .class = &shutdown_class};
    struct shutdown *shutdown = runloop__object_make(sizeof *shutdown, &object, &result);
    if (!shutdown) {
        runloop__catcher_release(catcher);
        return result;
    }
    shutdown->limit_ns = config->limit_ns;
    shutdown->catcher = catcher;
    runloop__sentry_begin();
    *out = shutdown->object.source;
    return 0;
}

int runloop_shutdown_add_work(runloop_shutdown *source, int32_t order, runloop_function work, void *info,
                              runloop_function discard) {
    struct shutdown *shutdown = shutdown_of(source);
    if (!shutdown || !work)
        return -EINVAL;
    struct work *added = malloc(sizeof *added);
    if (!added)
        return -ENOMEM;
    *added = (struct work){.order = order, .perform = work, .discard = discard, .info = info};
    lock_take(&shutdown->lock);
    struct work **place = &shutdown->first;
    while (*place && (*place)->order <= order)
        place = &(*place)->next;
    added->next = *place;
    *place = added;
    lock_give(&shutdown->lock);
    return 0;
}

int runloop_shutdown_hold(runloop_shutdown *source) {
    struct shutdown *shutdown = shutdown_of(source);
    if (!shutdown)
        return -EINVAL;
    atomic_fetch_add(&shutdown->held, 1);
    return 0;
}

int runloop_shutdown_resume(runloop_shutdown *source) {
    struct shutdown *shutdown = shutdown_of(source);
    uint32_t held = shutdown ? atomic_load(&shutdown->held) : 0;
    do
        if (held == 0)
            return -EINVAL;
    while (!atomic_compare_exchange_weak(&shutdown->held, &held, held - 1));
    if (held > 1 || !atomic_load(&shutdown->number))
        return 0;
    // Woken, or by this thread if no loop has it: one that loses it after this look has `cancel` called.
    if (atomic_load(&shutdown->modes) == 0 || runloop_source_wake(source) < 0)
        go_on(shutdown);
    return 0;
}

int32_t runloop_shutdown_get_signal(runloop_shutdown *source) {
    struct shutdown *shutdown = shutdown_of(source);
    return shutdown ? atomic_load(&shutdown->number) : 0;
}
#endif // __linux__
