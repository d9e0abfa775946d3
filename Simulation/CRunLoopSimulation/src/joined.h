// joined.h — what the functions that are defined again share: does the calling thread take part in a simulation, and what is libc's own?
#ifndef RUNLOOP_SIMULATION_JOINED_H
#define RUNLOOP_SIMULATION_JOINED_H

#include <stdatomic.h>

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
    bool decides; ///< who is next, so that what it calls is real
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

/// The function of that name which the program would have without these.
void *runloop_simulation__find(_Atomic(void *) *found, const char *name);
/// libc's own.
#define REAL(function)                                                                                                 \
    ({                                                                                                                 \
        static _Atomic(void *) found;                                                                                  \
        (__typeof__(&function))runloop_simulation__find(&found, #function);                                            \
    })

typedef long system_call_function(long number, ...);
system_call_function *real_system_call(void);

/// faults.c: a thread that takes part makes a system call. False if it is none that is changed.
bool runloop_simulation__faulty_call(long number, const long arguments[6], long *result);
/// locks.c: a thread that takes part calls futex(2).
long runloop_simulation__futex(const long arguments[6]);

#endif // RUNLOOP_SIMULATION_JOINED_H
