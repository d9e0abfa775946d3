// object.h — what all objects of this library share: each is a descriptor source of the core, which clients have and count references to. Its
// info is the object, which it frees.
#ifndef RUNLOOP_OBJECT_H
#define RUNLOOP_OBJECT_H

#include <errno.h>

#include "runloop.h"

enum object_kind {
    OBJECT_ALARM,
    OBJECT_CHANNEL,
    OBJECT_CHILD,
    OBJECT_CLOCK_WATCH,
    OBJECT_COMMAND,
    OBJECT_CONNECT,
    OBJECT_COUNTER,
    OBJECT_INOTIFY,
    OBJECT_INPUT,
    OBJECT_LISTENER,
    OBJECT_OUTPUT,
    OBJECT_PORT,
    OBJECT_SHUTDOWN,
    OBJECT_SIGNAL,
    OBJECT_WATCH,
};

/// What objects of a kind have in common.
struct object_class {
    enum object_kind kind;
    /// What was asked for holds, it was signalled, or its deadline has passed. Not called in a forked child, which has the same descriptor as
    /// its parent.
    void (*ready)(runloop_source *source, runloop_readiness reasons, void *object);
    /// The source was added to a mode, or removed from one. Not called in a forked child either. May be NULL.
    void (*schedule)(void *object, runloop *loop, const char *mode);
    void (*cancel)(void *object, runloop *loop, const char *mode);
    /// The source was invalidated, by whomever. Not called in a forked child either. May be NULL.
    void (*invalidated)(void *object);
    /// What it is and how it is, as malloc gives it, for descriptions, if the client describes nothing. Any thread. May be NULL.
    char *(*describe)(const void *object);
    /// Has it read its descriptor? Any thread. NULL: it does as soon as there is something to read.
    bool (*has_read)(const void *object);
    /// Frees the object with everything in it, when nobody can call it any more. The thread is not cancelled in it. NULL: there is nothing else
    /// in it than the descriptor, which is its own and is closed.
    void (*free)(void *object);
};

/// The first member of each.
struct object {
    const struct object_class *class;
    runloop_context context; ///< the client's, retained
    runloop_source *source;
    int descriptor;
    /// The client's, may be NULL.
    void (*cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);
    uint32_t generation; ///< of forks, in which it was made
};

struct object_config {
    const struct object_class *class;
    runloop_context context;
    void (*cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);
    int descriptor;           ///< -1: none
    runloop_readiness events; ///< 0: RUNLOOP_READABLE
};

/// Is this a forked child, and the object its parent's? Then what it watches is the parent's, too, and a thread that the child does not have
/// may have been changing it. Asked again after each call-out, which may have forked.
static inline bool object_is_inherited(const struct object *object) {
    return object->generation != runloop_fork_generation();
}

/// 0; -EINVAL for NULL, or -ECHILD in a forked child. `object` begins with its `struct object`.
static inline int object_check(const void *object) {
    if (!object)
        return -EINVAL;
    return object_is_inherited(object) ? -ECHILD : 0;
}

/// The object that a source is; NULL if it is NULL, or of another kind.
void *runloop__object_of(runloop_source *source, enum object_kind kind);

/// Is a descriptor source one that reads its descriptor, as those of a client do, or an object that has not begun to?
bool runloop__source_reads(runloop_source *source);

/// Makes the source. -ENOMEM: then `free` was not called, and the context not retained.
int runloop__object_begin(struct object *object, const struct object_config *config);
/// Makes an object of `size` bytes, zeros but for the `struct object`, and its source. NULL and an error: -ENOMEM, or that which stands in the
/// place of a descriptor. Then a descriptor of its own is closed.
void *runloop__object_make(size_t size, const struct object_config *config, int *error);
/// Releases the context.
void runloop__object_end(struct object *object);
/// Releases the source of an object that nobody knows yet. The context remains the client's, as after any creation that has failed.
static inline void object_give_up(struct object *object) {
    // What was retained for the object is released by it.
    if (!object->context.retain)
        object->context.release = NULL;
    runloop_source_release(object->source);
}

/// Does epoll refuse to watch the descriptor: 1 for a file, or a device like /dev/null? A negative errno value if that can't be found out. No
/// system call but fstat for sockets and pipes.
int runloop__is_refused_by_epoll(int descriptor);

#endif // RUNLOOP_OBJECT_H
