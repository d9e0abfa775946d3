// internal.h — the explorer's parts, and what they have to say to each other.
#ifndef RUNLOOP_EXPLORER_INTERNAL_H
#define RUNLOOP_EXPLORER_INTERNAL_H

#include <setjmp.h>

#include "explorer.h"

/// A variable of the explorer's: it keeps its value from one execution to the next. All others of the program are set back.
#define KEPT __attribute__((section("kept")))

enum {
    THREADS = SCENE_THREADS + 1, ///< and the one that looks at the end
    NOBODY = THREADS,
};

//===-- time stamps --------------------------------------------------------------------------------------------------===//

/// How much of what each thread did is known to somebody.
struct known {
    uint32_t of[THREADS];
};

void known_join(struct known *known, const struct known *other);

//===-- choices (search.c) -------------------------------------------------------------------------------------------===//

/// A point at which an execution may go on in several ways: the usual one is 0; each other one is a deviation, of which an execution has a
/// limited number.
unsigned choose(unsigned count);
/// Ends the execution, which has shown a fault.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// What an explored scene has shown.
struct result {
    uint64_t executions;
    uint64_t points; ///< in the longest
    char fault[512]; ///< empty: none
    char choices[512];
};
/// Every execution with up to so many deviations, or as many as the seconds allow.
bool search_all(const struct scene *scene, unsigned deviations, double seconds, struct result *result);
/// Executions with random deviations.
void search_at_random(const struct scene *scene, uint64_t seed, uint64_t executions, struct result *result);
/// One execution, whose choices a result has named.
void search_again(const struct scene *scene, const char *choices, struct result *result);
/// A location is accessed by several threads, of which one writes: from now on there is a choice before each access.
void search_anew(void);
/// Is this one execution whose choices are given?
bool search_repeats(void);
/// One of the many steps of an execution, which must not go on for ever.
void search_step(void);

//===-- threads (threads.c) ------------------------------------------------------------------------------------------===//

struct thread {
    struct known happened; ///< of what others did, what happens before what this thread does next
    struct known visible;  ///< of others' stores, what it can't overlook any more; at least what happened before
    struct known released_happened, released_visible; ///< by a fence, for its later stores
    struct known acquired_happened, acquired_visible; ///< by its earlier loads, for a later fence
    bool (*is_ready)(void *argument);                 ///< NULL: it can go on
    void *argument;
    int64_t wake_ns; ///< it goes on at this time in any case
    bool has_parted, has_ended;
};

void threads_set_up(void);
/// Runs the scene once. Returns when it is over; `execution_leave` leaves it at any time.
void execution_run(const struct scene *scene);
_Noreturn void execution_leave(void);
struct thread *thread_current(void);
struct thread *thread_of(unsigned number);
unsigned thread_number(void);
/// Are the threads of a scene running, and is it their turn to be tried in every order?
bool is_executing(void);
bool is_exploring(void);
/// A moment at which another thread may go on.
void thread_may_switch(void);
/// The thread sleeps until that holds, or until the time has come. True if it holds.
bool thread_sleep(bool (*is_ready)(void *argument), void *argument, int64_t wake_ns);
/// A thread's values for keys of pthread.
unsigned key_make(void (*destructor)(void *));
void key_set(unsigned key, const void *value);

//===-- memory (memory.c) --------------------------------------------------------------------------------------------===//

struct location;

/// Of a byte: who accessed it, when.
struct cell {
    uint32_t execution; ///< the cell's content is of this one
    uint8_t writer;
    bool is_dead; ///< it is outside of all blocks, or its block was freed
    uint32_t written;
    uint32_t read[THREADS];
    struct location *location; ///< an atomic variable begins here
    const void *written_at;
};

void memory_set_up(void);
/// Everything is as it was when the program began.
void memory_set_back(void);
/// NULL for memory that is not observed: stacks, and what the libc has mapped.
struct cell *cell_of(const volatile void *address);
void *memory_new(size_t size, size_t alignment);
void memory_free(void *block);
bool memory_is_ours(const void *block);
size_t memory_size(const void *block);
/// Plain accesses, by code at that address.
void memory_read(const volatile void *address, size_t size, const void *code);
void memory_write(const volatile void *address, size_t size, const void *code);

//===-- atomic variables (atomics.c) ---------------------------------------------------------------------------------===//

enum change { EXCHANGE, ADD, SUB, AND, OR, XOR };

void atomics_set_up(void);
void atomics_set_back(void);
/// Another scene follows.
void atomics_forget_sharing(void);
uint64_t atomics_load(const volatile void *address, size_t size, int order, const void *code);
void atomics_store(volatile void *address, size_t size, uint64_t value, int order, const void *code);
uint64_t atomics_change(volatile void *address, size_t size, enum change change, uint64_t operand, int order,
                        const void *code);
struct orders {
    int success, failure;
    bool is_weak; ///< it may fail for no reason
};
bool atomics_compare_exchange(volatile void *address, size_t size, uint64_t *expected, uint64_t value,
                              struct orders orders, const void *code);
void atomics_fence(int order);
/// What the current thread does from now on is not known to those who learnt of it before.
void atomics_pass(void);
/// A plain access races with the atomic ones, unless these happened before.
void location_check(struct location *location, bool writes, const void *code);

//===-- the kernel (kernel.c, calls.c) -------------------------------------------------------------------------------===//

void kernel_set_back(void);
int64_t kernel_now_ns(void);
/// All threads sleep: the time of the next thing that the clock brings. False if it brings nothing.
bool kernel_let_time_pass(void);

//===-- what happened (trace.c) --------------------------------------------------------------------------------------===//

void trace_begin(bool is_wanted);
/// An operation of the current thread, by code at that address.
void trace(const void *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trace_print(void);

#endif // RUNLOOP_EXPLORER_INTERNAL_H
