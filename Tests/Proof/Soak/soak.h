// soak.h — what the parts of the soak are made of: loops of every kind at once, and works whose every hand-over is counted on both sides.
//
// A *place* is a thread with a loop. A *work* is set up in all places at once by the conductor's thread, kept going by calls of `produce`
// (from threads without a loop) and of `pump` (from each loop, every two milliseconds), and counts what was given and what was taken. When
// nobody gives any more, the two must become equal.
#ifndef RUNLOOP_SOAK_H
#define RUNLOOP_SOAK_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runloop.h"
#include "runloop_host.h"
#include "runloop_linux.h"

#define MODE RUNLOOP_DEFAULT_MODE
#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

/// The soak's own needs: a failure here is not the loop's.
#define MUST(condition) ((condition) ? (void)0 : must_not_fail(#condition, __FILE__, __LINE__))
_Noreturn void must_not_fail(const char *condition, const char *file, int line);

//===-- places (places.c) --------------------------------------------------------------------------------------------===//

enum { MAIN_PLACE, PLAIN_PLACE, POLL_HOST, EPOLL_HOST, PLACES };

struct place {
    runloop *loop;
    unsigned index, seed; ///< the seed is the place's thread's
};
extern struct place places[PLACES];

/// Begins the threads of all places but the main one; returns when each has its loop, and before any runs.
void begin_places(unsigned seed);
/// On the initial thread: runs the main place until end_places.
void run_main_place(void);
void run_places(void);
void end_places(void);
/// Another place of the same soak.
static inline struct place *place_after(const struct place *place) {
    return &places[(place->index + 1) % PLACES];
}

//===-- counts -------------------------------------------------------------------------------------------------------===//

struct count {
    const char *name;
    _Atomic uint64_t given, taken;
    /// What it counts, and when the two are equal. A gauge goes up and down; sleeps are compared when the loops have ended.
    enum { OPERATIONS, BYTES, GAUGE, SLEEPS } kind;
};
enum { MAX_COUNTS = 32 };

static inline void give(struct count *count, uint64_t number) {
    atomic_fetch_add_explicit(&count->given, number, memory_order_relaxed);
}
static inline void take(struct count *count, uint64_t number) {
    atomic_fetch_add_explicit(&count->taken, number, memory_order_relaxed);
}
/// Whether more than so many are under way, so that nobody gives without end to who is slow.
static inline bool is_behind(struct count *count, uint64_t most) {
    return atomic_load_explicit(&count->given, memory_order_relaxed) -
               atomic_load_explicit(&count->taken, memory_order_relaxed) >
           most;
}

//===-- works --------------------------------------------------------------------------------------------------------===//

struct work {
    const char *name;
    void (*begin)(void);
    void (*produce)(unsigned *seed); ///< on a thread without a loop; or NULL
    void (*pump)(struct place *);    ///< on the place's thread; or NULL
    void (*end)(void);               ///< all has been taken; or NULL
    struct count *counts[4];
    bool ends_after_loops;
};
extern const struct work core_works[], message_works[], stream_works[], process_works[], crowd_works[];

/// Nobody gives any more.
extern atomic_bool is_over;
/// What went wrong otherwise: an unexpected error, a message out of order. Told at once, and the soak fails.
void complain(const char *what, long number);

/// A million timers, a hundred thousand descriptors, ten thousand threads, in a thread of its own (crowd_works.c).
void *meet_crowds(void *unused);

static inline unsigned dice(unsigned *seed, unsigned sides) {
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 16) % sides;
}

static inline void end_source(runloop_source **source) {
    if (*source) {
        runloop_source_invalidate(*source);
        runloop_source_release(*source);
    }
    *source = NULL;
}

#endif // RUNLOOP_SOAK_H
