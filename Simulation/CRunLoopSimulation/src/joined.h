// joined.h — what the functions that are defined again share: does the calling thread take part in a simulation, and what is libc's own?
#ifndef RUNLOOP_SIMULATION_JOINED_H
#define RUNLOOP_SIMULATION_JOINED_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "runloop_simulation.h"

/// Called by threads that a sanitizer does not know yet, or any more.
#if defined(__has_attribute) && __has_attribute(disable_sanitizer_instrumentation)
#define UNINSTRUMENTED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNINSTRUMENTED
#endif

/// What a thread knows of its simulation; nobody else reads or writes it.
struct joined {
    struct runloop_simulated_world *world; ///< NULL: it takes part in none
    void *simulation;                      ///< NULL: it has the world's time, and nothing else
    struct runloop_simulated_thread *place;
    int32_t member;
    bool decides;  ///< which one is next, so that what it calls is real
    int32_t looks; ///< at the clock, while it shows looked_at_ns
    int64_t looked_at_ns, looked_for_ns;
    void *stack;        ///< for the handler of traps; NULL: the thread has another one, or none
    uint32_t unblocked; ///< which of the signals of traps it had blocked, a bit for each
};
extern __thread struct joined runloop_simulation__joined;

/// Is what the calling thread does simulated, at this moment?
UNINSTRUMENTED static inline bool is_simulated(void) {
    return runloop_simulation__joined.simulation && !runloop_simulation__joined.decides;
}

/// Has the calling thread a world's time?
UNINSTRUMENTED static inline bool is_in_world(void) {
    return runloop_simulation__joined.world && !runloop_simulation__joined.decides;
}

/// Has the world's time come to that instant?
static inline bool is_over(int64_t until_ns) {
    return until_ns <= runloop_simulation__joined.world->now_ns;
}

/// The function of that name which the program would have without these.
void *runloop_simulation__find(_Atomic(void *) *found, const char *name);
/// libc's own.
#define REAL(function)                                                                                                 \
    ({                                                                                                                 \
        static _Atomic(void *) found;                                                                                  \
        (__typeof__(&function))runloop_simulation__find(&found, #function);                                            \
    })

enum { RUNLOOP__FUTEX_WAIT = 128, RUNLOOP__FUTEX_WAKE = 129 }; ///< of this process alone

typedef long system_call_function(long number, ...);
system_call_function *real_system_call(void);

/// dice.c: the next random bytes of a thread that takes part, and whether a descriptor is one to read such from.
void runloop_simulation__throw_dice(void *bytes, size_t count);
bool runloop_simulation__is_dice(int descriptor);
/// faults.c: a thread that takes part makes a system call. False if the call is not changed.
bool runloop_simulation__faulty_call(long number, const long arguments[6], long *result);
/// traps.c: the calling thread begins or ceases to take part.
void runloop_simulation__watch_traps(struct joined *joined);
void runloop_simulation__forget_traps(struct joined *joined);
/// Does the thread stay where it is for good, after a trap?
bool runloop_simulation__is_parked(int32_t thread);
/// Where the library or the program is loaded that has the address, and the symbol before that. NULL if nothing is.
void *runloop_simulation__base_of(const void *address, const char **symbol);
/// To standard error, also in a signal handler.
void runloop_simulation__print(const char *text);
/// locks.c: others go on until the calling thread, which takes part, may look again.
void runloop_simulation__wait(struct runloop_simulated_wait wait);
/// sleeps.c: the calling thread, which takes part, looks at the clock so often, or does something else that is no wait by itself.
void runloop_simulation__note_looks(int32_t count);
/// What the simulation's time is then.
int64_t runloop_simulation__instant_ns(clockid_t clock, const struct timespec *date);
/// A thread has the lock that this one wants. False if the lock is to be awaited as ever.
bool runloop_simulation__let_go_on(int32_t thread, struct runloop_simulated_wait wait);
/// places.c: is it one at which the turn may change, where that lock is taken or given back? By a thread that takes part, which passes it.
bool runloop_simulation__is_place(const pthread_mutex_t *mutex, const void *caller);
void runloop_simulation__pass_place(void);
/// In a field of a mutex of glibc's that has no meaning there, unless it is one that spins: those of the library's own have it from RunLoopKit.
enum { RUNLOOP__SPINS_OF_LIBRARY = 0x524c };
/// words.c: a thread that takes part calls futex(2).
long runloop_simulation__futex(const long arguments[6]);

#endif // RUNLOOP_SIMULATION_JOINED_H
