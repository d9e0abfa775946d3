// places.c — where a thread of a simulation takes a lock or gives one back, or is about to wait for a continuation: places at which the turn may change,
// though nothing was sent. So what a program does between two sections that are locked need not be one step.
//
// There are many of them, so most are only counted. What the library locks for itself is no place, and what the runtime and Foundation lock for
// themselves is none either: how often they do that depends on what the process has done before.

#ifdef __linux__
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "joined.h"

extern void swift_release(void *object) __attribute__((weak));

/// Up to the last slash.
static size_t folder_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (size_t)(slash - path) : 0;
}

/// In a library of the toolchain's, which are in one folder, unless a lock of Foundation's is taken for the program.
static bool is_of_toolchain(const void *caller) {
    Dl_info own, runtime, found;
    if (!&swift_release || !dladdr((void *)&swift_release, &runtime) || !dladdr((void *)&is_of_toolchain, &own) ||
        !dladdr(caller, &found) || runtime.dli_fbase == own.dli_fbase || found.dli_fbase == own.dli_fbase)
        return false;
    size_t length = folder_of(runtime.dli_fname);
    if (length != folder_of(found.dli_fname) || strncmp(runtime.dli_fname, found.dli_fname, length) != 0)
        return false;
    return !found.dli_sname || (!strstr(found.dli_sname, "LockC") && !strstr(found.dli_sname, "NSConditionC"));
}

/// The same, of callers that were looked up before: each word is an address, and the last bit says what it is.
static bool is_known_of_toolchain(const void *caller) {
    enum { KNOWN = 1024 };
    static _Atomic(uintptr_t) known[KNOWN];
    uintptr_t address = (uintptr_t)caller << 1;
    _Atomic(uintptr_t) *place = &known[((uintptr_t)caller >> 2) % KNOWN];
    uintptr_t word = atomic_load_explicit(place, memory_order_relaxed);
    if ((word & ~(uintptr_t)1) == address)
        return word & 1;
    bool is = is_of_toolchain(caller);
    atomic_store_explicit(place, address | is, memory_order_relaxed);
    return is;
}

bool runloop_simulation__is_place(const pthread_mutex_t *mutex, const void *caller) {
#if defined(__GLIBC__)
    if (mutex->__data.__spins == RUNLOOP__SPINS_OF_LIBRARY)
        return false;
#else
    (void)mutex;
#endif
    return !is_known_of_toolchain(caller);
}

void runloop_simulation__pass_place(void) {
    struct joined *joined = &runloop_simulation__joined;
    struct runloop_simulated_world *world = joined->world;
    if (world->pass_place && --world->places_left <= 0)
        world->pass_place(joined->simulation);
}

//===-- before a continuation is awaited ------------------------------------------------------------------------------===//

// Functions of the Swift runtime's that a program calls before it says where its continuation is to be found. In a program that has the runtime in
// itself, the runtime's own are used.

static void pass_if_simulated(void) {
    if (is_simulated())
        runloop_simulation__pass_place();
}

/// The continuation is made.
__attribute__((weak)) void *swift_continuation_init(void *context, uintptr_t flags) {
    pass_if_simulated();
    return REAL(swift_continuation_init)(context, flags);
}

/// `Task.isCancelled`: what it says may not hold any more when the program acts upon it.
#define IS_CANCELLED "$sScTss5NeverORszABRs_rlE11isCancelledSbvgZ"
bool runloop_simulation__is_cancelled(void) __asm__(IS_CANCELLED);

__attribute__((weak)) bool runloop_simulation__is_cancelled(void) {
    static _Atomic(void *) found;
    bool is_cancelled = ((bool (*)(void))runloop_simulation__find(&found, IS_CANCELLED))();
    pass_if_simulated();
    return is_cancelled;
}

#if __has_attribute(swift_error_result)

/// `try Task.checkCancellation()`, the same. Its error has a register of its own.
#define CHECK_CANCELLATION "$sScTss5NeverORszABRs_rlE17checkCancellationyyKFZ"
#define CONTEXT __attribute__((swift_context))
#define ERROR __attribute__((swift_error_result))
typedef void check_function(CONTEXT void *context, ERROR void **error) __attribute__((swiftcall));
__attribute__((swiftcall)) void runloop_simulation__check_cancellation(CONTEXT void *context,
                                                                       ERROR void **error) __asm__(CHECK_CANCELLATION);

__attribute__((weak, swiftcall)) void runloop_simulation__check_cancellation(CONTEXT void *context,
                                                                             ERROR void **error) {
    static _Atomic(void *) found;
    void *thrown = NULL;
    ((check_function *)runloop_simulation__find(&found, CHECK_CANCELLATION))(context, &thrown);
    pass_if_simulated();
    *error = thrown;
}

#endif
#endif // __linux__
