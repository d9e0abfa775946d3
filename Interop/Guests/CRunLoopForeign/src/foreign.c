// foreign.c — a guest of the loop, from the loop's public interface alone: a descriptor source for the guest's wait set, and two observers.
//
//   late, the last observer      BeforeSources    prepare and cancel, if the iteration before didn't wait: a run that never sleeps
//                                                 learns what the guest waits for
//                                BeforeWaiting    prepare: prepared from here on
//   early, the first observer    AfterWaiting     cancel
//                                Entry, Exit      cancel, too: another run is in the midst of our wait
//   the descriptor source                         prepare, poll, check, dispatch; removed from the last mode, maybe by the end of the
//                                                 loop: cancel
//
// So the guest is prepared in the loop's sleep and nowhere else, and in call-outs it is as if nothing waited: they may do with it what
// they like. That it has work is known to the guest and the kernel, and never remembered here: the source asks both when it is called.
//
// Everything but the counts is the thread's own.
#ifdef __linux__
#include "runloop_foreign.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runloop_lock.h"
#include "wait_set.h"

#define ASSERT_THREAD(foreign)                                                                                         \
    ASSERT(pthread_equal((foreign)->thread, pthread_self()), "A guest was served by another thread than its own.")

/// Enough for most guests.
#define FIRST_CAPACITY 4

struct runloop_foreign_source {
    runloop_foreign_source_config config;
    pthread_t thread;
    uint32_t fork_generation;
    /// The callers', and one while it is in a mode. At 0 the items are invalidated.
    _Atomic int references;
    /// One for all references together, and one for the context of each item. At 0 it is freed: an item's context lasts as long as the
    /// callbacks of the item.
    _Atomic int parts;
    /// How many it is in. Another thread may declare a mode common.
    _Atomic int modes;
    runloop_source *source;
    runloop_observer *early, *late;

    struct wait_set set;
    struct pollfd *descriptors;
    int count, capacity;
    int64_t deadline_ns;
    int nested; ///< Runs under way that began in the midst of a wait in which it was prepared.
    bool is_valid;
    bool is_prepared;    ///< `check` or `cancel` has to follow.
    bool is_interrupted; ///< It was added, removed or invalidated while it was being prepared.
    bool is_busy;        ///< In a callback that can't be called again inside itself.
    bool is_stale;       ///< What the set watches is older than the last iteration.
};

//===-- references ---------------------------------------------------------------------------------------------------===//

static bool is_from_parent_process(const runloop_foreign_source *foreign) {
    return runloop_fork_generation() != foreign->fork_generation;
}

static void release_part(runloop_foreign_source *foreign) {
    int before = atomic_fetch_sub(&foreign->parts, 1);
    ASSERT(before > 0, "A guest's part was released more often than retained.");
    if (before != 1)
        return;
    ASSERT(!foreign->is_prepared || is_from_parent_process(foreign), "A guest ends while it is prepared.");
    if (foreign->config.context.release)
        foreign->config.context.release(foreign->config.context.info);
    runloop__wait_set_close(&foreign->set);
    free(foreign->descriptors);
    free(foreign);
}

static void invalidate_items(runloop_foreign_source *foreign) {
    runloop_observer_invalidate(foreign->early);
    runloop_observer_invalidate(foreign->late);
    runloop_source_invalidate(foreign->source);
}

runloop_foreign_source *runloop_foreign_source_retain(runloop_foreign_source *foreign) {
    if (foreign)
        atomic_fetch_add_explicit(&foreign->references, 1, memory_order_relaxed);
    return foreign;
}

void runloop_foreign_source_release(runloop_foreign_source *foreign) {
    if (!foreign || atomic_fetch_sub(&foreign->references, 1) != 1)
        return;
    invalidate_items(foreign);
    runloop_observer_release(foreign->early);
    runloop_observer_release(foreign->late);
    runloop_source_release(foreign->source);
    release_part(foreign);
}

//===-- the guest ----------------------------------------------------------------------------------------------------===//

static void cancel(runloop_foreign_source *foreign) {
    if (!foreign->is_prepared || is_from_parent_process(foreign))
        return;
    foreign->is_prepared = false;
    if (!foreign->config.cancel)
        return;
    foreign->is_busy = true;
    foreign->config.cancel(foreign, foreign->config.context.info);
    foreign->is_busy = false;
}

/// The guest has to be prepared anew, so a wait that is under way ends.
static void interrupt(runloop_foreign_source *foreign) {
    cancel(foreign);
    foreign->is_interrupted = foreign->is_stale = true;
    runloop__wait_set_arm(&foreign->set, 0);
}

static bool reserve(runloop_foreign_source *foreign, int count) {
    if (runloop__wait_set_reserve(&foreign->set, count))
        return false;
    struct pollfd *descriptors = realloc(foreign->descriptors, (size_t)count * sizeof *descriptors);
    if (!descriptors)
        return false;
    foreign->descriptors = descriptors;
    foreign->capacity = count;
    return true;
}

/// How many descriptors it has; it is prepared afterwards.
static int ask(runloop_foreign_source *foreign) {
    ASSERT(!foreign->is_busy, "A guest is prepared inside one of its callbacks.");
    foreign->deadline_ns = RUNLOOP_NEVER;
    foreign->is_busy = true;
    int count = foreign->config.prepare(foreign, foreign->descriptors, foreign->capacity, &foreign->deadline_ns,
                                        foreign->config.context.info);
    foreign->is_busy = false;
    foreign->is_prepared = true;
    return count > 0 ? count : 0;
}

/// Prepares the guest, and the set watches what it waits for. False if it can't be prepared now.
static bool prepare(runloop_foreign_source *foreign) {
    if (is_from_parent_process(foreign))
        return false;
    // This run is nested in one of its callbacks.
    if (foreign->is_busy) {
        runloop__wait_set_update(&foreign->set, NULL, 0, RUNLOOP_NEVER);
        return false;
    }
    foreign->is_interrupted = false;
    while ((foreign->count = ask(foreign)) > foreign->capacity && !foreign->is_interrupted) {
        cancel(foreign);
        if (foreign->is_interrupted)
            break;
        if (!reserve(foreign, foreign->count)) {
            runloop__wait_set_update(&foreign->set, NULL, 0, runloop_get_now_ns(NULL) + WAIT_SET_RETRY_NS);
            return false;
        }
    }
    if (is_from_parent_process(foreign))
        return false;
    if (foreign->is_interrupted) {
        interrupt(foreign);
        return false;
    }
    runloop__wait_set_update(&foreign->set, foreign->descriptors, foreign->count, foreign->deadline_ns);
    return true;
}

/// A process that has lowered its RLIMIT_NOFILE may poll no more descriptors than that at a time, and one in a sandbox perhaps none: what can't be
/// asked about is ready, as a file is. How many are ready.
static int ask_one_by_one(struct pollfd *descriptors, int count) {
    int ready = 0;
    for (int i = 0; i < count; i++) {
        int result = poll(&descriptors[i], 1, 0);
        if (result < 0 && errno != EINTR && descriptors[i].fd >= 0)
            descriptors[i].revents = descriptors[i].events;
        ready += descriptors[i].revents != 0;
    }
    return ready;
}

static int poll_all(struct pollfd *descriptors, int count) {
    int ready = poll(descriptors, (nfds_t)count, 0);
    return ready < 0 && errno != EINTR ? ask_one_by_one(descriptors, count) : ready;
}

/// Whether the guest, which is prepared, wants to dispatch.
static bool check(runloop_foreign_source *foreign) {
    ASSERT(foreign->is_prepared, "A guest is checked that is not prepared.");
    int ready = poll_all(foreign->descriptors, foreign->count);
    if (ready <= 0 && runloop_get_now_ns(NULL) < foreign->deadline_ns) {
        cancel(foreign);
        runloop__wait_set_discard(&foreign->set);
        return false;
    }
    foreign->is_prepared = false;
    if (!foreign->config.check)
        return true;
    foreign->is_busy = true;
    bool wants = foreign->config.check(foreign, foreign->descriptors, foreign->count, foreign->config.context.info);
    foreign->is_busy = false;
    return wants && foreign->is_valid;
}

//===-- what the loop calls ------------------------------------------------------------------------------------------===//

static void observe_late(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer;
    runloop_foreign_source *foreign = info;
    ASSERT_THREAD(foreign);
    if (activity == RUNLOOP_ACTIVITY_BEFORE_WAITING) {
        foreign->is_stale = false;
        prepare(foreign);
        return;
    }
    if (foreign->is_stale && prepare(foreign))
        cancel(foreign);
    // Unless this iteration waits.
    foreign->is_stale = true;
}

static void observe_early(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer;
    runloop_foreign_source *foreign = info;
    ASSERT_THREAD(foreign);
    bool was_prepared = foreign->is_prepared;
    cancel(foreign);
    if (activity == RUNLOOP_ACTIVITY_AFTER_WAITING)
        return;
    foreign->is_stale = true;
    if (activity == RUNLOOP_ACTIVITY_ENTRY) {
        // Runs that begin elsewhere are not counted, but those nested in one that is.
        foreign->nested = was_prepared ? 1 : foreign->nested + (foreign->nested > 0);
    } else if (foreign->nested > 0) {
        // The wait around goes on without BeforeWaiting.
        foreign->nested--;
        interrupt(foreign);
    }
}

static void serve(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    runloop_foreign_source *foreign = info;
    ASSERT_THREAD(foreign);
    if (!prepare(foreign) || !check(foreign))
        return;
    foreign->is_busy = !foreign->config.nests;
    foreign->config.dispatch(foreign, foreign->config.context.info);
    foreign->is_busy = false;
}

static void join(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode;
    runloop_foreign_source *foreign = info;
    if (atomic_fetch_add(&foreign->modes, 1) == 0)
        runloop_foreign_source_retain(foreign);
}

static void part(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode;
    runloop_foreign_source *foreign = info;
    if (atomic_fetch_sub(&foreign->modes, 1) != 1)
        return;
    cancel(foreign);
    foreign->nested = 0;
    runloop_foreign_source_release(foreign);
}

static void release_item(void *info) {
    release_part(info);
}

//===-- creation and the end -----------------------------------------------------------------------------------------===//

static int create_items(runloop_foreign_source *foreign) {
    runloop_observer_config early = {.context = {.info = foreign, .release = release_item},
                                     .order = INT32_MIN,
                                     .activities = RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_AFTER_WAITING |
                                                   RUNLOOP_ACTIVITY_EXIT,
                                     .repeats = true,
                                     .observe = observe_early};
    runloop_observer_config late = {.context = {.info = foreign, .release = release_item},
                                    .order = INT32_MAX,
                                    .activities = RUNLOOP_ACTIVITY_BEFORE_SOURCES | RUNLOOP_ACTIVITY_BEFORE_WAITING,
                                    .repeats = true,
                                    .observe = observe_late};
    runloop_descriptor_config source = {.context = {.info = foreign, .release = release_item},
                                        .descriptor = foreign->set.descriptor,
                                        .events = RUNLOOP_READABLE,
                                        .ready = serve,
                                        .schedule = join,
                                        .cancel = part};
    int error;
    if ((error = runloop_observer_create(&early, &foreign->early)))
        return error;
    atomic_fetch_add(&foreign->parts, 1);
    if ((error = runloop_observer_create(&late, &foreign->late)))
        return error;
    atomic_fetch_add(&foreign->parts, 1);
    if ((error = runloop_descriptor_source_create(&source, &foreign->source)))
        return error;
    atomic_fetch_add(&foreign->parts, 1);
    return 0;
}

int runloop_foreign_source_create(const runloop_foreign_source_config *config, runloop_foreign_source **out) {
    if (!config || !out || !config->prepare || !config->dispatch)
        return -EINVAL;
    runloop_foreign_source *foreign = calloc(1, sizeof *foreign);
    if (!foreign)
        return -ENOMEM;
    foreign->config = *config;
    foreign->config.context.release = NULL;
    foreign->thread = pthread_self();
    foreign->fork_generation = runloop_fork_generation();
    foreign->is_valid = foreign->is_stale = true;
    atomic_init(&foreign->references, 1);
    atomic_init(&foreign->parts, 1);
    int error = runloop__wait_set_open(&foreign->set);
    if (!error)
        error = reserve(foreign, FIRST_CAPACITY) ? create_items(foreign) : -ENOMEM;
    if (error) {
        runloop_foreign_source_release(foreign);
        return error;
    }
    // From here on there is something to release.
    foreign->config.context.release = config->context.release;
    if (config->context.retain)
        foreign->config.context.info = config->context.retain(config->context.info);
    *out = foreign;
    return 0;
}

static int usable(const runloop_foreign_source *foreign) {
    if (!foreign)
        return -EINVAL;
    if (is_from_parent_process(foreign))
        return -ECHILD;
    return pthread_equal(foreign->thread, pthread_self()) ? 0 : -EPERM;
}

int runloop_foreign_source_invalidate(runloop_foreign_source *foreign) {
    int error = usable(foreign);
    if (error || !foreign->is_valid)
        return error;
    // The loop may have the only other reference.
    runloop_foreign_source_retain(foreign);
    foreign->is_valid = false;
    interrupt(foreign);
    invalidate_items(foreign);
    runloop_foreign_source_release(foreign);
    return 0;
}

bool runloop_foreign_source_is_valid(runloop_foreign_source *foreign) {
    return foreign && runloop_observer_is_valid(foreign->early);
}

void *runloop_foreign_source_get_info(runloop_foreign_source *foreign) {
    return foreign ? foreign->config.context.info : NULL;
}

//===-- modes --------------------------------------------------------------------------------------------------------===//

static void remove_items(runloop *loop, runloop_foreign_source *foreign, const char *mode) {
    runloop_remove_observer(loop, foreign->late, mode);
    runloop_remove_observer(loop, foreign->early, mode);
    runloop_remove_source(loop, foreign->source, mode);
}

int runloop_add_foreign_source(runloop *loop, runloop_foreign_source *foreign, const char *mode) {
    int error = loop && mode ? usable(foreign) : -EINVAL;
    if (error)
        return error;
    if (!runloop_is_current(loop))
        return -EPERM;
    if (runloop_contains_source(loop, foreign->source, mode))
        return 0;
    runloop_foreign_source_retain(foreign);
    if ((error = runloop_add_source(loop, foreign->source, mode)) == 0 &&
        (error = runloop_add_observer(loop, foreign->early, mode)) == 0)
        error = runloop_add_observer(loop, foreign->late, mode);
    if (error)
        remove_items(loop, foreign, mode);
    interrupt(foreign);
    runloop_foreign_source_release(foreign);
    return error;
}

int runloop_remove_foreign_source(runloop *loop, runloop_foreign_source *foreign, const char *mode) {
    int error = loop && mode ? usable(foreign) : -EINVAL;
    if (error)
        return error;
    if (!runloop_is_current(loop))
        return -EPERM;
    runloop_foreign_source_retain(foreign);
    remove_items(loop, foreign, mode);
    interrupt(foreign);
    runloop_foreign_source_release(foreign);
    return 0;
}

bool runloop_contains_foreign_source(runloop *loop, runloop_foreign_source *foreign, const char *mode) {
    return foreign && runloop_contains_source(loop, foreign->source, mode);
}
#endif // __linux__
