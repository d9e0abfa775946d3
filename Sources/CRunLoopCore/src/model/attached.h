// attached.h — timers and observers: items in one loop at a time, and their call-outs.
//
// The call-outs of a thread are a stack in its loop, over nested runs. A timer is pushed when it fires. A notification pushes all observers
// that it is to reach, the first one last: the one on top is called next, and comes off the stack when its call-out has ended. So the
// stack also says what the end of a thread leaves unfinished.
#ifndef RUNLOOP_ATTACHED_H
#define RUNLOOP_ATTACHED_H

#include "model/model.h"

/// What timers and observers begin with.
struct attached {
    struct item item;
    struct attachment attachment;
};

int runloop__attached_add(runloop *loop, struct attached *attached, const char *mode);
int runloop__attached_remove(runloop *loop, struct attached *attached, const char *mode);
bool runloop__attached_contains(runloop *loop, struct attached *attached, const char *mode);
void runloop__attached_invalidate(struct attached *attached);

/// What is to be released when no lock is held any more: so many references, and perhaps the context.
typedef uint32_t pending_release;
enum { PENDING_CONTEXT = 1 << 16 };
/// Returns what the caller must release after unlocking.
HOLDS_LOCK pending_release runloop__invalidate_locked(runloop *owner, struct attached *attached);

static inline runloop *owner_of(const struct attached *attached) {
    return atomic_load_explicit(&attached->attachment.loop, memory_order_acquire);
}

HOLDS_LOCK static inline void attached_set_state(struct attached *attached, uint32_t state) {
    atomic_store_explicit(&attached->item.state, state, memory_order_release);
}

//===-- call-outs ----------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static COLD bool callouts_grow(runloop *loop, uint32_t count) {
    uint32_t used = (uint32_t)(loop->callouts_top - loop->callouts);
    uint32_t capacity = (uint32_t)(loop->callouts_end - loop->callouts);
    while (capacity - used < count) {
        struct callout *callouts = grow_array(loop->callouts, &capacity, sizeof *callouts);
        if (!callouts)
            return false;
        loop->callouts = callouts;
        loop->callouts_top = callouts + used;
        loop->callouts_end = callouts + capacity;
    }
    return true;
}

/// Reserves memory for `count` further call-outs; false when there is none.
HOLDS_LOCK static inline bool callouts_reserve(runloop *loop, uint32_t count) {
    return (size_t)(loop->callouts_end - loop->callouts_top) >= count || callouts_grow(loop, count);
}

/// The item leaves a mode: what is yet to reach it keeps it from now on.
HOLDS_LOCK static inline void callouts_keep(runloop *loop, struct attached *attached) {
    // The lowest entry stays longest, so its reference covers those above.
    for (struct callout *callout = loop->callouts; callout < loop->callouts_top; callout++) {
        if (callout->attached != attached)
            continue;
        if (!callout->is_retained)
            item_retain(&attached->item);
        callout->is_retained = true;
        return;
    }
}

/// On its thread. The call-out on top begins: its item. NULL if there is to be none, and then it is off the stack. Lets go of the lock
/// only for an item that has left a mode since it was pushed.
HOLDS_LOCK struct attached *runloop__callout_begin_otherwise(runloop *loop);
HOLDS_LOCK static inline struct attached *callout_begin(runloop *loop) {
    ASSERT_LOCKED(loop);
    struct callout *callout = loop->callouts_top - 1;
    struct attached *attached = callout->attached;
    uint32_t state = item_state(&attached->item);
    bool begins = (state & (ITEM_VALID | ITEM_CALLED)) == ITEM_VALID;
    if (__builtin_expect(owner_of(attached) != loop, 0) || __builtin_expect(!begins, 0))
        return runloop__callout_begin_otherwise(loop);
    attached_set_state(attached, state | ITEM_CALLED);
    callout->runs = true;
    return attached;
}

/// On its thread. The call-out on top has returned and comes off the stack. Locks the item's owner instead of the loop, and returns it:
/// mostly the same.
UNCHECKED static COLD runloop *callout_lock_owner(runloop *loop, struct attached *attached) {
    // The call-out moved the item to another loop, which may call it as soon as this loop's call-out has ended.
    loop_unlock(loop);
    return lock_owner(&attached->attachment.loop);
}
HOLDS_LOCK static inline runloop *callout_return(runloop *loop, struct attached *attached, pending_release *pending) {
    ASSERT_LOCKED(loop);
    const struct callout *callout = --loop->callouts_top;
    ASSERT(callout->attached == attached && callout->runs, "A call-out ended that had not begun.");
    *pending = callout->is_retained;
    return __builtin_expect(owner_of(attached) == loop, 1) ? loop : callout_lock_owner(loop, attached);
}

/// After that: the item may be called again. Returns what the caller must release after unlocking.
HOLDS_LOCK static inline pending_release callout_end(struct attached *attached) {
    uint32_t state = item_state(&attached->item);
    attached_set_state(attached, state & ~(uint32_t)(ITEM_CALLED | ITEM_RELEASE_LATER | ITEM_REDATED));
    bool is_pending = __builtin_expect(state & ITEM_RELEASE_LATER, 0) && attached->item.release;
    return is_pending ? PENDING_CONTEXT : 0;
}

/// After that: what is pending is released, without the lock. Locks the loop instead of the owner.
HOLDS_LOCK void runloop__callout_release(runloop *loop, runloop *owner, struct attached *attached,
                                         pending_release pending);
HOLDS_LOCK static inline void callout_release(runloop *loop, runloop *owner, struct attached *attached,
                                              pending_release pending) {
    if (__builtin_expect(owner != loop || pending, 0))
        runloop__callout_release(loop, owner, attached, pending);
}

/// The ending thread: all of them are over, and what is yet to be called will not be.
HOLDS_LOCK void runloop__callouts_unwind(runloop *loop);

#endif // RUNLOOP_ATTACHED_H
