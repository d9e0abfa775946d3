// source.h — what the files of sources share: the structure, and which core source a source has.
#ifndef RUNLOOP_CF_SOURCE_H
#define RUNLOOP_CF_SOURCE_H

#include "loop/loop.h"

#include <errno.h>

/// Stands for the locks of all sources; never defined.
extern struct process_lock source_lock;

struct __CFRunLoopSource {
    struct cf_item item;
    _Atomic(runloop_source *) core; ///< changes only in version 1, under lock; one reference, as in all items
    struct process_lock lock;
    int revivals GUARDED_BY(source_lock); ///< less the calls of `finalize`; -1: the core source is released
    bool was_invalidated GUARDED_BY(source_lock);
    _Atomic bool is_signalled; ///< version 1, whose signal calls nothing, unlike the core's (R72)
    CFIndex order;
    cf_ready_callback ready;      ///< of one that watches a descriptor, else NULL
    _Atomic bool is_always_ready; ///< what it watches, which epoll can't: a regular file
    union {
        CFRunLoopSourceContext v0;
        CFRunLoopSourceContext1 v1;
    } context; ///< the first seven fields are the same in both
};

UNCHECKED static inline void take(CFRunLoopSourceRef source) TAKES(source_lock) {
    process_lock(&source->lock);
}

UNCHECKED static inline void give(CFRunLoopSourceRef source) GIVES(source_lock) {
    process_unlock(&source->lock);
}

static inline bool is_port(const struct __CFRunLoopSource *source) {
    return source->context.v0.version != 0;
}

/// The core source, retained: in version 1 another thread may replace it.
static inline runloop_source *copy_core(CFRunLoopSourceRef source) {
    if (!is_port(source))
        return runloop_source_retain(source->core);
    take(source);
    runloop_source *core = runloop_source_retain(source->core);
    give(source);
    return core;
}

/// The kernel has refused to watch, or there was no memory.
static inline bool is_refusal(int error) {
    return error == -EPERM || error == -ENOMEM || error == -ENOSPC;
}

/// The source that a core source belongs to; NULL for others, and for one that watches a descriptor. It lives as long as the core source.
CFRunLoopSourceRef cf__source_of_core(runloop_source *core);
/// For version 1: calls `getPort`, as each addition does, and replaces the core source if the descriptor has changed.
void cf__source_refresh_port(CFRunLoopSourceRef source) WITHOUT(source_lock);
/// Has the source called later, to try again after a refusal.
void cf__source_try_again(CFRunLoopSourceRef source, int error);

/// A removal, by this thread, of a core source whose source equals the one that the program named, whose `cancel` is called.
struct cf_removal {
    runloop_source *core;
    CFRunLoopSourceRef named;
};
extern _Thread_local FAST_TLS struct cf_removal cf__removal;

#endif // RUNLOOP_CF_SOURCE_H
