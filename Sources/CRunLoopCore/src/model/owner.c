// owner.c — the word that names the one loop in which an item is. It guards the item while it is in none.
//
// An item is guarded by the lock of its loop; in no loop, by the word itself, which then says "held" for the few instructions of a
// change. "Held" carries the generation of the process, so that a forked child is not held up by a thread that it does not have, and
// whoever waits sleeps on the word's lower half.
//
// The loop that a word names may end at any time. Teardown clears the words of its items, passes through `readers`, and only then gives
// up the thread's reference. Whoever reads a word under that lock and finds the loop there can therefore still take a reference.

#include "model/model.h"

static struct process_lock readers;

static bool is_held(runloop *word) {
    return (uintptr_t)word & WORD_HELD;
}

static bool is_from_this_process(runloop *word) {
    return ((uint32_t)(uintptr_t)word ^ runloop__held_word()) >> 2 == 0;
}

static _Atomic uint32_t *lower_half(owner_word *owner) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (_Atomic uint32_t *)(void *)owner + (sizeof *owner / sizeof(uint32_t) - 1);
#else
    return (_Atomic uint32_t *)(void *)owner;
#endif
}

static void await_word(owner_word *owner, runloop *word) {
    runloop *awaited = (runloop *)((uintptr_t)word | WORD_AWAITED);
    if (word == awaited || atomic_compare_exchange_strong(owner, &word, awaited))
        futex_wait(lower_half(owner), (uint32_t)(uintptr_t)awaited);
}

runloop *runloop__reference_owner(owner_word *owner) {
    runloop__process_lock(&readers);
    runloop *loop = atomic_load(owner);
    loop = is_held(loop) ? NULL : runloop_retain(loop);
    process_unlock(&readers);
    return loop;
}

void runloop__await_owner_readers(void) {
    runloop__process_lock(&readers);
    process_unlock(&readers);
}

runloop *runloop__lock_other_owner(owner_word *owner) {
    runloop *held = (runloop *)(uintptr_t)runloop__held_word();
    for (;;) {
        runloop *loop = atomic_load(owner);
        if (!loop || (is_held(loop) && !is_from_this_process(loop))) {
            if (atomic_compare_exchange_weak(owner, &loop, held))
                return NULL;
        } else if (is_held(loop)) {
            await_word(owner, loop);
        } else if (loop == runloop__thread_loop() || is_from_parent_process(loop)) {
            // The loop's own thread keeps it alive, and one that was inherited is never freed.
            loop_lock(loop);
            if (atomic_load(owner) == loop)
                return loop;
            loop_unlock(loop);
        } else if ((loop = runloop__reference_owner(owner))) {
            loop_lock(loop);
            if (atomic_load(owner) == loop)
                return loop;
            loop_unlock(loop);
            runloop_release(loop);
        }
    }
}

void runloop__unlock_other_owner(owner_word *owner, runloop *loop) {
    if (!loop) {
        if ((uintptr_t)atomic_exchange_explicit(owner, NULL, memory_order_release) & WORD_AWAITED)
            futex_wake(lower_half(owner), INT32_MAX);
        return;
    }
    loop_unlock(loop);
    if (loop != runloop__thread_loop())
        runloop_release(loop);
}

int runloop__contend_for_ownership(owner_word *owner, runloop *loop) {
    for (;;) {
        runloop *word = atomic_load_explicit(owner, memory_order_relaxed);
        if (word == loop)
            return 0;
        if (!word || (is_held(word) && !is_from_this_process(word))) {
            if (atomic_compare_exchange_strong(owner, &word, loop))
                return 0;
        } else if (is_held(word)) {
            await_word(owner, word);
        } else {
            return -EBUSY;
        }
    }
}
