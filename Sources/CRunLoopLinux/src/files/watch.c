// watch.c — a watch as a source: the kernel's notifications are read, what they are about is looked at, and the changes are told.
//
// The source's descriptor is an epoll set, in which are the notifications, which the watch shares with others (instance.h), and a timer of the
// kernel's. Whoever reads the notifications sets the timer of each watch that they concern: at once, or after the settle time. So what waits
// to be told belongs to the modes and loops of the source, whichever these are by then; a timer of one loop would have to follow it.

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/object.h"
#include "files/tree.h"

enum { BUFFER_SIZE = 16384, MOST_READS = 256, MOST_SETTLE_TIMES = 10 };

struct watch {
    struct object object;
    void (*changed)(runloop_watch *watch, const runloop_change *changes, size_t count, void *info);
    int64_t settle_ns;
    int timer;
    int set; ///< the epoll set
    // The lock of the instance guards what follows.
    int64_t latest_ns GUARDED; ///< when what has been noticed has to be told; RUNLOOP_NEVER: nothing has been noticed
    int64_t due_ns GUARDED;    ///< when it is to be told; RUNLOOP_NEVER likewise
    bool is_set GUARDED;       ///< the timer, for that time
    struct tree tree;
    struct changes initial GUARDED;
};

static struct watch *watch_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_WATCH);
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

/// 0 disarms.
HOLDS_LOCK static void set_timer(struct watch *watch, int64_t ns) {
    ASSERT_HOLDS(&watch->tree.instance->lock.lock);
    const struct itimerspec time = {.it_value = {ns / 1000000000, ns % 1000000000}};
    timerfd_settime(watch->timer, TFD_TIMER_ABSTIME, &time, NULL);
    watch->is_set = ns != 0;
}

static int64_t later(int64_t now, int64_t duration) {
    int64_t sum;
    return __builtin_add_overflow(now, duration, &sum) ? RUNLOOP_NEVER - 1 : sum;
}

/// Something concerns the watch: it is to be told at once, or when nothing more has been noticed for the settle time.
HOLDS_LOCK static void notice(struct watch *watch, int64_t now, const struct watch *reader) {
    ASSERT_HOLDS(&watch->tree.instance->lock.lock);
    int64_t longest;
    if (watch->latest_ns == RUNLOOP_NEVER)
        watch->latest_ns = __builtin_mul_overflow(watch->settle_ns, MOST_SETTLE_TIMES, &longest) ? RUNLOOP_NEVER - 1
                                                                                                 : later(now, longest);
    int64_t due = later(now, watch->settle_ns);
    due = due < watch->latest_ns ? due : watch->latest_ns;
    // The watch that reads looks afterwards whether it has something to tell.
    if (due != watch->due_ns && (watch->settle_ns || watch != reader))
        set_timer(watch, due);
    watch->due_ns = due;
}

/// In each tree that it concerns.
HOLDS_LOCK static void note(const struct watch *reader, const struct inotify_event *event, int64_t now) {
    const struct link *trees = &reader->tree.instance->trees;
    for (struct link *link = trees->next; link != trees; link = link->next) {
        struct tree *tree = LINK_OWNER(link, struct tree, in_instance);
        if (runloop__tree_note(tree, event, event->len ? event->name : ""))
            notice(LINK_OWNER(tree, struct watch, tree), now, reader);
    }
}

HOLDS_LOCK static void read_notifications(const struct watch *reader) {
    _Alignas(struct inotify_event) char buffer[BUFFER_SIZE];
    for (int i = 0; i < MOST_READS; i++) {
        ssize_t length = read(reader->tree.inotify, buffer, sizeof buffer);
        if (length <= 0)
            break;
        int64_t now = runloop_get_now_ns(NULL);
        for (const char *at = buffer; at < buffer + length;) {
            const struct inotify_event *event = (const void *)at;
            note(reader, event, now);
            at += sizeof *event + event->len;
        }
    }
}

/// Whether what has been noticed is to be told now.
HOLDS_LOCK static bool is_due(struct watch *watch) {
    if (watch->due_ns == RUNLOOP_NEVER || runloop_get_now_ns(NULL) < watch->due_ns)
        return false;
    watch->due_ns = watch->latest_ns = RUNLOOP_NEVER;
    if (watch->is_set)
        set_timer(watch, 0);
    return true;
}

//===-- telling ------------------------------------------------------------------------------------------------------===//

/// Looks at what was noticed.
HOLDS_LOCK static void collect(struct watch *watch, struct changes *changes) {
    ASSERT_HOLDS(&watch->tree.instance->lock.lock);
    *changes = watch->initial;
    watch->initial = (struct changes){0};
    watch->tree.changes = changes;
    runloop__tree_look(&watch->tree);
    watch->tree.changes = NULL;
}

static void empty(void *info) {
    runloop__changes_empty(info);
}

static void tell(struct watch *watch, const struct changes *changes) {
    if (!watch->changed || (changes->count == 0 && !changes->is_incomplete))
        return;
    void *info = watch->object.context.info;
    if (!changes->is_incomplete) {
        watch->changed(watch->object.source, changes->items, changes->count, info);
        return;
    }
    const runloop_change change = {.kind = RUNLOOP_CHANGE_FAILED, .path = watch->tree.path, .error = -ENOMEM};
    watch->changed(watch->object.source, &change, 1, info);
}

static void ready(runloop_source *source, void *info) {
    struct watch *watch = info;
    struct instance *instance = watch->tree.instance;
    steady_take(&instance->lock);
    struct changes changes = {0};
    // Another loop may have been faster, and ended it.
    if (runloop_source_is_valid(source)) {
        read_notifications(watch);
        if (is_due(watch))
            collect(watch, &changes);
    }
    steady_give(&instance->lock);
    // The call may end the thread.
    pthread_cleanup_push(empty, &changes);
    tell(watch, &changes);
    pthread_cleanup_pop(1);
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void free_parts(struct watch *watch) {
    struct instance *instance = watch->tree.instance;
    bool is_inherited = instance->generation != runloop_fork_generation();
    bool is_last = runloop__instance_leave(instance);
    if (watch->set >= 0)
        close(watch->set);
    if (watch->timer >= 0)
        close(watch->timer);
    steady_take(&instance->lock);
    // A forked child does not end its parent's watches.
    if (is_inherited || is_last)
        watch->tree.inotify = -1;
    runloop__way_end(&watch->tree);
    runloop__tree_end(&watch->tree);
    steady_give(&instance->lock);
    runloop__instance_release(instance);
    runloop__changes_empty(&watch->initial);
    free(watch);
}

static void free_watch(void *info) {
    struct watch *watch = info;
    runloop__object_end(&watch->object);
    free_parts(watch);
}

static const struct object_class watch_class = {.kind = OBJECT_WATCH, .ready = ready, .free = free_watch};

static int open_set(struct watch *watch) {
    watch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    watch->set = watch->timer < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (watch->set < 0)
        return -errno;
    struct epoll_event readable = {.events = EPOLLIN};
    if (epoll_ctl(watch->set, EPOLL_CTL_ADD, watch->timer, &readable) < 0 ||
        epoll_ctl(watch->set, EPOLL_CTL_ADD, watch->tree.inotify, &readable) < 0)
        return -errno;
    return 0;
}

/// What can't be watched below the root is told later. A negative errno value for anything else.
HOLDS_LOCK static int look_first(struct watch *watch) {
    ASSERT_HOLDS(&watch->tree.instance->lock.lock);
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
        notice(watch, runloop_get_now_ns(NULL), NULL);
    return 0;
}

static int begin(struct watch *watch, const runloop_watch_config *config) {
    struct instance *instance = watch->tree.instance;
    steady_take(&instance->lock);
    int result = runloop__tree_begin(&watch->tree, instance, config);
    if (result == 0)
        result = open_set(watch);
    if (result == 0)
        result = look_first(watch);
    steady_give(&instance->lock);
    const struct object_config object = {.context = config->context, .descriptor = watch->set, .class = &watch_class};
    return result < 0 ? result : runloop__object_begin(&watch->object, &object);
}

UNCHECKED int runloop_watch_create(const runloop_watch_config *config, runloop_watch **out) {
    if (!config || !out || !config->path || !*config->path || config->scope > RUNLOOP_WATCH_TREE ||
        config->settle_ns < 0)
        return -EINVAL;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return -ENOMEM;
    watch->changed = config->changed;
    watch->settle_ns = config->settle_ns;
    watch->latest_ns = watch->due_ns = RUNLOOP_NEVER;
    watch->timer = watch->set = -1;
    int result = runloop__instance_join(&watch->tree.instance);
    if (result < 0) {
        free(watch);
        return result;
    }
    result = begin(watch, config);
    if (result < 0) {
        free_parts(watch);
        return result;
    }
    *out = watch->object.source;
    return 0;
}

const char *runloop_watch_get_path(runloop_watch *source) {
    struct watch *watch = watch_of(source);
    return watch ? watch->tree.path : NULL;
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
