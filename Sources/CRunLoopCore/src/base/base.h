// base.h — what every layer builds on: asserts, the process and its forks, locks, the slab, time, names. Knows nothing of loops.
#ifndef RUNLOOP_BASE_H
#define RUNLOOP_BASE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/process.h"
#include "runloop.h"
#include "runloop_list.h"
#include "runloop_overlay.h"

/// Thread-local variables at a fixed distance from the thread's pointer. glibc reserves space there for a library that is loaded by dlopen;
/// other C libraries (musl) refuse to load it.
#if defined(__GNUC__) && defined(__GLIBC__)
#define FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define FAST_TLS
#endif

/// A part of the iteration that is used in several places, and inlined in each: an iteration may be all that a program does.
#define INLINE static inline __attribute__((always_inline))

/// Keeps a rare path out of its caller.
#define COLD __attribute__((noinline, cold, unused))

//===-- fatal errors (fatal.c) ---------------------------------------------------------------------------------------===//

/// Writes the sentence to standard error and ends the program.
_Noreturn void runloop__fatal(const char *sentence);

// Sanitizers need to see each block and each freed item.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer)
#undef RUNLOOP_SLAB_IS_MALLOC
#define RUNLOOP_SLAB_IS_MALLOC
#endif

//===-- the slab (slab.c) --------------------------------------------------------------------------------------------===//

/// Blocks of few sizes that come and go by the million, on whatever thread.
enum slab_class { SLAB_TASK, SLAB_TIMER, SLAB_REPEATING_TIMER, SLAB_CLASSES };
enum { SLAB_TASK_SIZE = 64, SLAB_TIMER_SIZE = 128, SLAB_REPEATING_TIMER_SIZE = 160 };

/// Uninitialised; NULL when memory ran out. O(1), mostly without a lock.
void *runloop__slab_new(enum slab_class class);
void runloop__slab_free(enum slab_class class, void *block);

//===-- arrays -------------------------------------------------------------------------------------------------------===//

/// Grows the capacity by half, and by four. NULL when memory ran out: then nothing has changed.
static COLD void *grow_array(void *entries, uint32_t *capacity, size_t entry_size) {
    uint32_t grown = *capacity + *capacity / 2 + 4;
    entries = realloc(entries, grown * entry_size);
    if (entries)
        *capacity = grown;
    return entries;
}

//===-- trees of what is never removed: readers need no lock ---------------------------------------------------------===//

// Two bits of a hash choose the branch at each node, from the highest on. After all 64, the rest is a list.
enum { BRANCHES = 4 };
#define HASH_FACTOR UINT64_C(0x9E3779B97F4A7C15)

static inline unsigned branch_of(uint64_t hash) {
    return (unsigned)(hash >> 62);
}
static inline uint64_t branch_next(uint64_t hash) {
    return hash << 2;
}

//===-- time, and names (name.c) -------------------------------------------------------------------------------------===//

/// The machine's clock: CLOCK_MONOTONIC. A loop may have another one.
static inline int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/// Saturates at RUNLOOP_NEVER and INT64_MIN.
static inline int64_t saturating_add(int64_t instant_ns, int64_t duration_ns) {
    int64_t sum;
    if (__builtin_add_overflow(instant_ns, duration_ns, &sum))
        return duration_ns > 0 ? RUNLOOP_NEVER : INT64_MIN;
    return sum;
}

/// Of the process that this one is now. System calls are made at the first question alone.
static inline bool is_initial_thread(void) {
    // First: a child forgets what its thread was in the parent.
    runloop__generation();
    struct runloop__this_thread *thread = &runloop__this_thread;
    if (thread->place == RUNLOOP__UNKNOWN)
        thread->place = syscall(SYS_gettid) == getpid() ? RUNLOOP__INITIAL : RUNLOOP__OTHER;
    return thread->place == RUNLOOP__INITIAL;
}

/// The interned name of equal text, or NULL if there is none yet. O(log n) in the number of names.
const char *runloop__name_find(const char *name);

/// Is it the name that stands for all common modes?
static inline bool is_common_name(const char *name) {
    return name == runloop__common_modes || strcmp(name, runloop__common_modes) == 0;
}

#endif // RUNLOOP_BASE_H
