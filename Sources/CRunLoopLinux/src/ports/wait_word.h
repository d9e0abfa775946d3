// wait_word.h — sleeping on a word of this process until it changes, or until an instant.
#ifndef RUNLOOP_WAIT_WORD_H
#define RUNLOOP_WAIT_WORD_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"

// The kernel's numbers, of calls for one process: FUTEX_WAIT_BITSET takes an instant of CLOCK_MONOTONIC.
enum { WAIT_WORD_WAIT = 128 | 9, WAIT_WORD_WAKE = 128 | 1 };

/// What the call takes: the old one, where there is one, has the words of the machine.
struct wait_word_instant {
#if defined(SYS_futex_time64) && SYS_futex == SYS_futex_time64
    int64_t seconds, nanoseconds;
#else
    long seconds, nanoseconds;
#endif
};

/// Returns when the word is not `seen`, when somebody wakes, at the instant, or for no reason.
static inline void wait_word_wait(_Atomic uint32_t *word, uint32_t seen, int64_t deadline_ns) {
    int64_t seconds = deadline_ns / 1000000000;
    struct wait_word_instant instant = {.seconds = seconds < INT32_MAX ? (long)seconds : INT32_MAX,
                                        .nanoseconds = (long)(deadline_ns % 1000000000)};
    syscall(SYS_futex, (uint32_t *)word, WAIT_WORD_WAIT, seen, deadline_ns == RUNLOOP_NEVER ? NULL : &instant, NULL,
            UINT32_MAX);
}

static inline void wait_word_wake_all(_Atomic uint32_t *word) {
    syscall(SYS_futex, (uint32_t *)word, WAIT_WORD_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif // RUNLOOP_WAIT_WORD_H
