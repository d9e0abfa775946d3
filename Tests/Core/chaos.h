// chaos.h — delays before the core's atomic operations and system calls, at random, so that threads meet where they seldom do.
//
// Included into each source of the core by `SANITIZE=chaos Tests/bin/c-tests`. Before an operation the thread goes on at once, most often,
// gives its turn away, or sleeps for a moment; and a weak compare-exchange fails now and then, as it may. RUNLOOP_CHAOS_SEED and the
// order in which threads come here first decide what each does. The scheduler still has its say: a seed repeats delays, not a whole run.
#ifndef RUNLOOP_TESTS_CHAOS_H
#define RUNLOOP_TESTS_CHAOS_H

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/// How often, and how long at most.
enum { CHAOS_YIELDS_ONE_IN = 16, CHAOS_SLEEPS_ONE_IN = 512, CHAOS_FAILS_ONE_IN = 16, CHAOS_SLEEP_NS = 200000 };

// Weak, so that all files of the core share them.
__attribute__((weak)) _Thread_local uint64_t chaos_state;
__attribute__((weak)) uint64_t chaos_threads;

/// A xorshift generator. Its high bits are used.
static inline uint32_t chaos_next(void) {
    uint64_t state = chaos_state;
    if (state == 0) {
        const char *seed = getenv("RUNLOOP_CHAOS_SEED");
        uint64_t thread = __atomic_add_fetch(&chaos_threads, 1, __ATOMIC_RELAXED);
        state = ((seed ? strtoull(seed, NULL, 10) : 0) << 16 | thread) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    chaos_state = state;
    return (uint32_t)(state >> 32);
}

/// Also in signal handlers, and in calls that must be no cancellation points: leaves errno alone, and sleeps without the libc.
static inline void chaos_delay(void) {
    uint32_t number = chaos_next();
    int saved = errno;
    if (number % CHAOS_SLEEPS_ONE_IN == 0) {
        struct timespec time = {.tv_nsec = number / CHAOS_SLEEPS_ONE_IN % CHAOS_SLEEP_NS};
        syscall(SYS_nanosleep, &time, NULL);
    } else if (number % CHAOS_YIELDS_ONE_IN == 0) {
        sched_yield();
    }
    errno = saved;
}

static inline bool chaos_fails(void) {
    return chaos_next() % CHAOS_FAILS_ONE_IN == 0;
}

#define CHAOS(operation) (chaos_delay(), operation)

//===-- system calls -------------------------------------------------------------------------------------------------===//

// Not epoll_pwait2, which the core declares itself: the look before a wait ends with an atomic operation anyway.
#define syscall(...) CHAOS(syscall(__VA_ARGS__))
#define write(...) CHAOS(write(__VA_ARGS__))
#define poll(...) CHAOS(poll(__VA_ARGS__))
#define epoll_ctl(...) CHAOS(epoll_ctl(__VA_ARGS__))
#define epoll_wait(...) CHAOS(epoll_wait(__VA_ARGS__))
#define timerfd_settime(...) CHAOS(timerfd_settime(__VA_ARGS__))

//===-- atomic operations --------------------------------------------------------------------------------------------===//

// What <stdatomic.h> makes of them differs between compilers, too.
#ifdef __clang__
#define CHAOS_LOAD __c11_atomic_load
#define CHAOS_STORE __c11_atomic_store
#define CHAOS_EXCHANGE __c11_atomic_exchange
#define CHAOS_FETCH(name) __c11_atomic_##name
#define CHAOS_COMPARE_EXCHANGE __c11_atomic_compare_exchange_strong
#else
#define CHAOS_LOAD __atomic_load_n
#define CHAOS_STORE __atomic_store_n
#define CHAOS_EXCHANGE __atomic_exchange_n
#define CHAOS_FETCH(name) __atomic_##name
#define CHAOS_COMPARE_EXCHANGE(object, expected, value, success, failure)                                              \
    __atomic_compare_exchange_n(object, expected, value, false, success, failure)
#endif

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit

#define atomic_load_explicit(object, order) CHAOS(CHAOS_LOAD(object, order))
#define atomic_store_explicit(object, value, order) CHAOS(CHAOS_STORE(object, value, order))
#define atomic_exchange_explicit(object, value, order) CHAOS(CHAOS_EXCHANGE(object, value, order))
#define atomic_fetch_add_explicit(object, value, order) CHAOS(CHAOS_FETCH(fetch_add)(object, value, order))
#define atomic_fetch_sub_explicit(object, value, order) CHAOS(CHAOS_FETCH(fetch_sub)(object, value, order))
#define atomic_fetch_or_explicit(object, value, order) CHAOS(CHAOS_FETCH(fetch_or)(object, value, order))
#define atomic_fetch_and_explicit(object, value, order) CHAOS(CHAOS_FETCH(fetch_and)(object, value, order))
#define atomic_compare_exchange_strong_explicit(object, expected, value, success, failure)                             \
    CHAOS(CHAOS_COMPARE_EXCHANGE(object, expected, value, success, failure))
#define atomic_compare_exchange_weak_explicit(object, expected, value, success, failure)                               \
    (chaos_fails() ? (*(expected) = atomic_load_explicit(object, failure), false)                                      \
                   : atomic_compare_exchange_strong_explicit(object, expected, value, success, failure))

#define atomic_load(object) atomic_load_explicit(object, __ATOMIC_SEQ_CST)
#define atomic_store(object, value) atomic_store_explicit(object, value, __ATOMIC_SEQ_CST)
#define atomic_exchange(object, value) atomic_exchange_explicit(object, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(object, value) atomic_fetch_add_explicit(object, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(object, value) atomic_fetch_sub_explicit(object, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_or(object, value) atomic_fetch_or_explicit(object, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_and(object, value) atomic_fetch_and_explicit(object, value, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_strong(object, expected, value)                                                        \
    atomic_compare_exchange_strong_explicit(object, expected, value, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_weak(object, expected, value)                                                          \
    atomic_compare_exchange_weak_explicit(object, expected, value, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#endif // RUNLOOP_TESTS_CHAOS_H
