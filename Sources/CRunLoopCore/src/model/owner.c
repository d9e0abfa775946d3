// owner.c — the word that names the one loop in which an item is.
//
// An item is guarded by the lock of its loop; in no loop, by one of a few locks of the process, found from the word's address. So a word
// is changed under a loop's lock, and from NULL under its guard as well.
//
// The loop that a word names may end at any time. Teardown clears the words of its items, passes through every guard, and only then gives
// up the thread's reference. Whoever reads a word under its guard and finds the loop there can therefore still take a reference.

#ifdef __linux__
#include "model/model.h"

/// Enough for threads that begin and end timers in loops of their own not to meet.
static struct { _Alignas(CACHE_LINE) struct process_lock lock; } guards[32];

static struct process_lock *guard_of(const owner_word *owner) {
    return &guards[(uintptr_t)owner / CACHE_LINE % (sizeof guards / sizeof guards[0])].lock;
}

runloop *runloop__reference_owner(owner_word *owner) {
    process_lock(guard_of(owner));
    runloop *loop = runloop_retain(atomic_load(owner));
    process_unlock(guard_of(owner));
    return loop;
}

void runloop__await_owner_readers(void) {
    for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++) {
        process_lock(&guards[i].lock);
        process_unlock(&guards[i].lock);
    }
}

UNCHECKED runloop *runloop__lock_other_owner(owner_word *owner) {
    for (;;) {
        process_lock(guard_of(owner));
        runloop *loop = atomic_load(owner);
        if (!loop)
            return NULL;
        // The loop's own thread keeps it alive.
        if (loop != runloop__thread_loop())
            runloop_retain(loop);
        process_unlock(guard_of(owner));
        loop_lock(loop);
        if (atomic_load(owner) == loop)
            return loop;
        runloop__unlock_other_owner(owner, loop);
    }
}

UNCHECKED void runloop__unlock_other_owner(owner_word *owner, runloop *loop) {
    if (!loop) {
        process_unlock(guard_of(owner));
        return;
    }
    loop_unlock(loop);
    if (loop != runloop__thread_loop())
        runloop_release(loop);
}

int runloop__take_ownership(owner_word *owner, runloop *loop) {
    ASSERT_LOCKED(loop);
    if (atomic_load(owner) == loop)
        return 0;
    process_lock(guard_of(owner));
    runloop *former = atomic_load(owner);
    if (!former)
        atomic_store_explicit(owner, loop, memory_order_release);
    process_unlock(guard_of(owner));
    return former ? -EBUSY : 0;
}
#endif // __linux__
