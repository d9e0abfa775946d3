// instance.h — an inotify instance, which all watches that a thread makes share, and what the kernel watches for them.
//
// It is a source that is read in the modes in which any of the watches is (watch.c). Each thing that the kernel watches (a kernel watch, by wd)
// has a list of the entries that are interested in it, so a notification costs what it concerns, however many watches there are.
#ifndef RUNLOOP_INSTANCE_H
#define RUNLOOP_INSTANCE_H

#include <pthread.h>
#include <stdint.h>
#include <sys/inotify.h>

#include "base/lock.h"
#include "base/object.h"
#include "runloop_list.h"

/// Bytes that are read at once.
enum { NOTIFICATIONS_SIZE = 16384 };

struct instance {
    struct object object;
    int inotify;            ///< the source's descriptor
    pthread_t thread;       ///< that made it; one with the same name later may join it as well
    uint32_t users GUARDED; ///< lock of all instances: those that have joined; with none it is not found any more
    struct instance *next GUARDED; ///< lock of all instances
    /// Guards the trees and what belongs to them. Not held in call-outs, but in calls of the core: it is taken before the lock of a loop.
    struct steady_lock lock;
    struct list trees GUARDED;
    void *kernel_watches GUARDED; ///< by wd, of tsearch
    /// What the kernel watches ends with the descriptor, or is the parent's of a forked child, where a thread that is not there may have been
    /// changing the lists.
    bool is_over GUARDED;
    /// Where NOTIFICATIONS_SIZE bytes are read. Not on the stack, which may be small.
    _Alignas(struct inotify_event) char notifications[] GUARDED;
};

struct tree;
struct kernel_watch;

/// The interest of an entry in what the kernel watches. All zeros: not yet in anything.
struct interest {
    struct kernel_watch *of; ///< NULL: nothing, or not any more
    struct list link;        ///< in that
    uint32_t events;
    struct tree *tree; ///< whose it is
    /// Whether the notification concerns the tree: another one may have asked for more. `name` is "" for what is watched itself. Changes no
    /// interest.
    bool (*note)(struct interest *interest, const struct inotify_event *event, const char *name);
};

/// That of the calling thread, found or made with this class. -EMFILE, -ENFILE, -ENOMEM.
int runloop__instance_join(const struct object_class *class, struct instance **out);
/// Whether the caller was the last one, which nobody else follows. It still has a reference to the instance's source.
bool runloop__instance_leave(struct instance *instance);
/// The class's `free`.
void runloop__instance_free(void *instance);

//===-- kernel_watch.c -----------------------------------------------------------------------------------------------===//

/// Watches what `descriptor` is open for (O_PATH suffices) for further events. 0, or a negative errno value: then `interest` is of nothing.
HOLDS_LOCK int runloop__interest_begin(struct instance *instance, struct interest *interest, int descriptor,
                                       uint32_t events);
/// Reduces what it is interested in, and what the kernel watches to what anybody needs; with descriptor -1 the kernel goes on.
HOLDS_LOCK void runloop__interest_narrow(struct instance *instance, struct interest *interest, int descriptor,
                                         uint32_t events);
/// Ends what nobody needs any more.
HOLDS_LOCK void runloop__interest_end(struct instance *instance, struct interest *interest);

/// Notes it in each interest that it is about, and calls `concerns` for the trees that it concerns.
HOLDS_LOCK void runloop__instance_note(struct instance *instance, const struct inotify_event *event,
                                       void (*concerns)(struct tree *tree, void *context), void *context);

#endif // RUNLOOP_INSTANCE_H
