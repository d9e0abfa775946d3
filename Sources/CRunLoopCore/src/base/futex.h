// futex.h — sleeping on a word until another thread of the process changes it.
#ifndef RUNLOOP_FUTEX_H
#define RUNLOOP_FUTEX_H

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

// The kernel's numbers; not every libc comes with the header that names them.
enum { FUTEX_WAIT_PRIVATELY = 128, FUTEX_WAKE_PRIVATELY = 129 };

/// errno stays as it is: the interrupted code's, in a signal handler.
static inline void futex(_Atomic uint32_t *word, int operation, uint32_t value) {
    int saved = errno;
    syscall(SYS_futex, (uint32_t *)word, operation, value, (void *)0, (void *)0, 0);
    errno = saved;
}

/// Returns when the word is not `value`, when somebody wakes, or for no reason.
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value) {
    futex(word, FUTEX_WAIT_PRIVATELY, value);
}

static inline void futex_wake(_Atomic uint32_t *word, int threads) {
    futex(word, FUTEX_WAKE_PRIVATELY, (uint32_t)threads);
}

#endif // RUNLOOP_FUTEX_H
