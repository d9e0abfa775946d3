// watch.c — a watch as a source: it looks at the paths that notifications name, and reports the changes.
//
// A watch is a source without a descriptor. The instance, which it shares with others (instance.h), is a source of its own, in the modes in
// which any of its watches is. Whoever reads it signals each watch that a notification concerns, or sets its deadline to the end of the
// settle time. So changes that wait belong to the modes and loops of the watch, whichever these are by then. The first that may be
// called where it is read is called at once, so that for one watch a change is one call-out.

#ifdef __linux__
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/object.h"
#include "files/tree.h"

enum {
    MOST_READS = 256,
    MOST_SETTLE_TIMES = 10,
    MOST_MODES = 64,
    ASK_AGAIN_NS = 100 * 1000 * 1000,
};

/// A time at which changes are due: as soon as possible.
#define AT_ONCE INT64_MIN
#define LONGEST_SETTLE_NS (INT64_MAX / MOST_SETTLE_TIMES)

struct watch {
    struct object object;
    void (*changed)(runloop_watch *watch, const runloop_change *changes, size_t count, void *info);
    int64_t settle_ns;
    // The lock of the instance guards what follows.
    /// NULL until it is made. After the last release it is there until free_watch has had the lock; what is asked of it then has no effect.
    runloop_source *source GUARDED;
    int64_t latest_ns GUARDED; ///< when changes that were noticed are due at the latest; RUNLOOP_NEVER: no changes
    int64_t due_ns GUARDED;    ///< when they are due; RUNLOOP_NEVER likewise
    int places GUARDED;        ///< in how many modes of loops it is
    bool is_left_out GUARDED;  ///< the instance is perhaps not in all of these, for want of memory
    const runloop *left_out_of GUARDED; ///< the loop whose modes these are, only to be compared; NULL: several
    struct tree tree;
    struct changes initial GUARDED;
};

static struct watch *watch_of_tree(struct tree *tree) {
    return LIST_ENTRY(tree, struct watch, tree);
}

/// Changes that are noticed in a pause wait for a wake that follows its end. A watch that is still being made counts as paused.
HOLDS_LOCK static bool is_paused(const struct watch *watch) {
    return runloop_source_get_events(watch->source) == 0;
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

/// The watch is called when it is due.
HOLDS_LOCK static void arm(const struct watch *watch) {
    ASSERT_HOLDS(&watch->tree.instance->lock.lock);
    int64_t due = watch->due_ns;
    if (watch->is_left_out && due != AT_ONCE) {
        int64_t again = runloop_now_ns() + ASK_AGAIN_NS;
        due = again < due ? again : due;
    }
    // Without memory for a deadline it is called at once, and looks again.
    if (due == AT_ONCE || (due != RUNLOOP_NEVER && runloop_source_set_deadline(watch->source, due) < 0))
        runloop_source_wake(watch->source);
}

/// Somebody reads an instance.
struct reading {
    struct instance *instance;
    runloop *loop;
    const char *mode;
    int64_t now;
    struct watch *first; ///< that is to be called by the reader, retained
};

/// Whether the reader takes it over to call it. If it is where it is read, its loop has a reference, or a thread that has removed it has one and
/// waits for the lock (cancel).
HOLDS_LOCK static bool is_taken_over(struct watch *watch, struct reading *reading) {
    if (reading->first || is_paused(watch) || !runloop_contains_source(reading->loop, watch->source, reading->mode))
        return false;
    reading->first = watch;
    runloop_source_retain(watch->source);
    return true;
}

static int64_t later(int64_t now, int64_t duration) {
    int64_t sum;
    return __builtin_add_overflow(now, duration, &sum) ? RUNLOOP_NEVER - 1 : sum;
}

/// Something concerns the watch: its changes are due at once, or when nothing more has been noticed for the settle time.
HOLDS_LOCK static void notice(struct watch *watch, struct reading *reading) {
    int64_t due = AT_ONCE;
    if (watch->settle_ns) {
        if (watch->latest_ns == RUNLOOP_NEVER)
            watch->latest_ns = later(reading->now, watch->settle_ns * MOST_SETTLE_TIMES);
        due = later(reading->now, watch->settle_ns);
        due = due < watch->latest_ns ? due : watch->latest_ns;
    }
    // One that is to be called at once will be.
    if (watch->due_ns == AT_ONCE || due == watch->due_ns)
        return;
    watch->due_ns = due;
    if (due != AT_ONCE || !is_taken_over(watch, reading))
        arm(watch);
}

HOLDS_LOCK static void notice_tree(struct tree *tree, void *reading) {
    notice(LIST_ENTRY(tree, struct watch, tree), reading);
}

HOLDS_LOCK static void notice_overflow(struct reading *reading) {
    struct list *trees = &reading->instance->trees;
    for (struct list *link = trees->next; link != trees; link = link->next) {
        LIST_ENTRY(link, struct tree, in_instance)->is_overflown = true;
        notice_tree(LIST_ENTRY(link, struct tree, in_instance), reading);
    }
}

/// The notification that begins the rest of a buffer. NULL if the rest is empty, or too short for it.
static const struct inotify_event *notification_at(const char *rest, size_t size) {
    const struct inotify_event *event = (const void *)rest;
    if (size < sizeof *event || event->len > size - sizeof *event || event->len % _Alignof(struct inotify_event))
        return NULL;
    return event->len && event->name[event->len - 1] ? NULL : event;
}

HOLDS_LOCK static void note_all(struct reading *reading, const char *buffer, size_t size) {
    for (const struct inotify_event *event; (event = notification_at(buffer, size));) {
        if (event->mask & IN_Q_OVERFLOW)
            notice_overflow(reading);
        runloop__instance_note(reading->instance, event, notice_tree, reading);
        buffer += sizeof *event + event->len;
        size -= sizeof *event + event->len;
    }
}

HOLDS_LOCK static void read_notifications(struct reading *reading) {
    char *buffer = reading->instance->notifications;
    // The kernel has no more for now if another one would have had space.
    const ssize_t full = NOTIFICATIONS_SIZE - sizeof(struct inotify_event) - NAME_MAX;
    ssize_t length = full;
    for (int i = 0; i < MOST_READS && length >= full; i++) {
        length = read(reading->instance->inotify, buffer, NOTIFICATIONS_SIZE);
        reading->now = runloop_now_ns();
        note_all(reading, buffer, length > 0 ? (size_t)length : 0);
    }
}

//===-- modes --------------------------------------------------------------------------------------------------------===//

// A thread that adds a watch and one that removes it may come here in the other order. So they ask, under the lock, where the watches are, and
// the last of them finds the final state.

/// The instance is in the mode if the watch is. False for want of memory, here or in the kernel.
HOLDS_LOCK static bool join(const struct watch *watch, runloop *loop, const char *mode) {
    if (!runloop_contains_source(loop, watch->source, mode))
        return true;
    int result = runloop_add_source(loop, watch->tree.instance->object.source, mode);
    // What has ended takes its sources out.
    return result == 0 || result == -ESHUTDOWN;
}

static void schedule(void *object, runloop *loop, const char *mode) {
    struct watch *watch = object;
    struct instance *instance = watch->tree.instance;
    steady_take(&instance->lock);
    watch->places++;
    if (!join(watch, loop, mode)) {
        watch->left_out_of = watch->is_left_out && watch->left_out_of != loop ? NULL : loop;
        watch->is_left_out = true;
        arm(watch);
    }
    steady_give(&instance->lock);
}

HOLDS_LOCK static bool is_in(struct instance *instance, struct list *link, runloop *loop, const char *mode) {
    return link != &instance->trees &&
           runloop_contains_source(loop, watch_of_tree(LIST_ENTRY(link, struct tree, in_instance))->source, mode);
}

/// Any watch of the instance. From this one on in both directions, since those that were made together are mostly in one mode.
HOLDS_LOCK static bool is_any_in(struct watch *watch, runloop *loop, const char *mode) {
    struct list *self = &watch->tree.in_instance, *next = self, *previous = self;
    do {
        if (is_in(watch->tree.instance, next, loop, mode) || is_in(watch->tree.instance, previous, loop, mode))
            return true;
        next = next->next;
        previous = previous->previous;
    } while (next != self);
    return false;
}

static void cancel(void *object, runloop *loop, const char *mode) {
    struct watch *watch = object;
    struct instance *instance = watch->tree.instance;
    steady_take(&instance->lock);
    watch->places--;
    if (!is_any_in(watch, loop, mode))
        runloop_remove_source(loop, instance->object.source, mode);
    steady_give(&instance->lock);
}

/// Into which the instance could not come: reads it without, and tries again. It is in all if this loop has all, or all that were left out.
HOLDS_LOCK static void join_again(struct watch *watch) {
    const char *modes[MOST_MODES];
    runloop *loop = runloop_current();
    size_t count = runloop_get_modes(loop, modes, MOST_MODES);
    int places = 0;
    bool has_joined = true;
    for (size_t i = 0; i < count && i < MOST_MODES; i++) {
        places += runloop_contains_source(loop, watch->source, modes[i]);
        has_joined &= join(watch, loop, modes[i]);
    }
    watch->is_left_out = !has_joined || (places != watch->places && (loop != watch->left_out_of || count > MOST_MODES));
    // With a mode of no name it calls nobody.
    struct reading reading = {.instance = watch->tree.instance, .loop = loop};
    read_notifications(&reading);
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

static void report(struct watch *watch, const struct changes *changes) {
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

/// Whether changes that were noticed are due now.
HOLDS_LOCK static bool is_due(struct watch *watch) {
    if (runloop_now_ns() < watch->due_ns)
        return false;
    watch->due_ns = watch->latest_ns = RUNLOOP_NEVER;
    return true;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct watch *watch = info;
    struct instance *instance = watch->tree.instance;
    steady_take(&instance->lock);
    struct changes changes = {0};
    // Another loop may have been faster, and ended it.
    if (runloop_source_is_valid(source) && !is_paused(watch)) {
        if (watch->is_left_out)
            join_again(watch);
        if (is_due(watch))
            collect(watch, &changes);
        else
            arm(watch);
    }
    steady_give(&instance->lock);
    // The call may end the thread.
    pthread_cleanup_push(empty, &changes);
    report(watch, &changes);
    pthread_cleanup_pop(1);
}

static void release(void *source) {
    runloop_source_release(source);
}

static void instance_ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source;
    runloop *loop = runloop_current();
    struct reading reading = {.instance = info, .loop = loop, .mode = runloop_current_mode(loop)};
    steady_take(&reading.instance->lock);
    if (!reading.instance->is_over)
        read_notifications(&reading);
    steady_give(&reading.instance->lock);
    if (!reading.first)
        return;
    runloop_source *first = reading.first->object.source;
    pthread_cleanup_push(release, first);
    ready(first, reasons, reading.first);
    pthread_cleanup_pop(1);
}

static const struct object_class instance_class = {
    .kind = OBJECT_INOTIFY, .ready = instance_ready, .free = runloop__instance_free};

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void free_parts(struct watch *watch) {
    struct instance *instance = watch->tree.instance;
    bool is_last = runloop__instance_leave(instance);
    steady_take(&instance->lock);
    instance->is_over |= is_last || object_is_inherited(&instance->object);
    runloop__tree_empty(&watch->tree);
    runloop__tree_end(&watch->tree);
    steady_give(&instance->lock);
    runloop_source_release(instance->object.source);
    runloop__changes_empty(&watch->initial);
    free(watch);
}

static void free_watch(void *info) {
    struct watch *watch = info;
    runloop__object_end(&watch->object);
    free_parts(watch);
}

static void invalidated(void *info) {
    struct watch *watch = info;
    steady_take(&watch->tree.instance->lock);
    runloop__tree_empty(&watch->tree);
    steady_give(&watch->tree.instance->lock);
}

static const struct object_class watch_class = {.kind = OBJECT_WATCH,
                                                .ready = ready,
                                                .schedule = schedule,
                                                .cancel = cancel,
                                                .invalidated = invalidated,
                                                .free = free_watch};

/// Of all paths, and not of one.
static bool is_shortage(int error) {
    return error == -ENOMEM || error == -ENOSPC || error == -EMFILE || error == -ENFILE;
}

/// Paths below the root that can't be watched are reported later, whatever the reason is: an automounter's that is not there, or a dead server's.
/// A negative errno value for anything else.
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
        if (is_shortage(failure->error) || strcmp(failure->path, tree->path) == 0)
            return failure->error;
    }
    if (watch->initial.count)
        watch->due_ns = AT_ONCE;
    return 0;
}

static int begin(struct watch *watch, const runloop_watch_config *config) {
    struct instance *instance = watch->tree.instance;
    steady_take(&instance->lock);
    int result = runloop__tree_begin(&watch->tree, instance, config);
    if (result == 0)
        result = look_first(watch);
    steady_give(&instance->lock);
    if (result < 0)
        return result;
    const struct object_config object = {.context = config->context, .descriptor = -1, .class = &watch_class};
    result = runloop__object_begin(&watch->object, &object);
    if (result < 0)
        return result;
    // Something has failed, or another loop has noticed something by now.
    steady_take(&instance->lock);
    watch->source = watch->object.source;
    arm(watch);
    steady_give(&instance->lock);
    return 0;
}

UNCHECKED int runloop_watch_create(const runloop_watch_config *config, runloop_watch **out) {
    if (!config || !out || !config->path || !*config->path || config->scope > RUNLOOP_WATCH_TREE ||
        config->settle_ns < 0)
        return -EINVAL;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return -ENOMEM;
    watch->changed = config->changed;
    watch->settle_ns = config->settle_ns < LONGEST_SETTLE_NS ? config->settle_ns : LONGEST_SETTLE_NS;
    watch->latest_ns = watch->due_ns = RUNLOOP_NEVER;
    int result = runloop__instance_join(&instance_class, &watch->tree.instance);
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
    struct watch *watch = runloop__object_of(source, OBJECT_WATCH);
    return watch ? watch->tree.path : NULL;
}
#endif // __linux__
