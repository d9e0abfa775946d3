// runloop_simulation.h — what RunLoopKitSimulation needs in C: which threads take part in a simulation, and what time, dice, locks and the
// kernel are there.
#ifndef RUNLOOP_SIMULATION_H
#define RUNLOOP_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__clang__)
#define RUNLOOP_SIMULATION_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define RUNLOOP_SIMULATION_SENDABLE
#endif

enum { RUNLOOP_SIMULATION_THREADS = 64 };

/// What the threads of a simulation share. Read and written by the one whose turn it is.
struct runloop_simulated_world {
    int64_t now_ns;  ///< since the machine was started
    uint64_t random; ///< the state of the dice
    bool has_dice;   ///< they were thrown before
    /// The kernel's numbers of the threads that take part, for who wants to know whose a lock is. Those that find no place here are
    /// taken for threads outside.
    int32_t threads[RUNLOOP_SIMULATION_THREADS];
    /// The state of the dice, when they are thrown for the first time.
    uint64_t (*RUNLOOP_SIMULATION_SENDABLE first_random)(void *simulation);
    /// The calling thread wants a lock that another one has, which `is_ours`, or may be: others go on first. False if none can.
    bool (*RUNLOOP_SIMULATION_SENDABLE contend)(void *simulation, bool is_ours);
};

/// The calling thread takes part in a simulation from now on, as one of its members, or in none (NULL): clock_gettime and what is built
/// on it shows the world's time, and random numbers come from its dice. All else of the thread stays real.
void runloop_simulation_join(struct runloop_simulated_world *world, void *simulation, int32_t member);
/// The simulation with which the calling thread joined, or NULL; also while it decides who is next (runloop_simulation_enter).
void *runloop_simulation_current(void);
/// The member as which it joined.
int32_t runloop_simulation_member(void);

/// The calling thread, which takes part, begins to decide who is next: until runloop_simulation_exit, its locks are real. False if it has
/// begun already, or takes part in nothing.
bool runloop_simulation_enter(void);
void runloop_simulation_exit(void);

/// Waits until a turn is given, and takes it. Each word, 0 at first, is one thread's.
void runloop_simulation_await_turn(uint32_t *turn);
void runloop_simulation_give_turn(uint32_t *turn);

/// The calls that led here, the innermost first: where they return to. How many; 0 where libc does not tell.
int32_t runloop_simulation_calls(void **calls, int32_t count);

/// SplitMix64: any state is as good as any other.
uint64_t runloop_simulation_next_random(uint64_t *state);

#endif // RUNLOOP_SIMULATION_H
