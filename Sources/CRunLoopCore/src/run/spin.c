// spin.c — spinning for a moment before a sleep, in the hope of a wake-up, where that was asked for (runloop_set_spin).
//
// Putting a core to sleep and waking it costs microseconds, a wake-up seen by a thread that is awake a fraction of one. So spinning pays
// if wake-ups come close after one another from another core, and is a waste otherwise, above all where the waker needs this very core.
// The loop finds out by itself: each spin in vain doubles the number of sleeps before the next one.
//
// A spin comes before the sleep is announced: a waker changes the wake word and writes nothing, and if nobody comes, the loop goes to sleep
// as it always does, looking at everything once more. So nothing can be missed here; what comes without a wake-up (a timer brought
// forward, a mode emptied) is noticed at most so much later as the spin takes.

#ifdef __linux__
#include "run/run.h"

enum { LOOKS_PER_READING = 32, SKIPPED_AT_MOST = 4096 };

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

int runloop_set_spin(runloop *loop, int64_t limit_ns) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (limit_ns < 0 || limit_ns > RUNLOOP_SPIN_LIMIT_MAX)
        return -EINVAL;
    atomic_store_explicit(&loop->spin_limit_ns, limit_ns, memory_order_relaxed);
    return 0;
}

int64_t runloop_get_spin(runloop *loop) {
    return loop_check(loop) ? 0 : atomic_load_explicit(&loop->spin_limit_ns, memory_order_relaxed);
}

/// Whether there is anything that spares the sleep, as far as can be seen without the lock.
static bool sees_something(const struct run *run) {
    const runloop *loop = run->loop;
    return wake_has_news(&loop->wake) || atomic_load_explicit(&loop->latched_stop, memory_order_relaxed) ||
           atomic_load_explicit(&run->mode->stop_requested, memory_order_relaxed) ||
           signals_may_wait(loop, run->mode) || tasks_may_wait(loop);
}

/// A spin never takes longer than the sleep would.
static int64_t end_of(const struct run *run, int64_t now_ns, int64_t limit_ns) {
    int64_t end_ns = now_ns + limit_ns;
    loop_lock(run->loop);
    int64_t timers_ns = runloop__timers_latest(run->mode);
    loop_unlock(run->loop);
    if (timers_ns < end_ns)
        end_ns = timers_ns;
    return run->deadline_ns < end_ns ? run->deadline_ns : end_ns;
}

static bool spin(const struct run *run, int64_t limit_ns) {
    int64_t now_ns = loop_now(run->loop), end_ns = end_of(run, now_ns, limit_ns);
    for (; now_ns < end_ns; now_ns = loop_now(run->loop)) {
        for (int i = 0; i < LOOKS_PER_READING; i++) {
            if (sees_something(run))
                return true;
            relax();
        }
        // The kernel alone knows of descriptors.
        if (atomic_load_explicit(&run->mode->watched_count, memory_order_relaxed) > 0 &&
            runloop__registrations_poll(run->loop) > 0)
            return true;
    }
    return false;
}

void runloop__spin(struct run *run) {
    runloop *loop = run->loop;
    if (loop->spins_to_skip > 0) {
        loop->spins_to_skip--;
        return;
    }
    if (sees_something(run) || run->serves_main_queue || loop->clock.now)
        return;
    if (spin(run, atomic_load_explicit(&loop->spin_limit_ns, memory_order_relaxed)))
        loop->spin_skips = 0;
    else if (loop->spin_skips < SKIPPED_AT_MOST)
        loop->spin_skips = loop->spin_skips == 0 ? 1 : 2 * loop->spin_skips;
    loop->spins_to_skip = loop->spin_skips;
}
#endif // __linux__
