// read_words.c — reads memory that another thread may be giving back: the kernel copies it, and fails where a load would end the process.

#ifdef __linux__
#define _GNU_SOURCE
#include <sys/uio.h>
#include <unistd.h>

#include "runloop_executors.h"

bool runloop_read_words(uintptr_t address, uintptr_t *first, uintptr_t *second) {
    uintptr_t words[2];
    struct iovec here = {.iov_base = words, .iov_len = sizeof words};
    struct iovec there = {.iov_base = (void *)address, .iov_len = sizeof words};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)sizeof words)
        return false;
    *first = words[0];
    *second = words[1];
    return true;
}
#endif // __linux__
