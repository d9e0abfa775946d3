// spin.c — looking out for a wake-up for a moment before going to sleep, where that was asked for (runloop_set_spin).
//
// Putting a core to sleep and waking it costs microseconds, a wake-up seen by a thread that is awake a fraction of one. So the look-out
// pays if wake-ups come close after one another from another core, and is a waste otherwise, above all where the waker
// needs this very core. It finds out by itself: each look-out in vain doubles the number of sleeps before the next one.
//
// It comes before the sleep is announced: who wakes the loop meanwhile changes the wake word and writes nothing, and if
// nobody does, the loop goes to sleep as it always does, looking at everything once more. So nothing can be missed here; what
// comes without a wake-up (a timer brought forward, a mode emptied) is noticed at most so much later as the look-out takes.

#include "wake.h"

enum { LOOKS_PER_READING = 32, SKIPPED_AT_MOST = 4096 };

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

int runloop_set_spin(runloop *loop, int64_t limit_ns) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (limit_ns < 0 || limit_ns > RUNLOOP_SPIN_AT_MOST)
        return -EINVAL;
    atomic_store_explicit(&loop->spin_limit_ns, limit_ns, memory_order_relaxed);
    return 0;
}

int64_t runloop_get_spin(runloop *loop) {
    return runloop__check(loop) ? 0 : atomic_load_explicit(&loop->spin_limit_ns, memory_order_relaxed);
}

/// Whether there is anything that spares the sleep, as far as can be seen without the lock.
static bool sees_something(struct run *run) {
    runloop *loop = run->loop;
    return wake_has_news(loop) || atomic_load_explicit(&loop->latched_stop, memory_order_relaxed) ||
           atomic_load_explicit(&run->mode->stop_requested, memory_order_relaxed) ||
           runloop__source_may_be_signalled(loop) || runloop__perform_may_have_work(loop);
}

/// A look-out never takes longer than the sleep would.
static int64_t end_of(struct run *run, int64_t now_ns, int64_t limit_ns) {
    int64_t end_ns = now_ns + limit_ns;
    runloop__lock(run->loop);
    int64_t timers_ns = runloop__timers_latest(run->mode);
    runloop__unlock(run->loop);
    if (timers_ns < end_ns)
        end_ns = timers_ns;
    return run->deadline_ns < end_ns ? run->deadline_ns : end_ns;
}

static bool look_out(struct run *run, int64_t limit_ns) {
    int64_t now_ns = runloop_now_ns(), end_ns = end_of(run, now_ns, limit_ns);
    for (; now_ns < end_ns; now_ns = runloop_now_ns()) {
        for (int i = 0; i < LOOKS_PER_READING; i++) {
            if (sees_something(run))
                return true;
            relax();
        }
        // The kernel alone knows of descriptors.
        if (atomic_load_explicit(&run->mode->descriptor_count, memory_order_relaxed) > 0 &&
            runloop__portset_wait(run->loop, 0, &run->timer_ended_wait) > 0) {
            runloop__unlock(run->loop);
            return true;
        }
    }
    return false;
}

void runloop__spin(struct run *run) {
    struct spin *spin = &run->loop->spin;
    if (spin->to_skip > 0) {
        spin->to_skip--;
        return;
    }
    if (sees_something(run) || run->serves_main_queue)
        return;
    if (look_out(run, atomic_load_explicit(&run->loop->spin_limit_ns, memory_order_relaxed)))
        spin->skips = 0;
    else
        spin->skips = spin->skips == 0 ? 1 : spin->skips < SKIPPED_AT_MOST ? 2 * spin->skips : SKIPPED_AT_MOST;
    spin->to_skip = spin->skips;
}
