// runloop_simulation.h — what RunLoopKitSimulation needs in C: which threads take part in a simulation, and what the time and the dice are there.
#ifndef RUNLOOP_SIMULATION_H
#define RUNLOOP_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__clang__)
#define RUNLOOP_SIMULATION_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define RUNLOOP_SIMULATION_SENDABLE
#endif

/// What the threads of a simulation share. Read and written by the one whose turn it is.
struct runloop_simulated_world {
    int64_t now_ns;  ///< since the machine was started
    uint64_t random; ///< the state of the dice
    bool has_dice;   ///< they were thrown before
    /// The state of the dice, when they are thrown for the first time.
    uint64_t (*RUNLOOP_SIMULATION_SENDABLE first_random)(void *simulation);
};

/// The calling thread takes part in a simulation from now on, or in none (NULL): clock_gettime and what is built on it shows the world's time,
/// and random numbers come from its dice. All else of the thread stays real.
void runloop_simulation_join(struct runloop_simulated_world *world, void *simulation);
/// The simulation with which the calling thread joined, or NULL.
void *runloop_simulation_current(void);

/// SplitMix64: any state is as good as any other.
uint64_t runloop_simulation_next_random(uint64_t *state);

#endif // RUNLOOP_SIMULATION_H
