// watch.c — a watch as a source: the kernel's notifications are read, what they are about is looked at, and the changes are told.
//
// A settle time is a timer of the kernel's beside the notifications, in an epoll set that is the source's descriptor. So what waits to be told
// belongs to the modes and loops of the source, whichever these are by then; a timer of one loop would have to follow it.

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "object.h"
#include "tree.h"

enum { BUFFER_SIZE = 16384, MOST_READS = 256, MOST_SETTLE_TIMES = 10 };

struct runloop_watch {
    struct object object;
    void (*changed)(runloop_watch *watch, const runloop_change *changes, size_t count, void *info);
    int64_t settle_ns;
    int settled;       ///< the timer; -1: there is no settle time
    int set;           ///< the epoll set of the two; -1: none
    int64_t latest_ns; ///< when what has been noticed has to be told; RUNLOOP_NEVER: nothing has been noticed
    /// Guards all that follows, and the two times, against the threads of several loops. Not held in calls of `changed`. A forked child has
    /// no use for it, since it never calls an inherited object.
    pthread_mutex_t lock;
    struct tree tree;
    struct changes initial;
    struct changes *told; ///< those that are being told: some are left over if a thread ends in the call
};

//===-- reading ------------------------------------------------------------------------------------------------------===//

/// HOLDS: lock. Whether something was read.
static bool read_notifications(struct runloop_watch *watch) {
    _Alignas(struct inotify_event) char buffer[BUFFER_SIZE];
    bool has_read = false;
    for (int i = 0; i < MOST_READS; i++) {
        ssize_t length = read(watch->tree.inotify, buffer, sizeof buffer);
        if (length <= 0)
            break;
        has_read = true;
        for (const char *at = buffer; at < buffer + length;) {
            const struct inotify_event *event = (const void *)at;
            runloop__tree_note(&watch->tree, event, event->len ? event->name : "");
            at += sizeof *event + event->len;
        }
    }
    return has_read;
}

/// HOLDS: lock. 0 disarms.
static void set_timer(struct runloop_watch *watch, int64_t ns) {
    const struct itimerspec time = {.it_value = {ns / 1000000000, ns % 1000000000}};
    timerfd_settime(watch->settled, TFD_TIMER_ABSTIME, &time, NULL);
}

/// HOLDS: lock. Whether what has been noticed is to be told now.
static bool is_settled(struct runloop_watch *watch, bool has_read) {
    if (watch->settled < 0)
        return true;
    int64_t now = runloop_get_now_ns(NULL);
    uint64_t expirations;
    bool has_expired = read(watch->settled, &expirations, sizeof expirations) == sizeof expirations;
    if ((has_expired && !has_read) || now >= watch->latest_ns) {
        watch->latest_ns = RUNLOOP_NEVER;
        set_timer(watch, 0);
        return true;
    }
    if (!has_read)
        return false;
    int64_t longest;
    if (watch->latest_ns == RUNLOOP_NEVER && (__builtin_mul_overflow(watch->settle_ns, MOST_SETTLE_TIMES, &longest) ||
                                              __builtin_add_overflow(now, longest, &watch->latest_ns)))
        watch->latest_ns = RUNLOOP_NEVER - 1;
    int64_t quiet;
    if (__builtin_add_overflow(now, watch->settle_ns, &quiet) || quiet > watch->latest_ns)
        quiet = watch->latest_ns;
    set_timer(watch, quiet);
    return false;
}

//===-- telling ------------------------------------------------------------------------------------------------------===//

/// HOLDS: lock. NULL: there is nothing to tell, or no memory; then everything will be looked at again.
static struct changes *collect(struct runloop_watch *watch) {
    struct changes *changes = malloc(sizeof *changes);
    if (!changes) {
        watch->tree.is_overflown = true;
        return NULL;
    }
    *changes = watch->initial;
    watch->initial = (struct changes){0};
    watch->tree.changes = changes;
    runloop__tree_look(&watch->tree);
    watch->tree.changes = NULL;
    if (changes->count == 0 && !changes->is_incomplete) {
        free(changes);
        return NULL;
    }
    changes->next = watch->told;
    watch->told = changes;
    return changes;
}

static void free_told(struct runloop_watch *watch, struct changes *changes) {
    struct changes **link = &watch->told;
    while (*link != changes)
        link = &(*link)->next;
    *link = changes->next;
    runloop__changes_empty(changes);
    free(changes);
}

static void tell(struct runloop_watch *watch, const struct changes *changes) {
    if (!watch->changed)
        return;
    void *info = watch->object.context.info;
    if (!changes->is_incomplete) {
        watch->changed(watch, changes->items, changes->count, info);
        return;
    }
    const runloop_change change = {.kind = RUNLOOP_CHANGE_FAILED, .path = watch->tree.path, .error = -ENOMEM};
    watch->changed(watch, &change, 1, info);
}

static void ready(runloop_source *source, void *info) {
    struct runloop_watch *watch = info;
    // Calls below are cancellation points, at which nobody would unlock.
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    pthread_mutex_lock(&watch->lock);
    struct changes *changes = NULL;
    // Another loop may have been faster, and ended it.
    if (runloop_source_is_valid(source) && is_settled(watch, read_notifications(watch)))
        changes = collect(watch);
    pthread_mutex_unlock(&watch->lock);
    pthread_setcancelstate(cancellation, NULL);
    if (!changes)
        return;
    tell(watch, changes);
    // In a child that was forked in the call, the lock may be held by a thread that it does not have.
    if (object_is_inherited(&watch->object))
        return;
    pthread_mutex_lock(&watch->lock);
    free_told(watch, changes);
    pthread_mutex_unlock(&watch->lock);
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void free_parts(struct runloop_watch *watch) {
    if (watch->set >= 0)
        close(watch->set);
    if (watch->settled >= 0)
        close(watch->settled);
    runloop__tree_end(&watch->tree);
    runloop__changes_empty(&watch->initial);
    while (watch->told)
        free_told(watch, watch->told);
    free(watch);
}

static void free_watch(void *info) {
    struct runloop_watch *watch = info;
    runloop__object_end(&watch->object);
    free_parts(watch);
}

static int open_settle_timer(struct runloop_watch *watch) {
    watch->settled = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    watch->set = watch->settled < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (watch->set < 0)
        return -errno;
    struct epoll_event readable = {.events = EPOLLIN};
    if (epoll_ctl(watch->set, EPOLL_CTL_ADD, watch->settled, &readable) < 0 ||
        epoll_ctl(watch->set, EPOLL_CTL_ADD, watch->tree.inotify, &readable) < 0)
        return -errno;
    return 0;
}

/// Makes the descriptor readable, so that what was noticed at the creation is told: the kernel notes the end of a watch.
static void make_ready(const struct runloop_watch *watch) {
    int wd = inotify_add_watch(watch->tree.inotify, "/proc/self", IN_DELETE_SELF | IN_MASK_CREATE);
    if (wd >= 0)
        inotify_rm_watch(watch->tree.inotify, wd);
}

/// What can't be watched below the root is told later. A negative errno value for anything else.
static int look_first(struct runloop_watch *watch) {
    struct tree *tree = &watch->tree;
    tree->changes = &watch->initial;
    tree->way_is_stale = true;
    runloop__tree_look(tree);
    tree->changes = NULL;
    tree->is_new = false;
    if (watch->initial.is_incomplete || tree->is_overflown)
        return -ENOMEM;
    for (size_t i = 0; i < watch->initial.count; i++) {
        const runloop_change *failure = &watch->initial.items[i];
        if (failure->error != -EACCES || strcmp(failure->path, tree->path) == 0)
            return failure->error;
    }
    if (watch->initial.count)
        make_ready(watch);
    return 0;
}

static int begin(struct runloop_watch *watch, const runloop_watch_config *config) {
    int result = config->settle_ns ? open_settle_timer(watch) : 0;
    if (result == 0)
        result = look_first(watch);
    const struct object_config object = {
        .context = config->context,
        .descriptor = watch->set >= 0 ? watch->set : watch->tree.inotify,
        .ready = ready,
        .free = free_watch,
    };
    return result < 0 ? result : runloop__object_begin(&watch->object, &object);
}

int runloop_watch_create(const runloop_watch_config *config, runloop_watch **out) {
    if (!config || !out || !config->path || !*config->path || config->scope > RUNLOOP_WATCH_TREE ||
        config->settle_ns < 0)
        return -EINVAL;
    struct runloop_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return -ENOMEM;
    watch->changed = config->changed;
    watch->settle_ns = config->settle_ns;
    watch->latest_ns = RUNLOOP_NEVER;
    watch->settled = watch->set = -1;
    pthread_mutex_init(&watch->lock, NULL);
    int result = runloop__tree_begin(&watch->tree, config);
    if (result < 0) {
        free(watch);
        return result;
    }
    result = begin(watch, config);
    if (result < 0) {
        free_parts(watch);
        return result;
    }
    *out = watch;
    return 0;
}

runloop_watch *runloop_watch_retain(runloop_watch *watch) {
    runloop_source_retain(runloop_watch_get_source(watch));
    return watch;
}

void runloop_watch_release(runloop_watch *watch) {
    runloop_source_release(runloop_watch_get_source(watch));
}

runloop_source *runloop_watch_get_source(runloop_watch *watch) {
    return watch ? watch->object.source : NULL;
}

const char *runloop_watch_get_path(runloop_watch *watch) {
    return watch ? watch->tree.path : NULL;
}

void runloop_watch_invalidate(runloop_watch *watch) {
    if (watch)
        runloop_source_invalidate(watch->object.source);
}

const char *runloop_watch_describe_limit(int result) {
    switch (result) {
    case -ENOSPC: return "The user has no watches left: raise fs.inotify.max_user_watches.";
    case -EMFILE:
        return "The process has no descriptors left (ulimit -n), or the user no inotify instances: raise "
               "fs.inotify.max_user_instances.";
    default: return NULL;
    }
}
