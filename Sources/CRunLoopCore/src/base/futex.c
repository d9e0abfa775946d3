// futex.c — sleeping on a word until another thread of the process changes it.

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

// The kernel's numbers; not every libc comes with the header that names them.
enum { FUTEX_WAIT_PRIVATELY = 128, FUTEX_WAKE_PRIVATELY = 129 };

void runloop__futex_wait(_Atomic uint32_t *word, uint32_t value) {
    int saved = errno;
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATELY, value, (void *)0, (void *)0, 0);
    errno = saved;
}

void runloop__futex_wake(_Atomic uint32_t *word, int threads) {
    int saved = errno;
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATELY, threads, (void *)0, (void *)0, 0);
    errno = saved;
}
