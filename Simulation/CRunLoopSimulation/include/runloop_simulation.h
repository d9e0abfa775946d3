// runloop_simulation.h — what RunLoopKitSimulation needs in C: which threads take part in a simulation, and what time, dice, locks and the
// kernel are there.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_SIMULATION_H
#define RUNLOOP_SIMULATION_H
#ifdef __linux__

#include <stdbool.h>
#include <stdint.h>

#if defined(__clang__)
#define RUNLOOP_SIMULATION_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define RUNLOOP_SIMULATION_SENDABLE
#endif

enum {
    RUNLOOP_SIMULATION_THREADS = 64,
    RUNLOOP_SIMULATION_CALLS = 64,
    RUNLOOP_SIMULATION_MESSAGE = 1024,
    RUNLOOP_SIMULATION_NAME = 256,
};

/// What the kernel may do to a simulation.
enum runloop_simulation_fault {
    RUNLOOP_SIMULATION_NO_DESCRIPTORS = 1, ///< EMFILE, wherever a descriptor is made; those of a message are lost
    RUNLOOP_SIMULATION_NO_MEMORY = 2,      ///< ENOMEM, wherever a descriptor is made, and of messages
    RUNLOOP_SIMULATION_REFUSED = 4,        ///< ECONNREFUSED of connect
    RUNLOOP_SIMULATION_SHORT = 8,          ///< reads and writes of streams do a part
    RUNLOOP_SIMULATION_RESET = 16,         ///< ECONNRESET of those, and of channels
    RUNLOOP_SIMULATION_NO_SPACE = 32,      ///< ENOSPC of writes to files
    RUNLOOP_SIMULATION_NO_CHILD = 64,      ///< ECHILD of waitid, when a child has ended
    RUNLOOP_SIMULATION_SMALL = 128,        ///< Unix streams have the smallest buffers that there are
};

/// What a thread of a simulation waits for: until it is ready, or an instant.
struct runloop_simulated_wait {
    /// Asked by whichever thread chooses the next one. NULL: only the instant counts.
    bool (*RUNLOOP_SIMULATION_SENDABLE is_ready)(const void *object);
    const void *object;
    int64_t until_ns;  ///< of the world's time; INT64_MAX: without a limit
    const char *what;  ///< in words: "a lock"
    bool is_of_kernel; ///< it may come from another process
    int32_t looks;     ///< the thread has looked at the clock so often, and does nothing else
};

/// What would have ended the process on a thread of a simulation, and stays there.
struct runloop_simulated_trap {
    int32_t member;          ///< of that thread
    int32_t signal;          ///< 0: exit(3) or one of its kind was called; -1: it waits for what never comes
    int32_t status;          ///< of that
    const char *signal_name; ///< or the function's
    void *task;              ///< of the Swift runtime's, NULL outside of tasks
    int32_t count;           ///< of the calls
    void *calls[RUNLOOP_SIMULATION_CALLS];
};

/// What the threads of a simulation share. Read and written by the one whose turn it is.
struct runloop_simulated_world {
    int64_t now_ns;         ///< since the machine was started
    int64_t wall_offset_ns; ///< what the wall clock shows more
    int64_t boot_offset_ns; ///< what CLOCK_BOOTTIME shows more
    uint64_t random;        ///< the state of the dice
    bool has_dice;          ///< they were thrown before
    /// The threads that take part, to know whose a lock is. Those that find no place here are taken for threads outside.
    struct runloop_simulated_thread {
        int32_t number;  ///< the kernel's; 0: none
        bool is_waiting; ///< for its turn
    } threads[RUNLOOP_SIMULATION_THREADS];
    struct simulated_timer *timers; ///< timerfds
    unsigned faults;                ///< that may happen
    /// Which way a call goes: 0 is the usual one.
    unsigned (*RUNLOOP_SIMULATION_SENDABLE choose)(void *simulation, unsigned ways);
    /// The state of the dice, when they are thrown for the first time.
    uint64_t (*RUNLOOP_SIMULATION_SENDABLE first_random)(void *simulation);
    /// The calling thread has to wait: others go on until it may look again.
    void (*RUNLOOP_SIMULATION_SENDABLE wait)(void *simulation, const struct runloop_simulated_wait *wait);
    /// It has done something upon which others may act before it goes on. NULL: nothing that is to be told.
    void (*RUNLOOP_SIMULATION_SENDABLE sent)(void *simulation, const char *what);
    /// It has come to the last of so many places at which the turn may change though nothing was sent. NULL: there are none.
    void (*RUNLOOP_SIMULATION_SENDABLE pass_place)(void *simulation);
    int64_t places_left;
    /// The Swift runtime says that a continuation was dropped. False if that is of no interest.
    bool (*RUNLOOP_SIMULATION_SENDABLE leak)(void *simulation, const char *text);
    /// A task was made. NULL: that is of no interest.
    void (*RUNLOOP_SIMULATION_SENDABLE created)(void *simulation, void *task);
    /// The thread is about to cancel a task, or, without one, a group. NULL: that is of no interest.
    void (*RUNLOOP_SIMULATION_SENDABLE cancels)(void *simulation, void *task);
    /// It has thrown an error, whose type alone may be known. NULL: that is of no interest.
    void (*RUNLOOP_SIMULATION_SENDABLE thrown)(void *simulation, void *error, const void *type);
    uint32_t *main_turn; ///< the first member's; NULL: a trap ends the process
    uint32_t *heir_turn; ///< that of the thread which goes on if the first member's thread can't
    bool has_trap;       ///< the turn was given because of it
    struct runloop_simulated_trap trap;
    bool has_message; ///< of the Swift runtime's, which nobody has printed yet
    char message[RUNLOOP_SIMULATION_MESSAGE];
    char name[RUNLOOP_SIMULATION_NAME]; ///< of the run, for a process that ends
};

/// A run of a simulation begins or ends, of which a process that ends meanwhile says the name.
void runloop_simulation_begin_run(struct runloop_simulated_world *world, const char *name);
void runloop_simulation_end_run(struct runloop_simulated_world *world);

/// The calling thread waits for what never comes, and stays where it is, as after a trap.
_Noreturn void runloop_simulation_stay(void);

/// What the Swift runtime has said last, or NULL.
const char *runloop_simulation_trap_message(const struct runloop_simulated_world *world);
/// The calls that led to the trap, the innermost first; NULL after the last.
void *runloop_simulation_trap_call(const struct runloop_simulated_world *world, int32_t index);

/// The world's clocks show what the machine's do, at this instant.
void runloop_simulation_set_clocks(struct runloop_simulated_world *world);
/// The earliest instant at which a timer descriptor is due, INT64_MAX if none is.
int64_t runloop_simulation_next_timer_ns(const struct runloop_simulated_world *world);
/// Time has passed: those that are due become readable.
void runloop_simulation_fire_timers(struct runloop_simulated_world *world);
/// Before the world is freed.
void runloop_simulation_free_timers(struct runloop_simulated_world *world);

/// The calling thread takes part in a simulation from now on, as one of its members, or in none (NULL): clock_gettime and what is built
/// on it shows the world's time, and random numbers come from its dice. All else of the thread stays real. Without a `simulation` it has the
/// world's time, and nothing else of it.
void runloop_simulation_join(struct runloop_simulated_world *world, void *simulation, int32_t member);
/// What clock_gettime would show without a world: CLOCK_MONOTONIC, in nanoseconds.
int64_t runloop_simulation_real_now_ns(void);
/// The simulation with which the calling thread joined, or NULL; also while it decides which one is next (runloop_simulation_enter).
void *runloop_simulation_current(void);
/// The member as which it joined.
int32_t runloop_simulation_member(void);

/// The calling thread, which takes part, begins to decide which one is next: until runloop_simulation_exit, its locks are real. False if it has
/// begun already, or takes part in nothing.
bool runloop_simulation_enter(void);
void runloop_simulation_exit(void);

/// The calling thread, which takes part, begins with something else: it has not looked at the clock yet.
void runloop_simulation_begin_step(void);

/// Waits until a turn is given, and takes it. Each word, 0 at first, is one thread's.
void runloop_simulation_await_turn(uint32_t *turn);
void runloop_simulation_give_turn(uint32_t *turn);

/// The calls that led here, the innermost first: where they return to. How many; 0 where libc does not say.
int32_t runloop_simulation_calls(void **calls, int32_t count);

/// From now on worlds that have `thrown` hear of what is thrown.
void runloop_simulation_follow_throws(void);

/// The jumps on a condition that lead to a trap's instruction. How many, at most so many.
int32_t runloop_simulation_find_jumps(const void *trap, void **jumps, int32_t most);

/// How many references there are to an object of Swift's, and the end of those beyond `count`. NULL has one.
intptr_t runloop_simulation_count_references(void *object);
void runloop_simulation_drop_references(void *object, intptr_t count);

/// SplitMix64: any state is as good as any other.
uint64_t runloop_simulation_next_random(uint64_t *state);

#endif // __linux__
#endif // RUNLOOP_SIMULATION_H
