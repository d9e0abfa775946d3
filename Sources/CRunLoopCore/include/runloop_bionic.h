// runloop_bionic.h — what Bionic, Android's C library, lacks of that which the C libraries call. They share it, and nobody else: it is not
// installed. Elsewhere it is empty. By macros, as a later Bionic may declare the same names.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_BIONIC_H
#define RUNLOOP_BIONIC_H
#ifdef __ANDROID__

#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// No thread is ever cancelled there (pthread_cancel), so none has to be kept from it.

#ifndef PTHREAD_CANCEL_DISABLE
#define PTHREAD_CANCEL_DISABLE 1
#endif

static inline int runloop__keep_cancel_state(int state, int *before) {
    if (before)
        *before = state;
    return 0;
}
#define pthread_setcancelstate runloop__keep_cancel_state

static inline char *runloop__secure_getenv(const char *name) {
    return getauxval(AT_SECURE) ? NULL : getenv(name);
}
#define secure_getenv runloop__secure_getenv

#if __ANDROID_API__ < 30
static inline int runloop__memfd_create(const char *name, unsigned flags) {
    return (int)syscall(SYS_memfd_create, name, flags);
}
#define memfd_create runloop__memfd_create
#endif

#endif // __ANDROID__
#endif // RUNLOOP_BIONIC_H
