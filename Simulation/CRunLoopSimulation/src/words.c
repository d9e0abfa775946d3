// words.c — threads of a simulation that sleep on a word of memory (futex): those that wait for a lock of Swift, and all others that do so.

#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "joined.h"

static long call(const long arguments[6], long operation) {
    return real_system_call()(SYS_futex, arguments[0], operation, arguments[2], arguments[3], arguments[4],
                              arguments[5]);
}

static bool has_no_owner(const void *object) {
    return (__atomic_load_n((const uint32_t *)object, __ATOMIC_RELAXED) & FUTEX_TID_MASK) == 0;
}

/// The kernel would hand the lock on.
static long lock_handed_on(const long arguments[6], long flags) {
    const uint32_t *word = (const uint32_t *)arguments[0];
    const struct runloop_simulated_wait wait = {
        .is_ready = has_no_owner, .object = word, .until_ns = INT64_MAX, .what = "a lock"};
    while (runloop_simulation__let_go_on((int32_t)(__atomic_load_n(word, __ATOMIC_RELAXED) & FUTEX_TID_MASK), wait)) {
        if (call(arguments, FUTEX_TRYLOCK_PI | flags) == 0)
            return 0;
    }
    return call(arguments, FUTEX_LOCK_PI | flags);
}

/// A word, and what it has while there is something to wait for.
struct awaited_word {
    const uint32_t *word;
    uint32_t value;
};

static bool is_other(const void *object) {
    const struct awaited_word *awaited = object;
    return __atomic_load_n(awaited->word, __ATOMIC_RELAXED) != awaited->value;
}

/// Whose word it is it does not say: a thread outside has a moment to change it. A thread that waits looks again afterwards, as the kernel may wake it
/// for no reason, too.
static long wait_for_word(const long arguments[6]) {
    const struct timespec moment = {.tv_nsec = 100000000};
    const struct awaited_word awaited = {(const uint32_t *)arguments[0], (uint32_t)arguments[2]};
    const struct timespec *limit = (const struct timespec *)arguments[3];
    struct runloop_simulated_wait wait = {
        .is_ready = is_other, .object = &awaited, .until_ns = INT64_MAX, .what = "a word in memory"};
    if (limit)
        wait.until_ns =
            runloop_simulation__joined.world->now_ns + runloop_simulation__instant_ns(CLOCK_MONOTONIC, limit);
    long result =
        real_system_call()(SYS_futex, arguments[0], arguments[1], arguments[2], &moment, arguments[4], arguments[5]);
    if (result == 0 || errno != ETIMEDOUT)
        return result;
    while (!is_other(&awaited)) {
        if (is_over(wait.until_ns)) {
            errno = ETIMEDOUT;
            return -1;
        }
        runloop_simulation__wait(wait);
    }
    return 0;
}

long runloop_simulation__futex(const long arguments[6]) {
    long flags = arguments[1] & ~(long)FUTEX_CMD_MASK;
    switch (arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI: return arguments[3] ? call(arguments, arguments[1]) : lock_handed_on(arguments, flags);
    case FUTEX_WAIT: return wait_for_word(arguments);
    // FUTEX_WAIT_BITSET is the run loops' own, for a lock that no thread keeps while it gives its turn away: perhaps a thread outside has it, and
    // reads a large table. That is no standstill.
    default: return call(arguments, arguments[1]);
    }
}
#endif // __linux__
