// world.c — which threads take part in a simulation, and what the time is there.
//
// The functions of libc that return the time are defined here again, as others are in other files. A program's own definition
// goes before that of a library, also for the libraries that the program uses: so code that is simulated needs no change. A thread that takes
// part in no simulation gets what it always gets.

#ifdef __linux__
#define _GNU_SOURCE
#include <dlfcn.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "joined.h"

__thread struct joined runloop_simulation__joined;

static struct runloop_simulated_thread *take_place(struct runloop_simulated_world *world) {
    for (int i = 0; world && i < RUNLOOP_SIMULATION_THREADS; i++) {
        struct runloop_simulated_thread *place = &world->threads[i];
        int32_t free = 0;
        if (__atomic_compare_exchange_n(&place->number, &free, gettid(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return place;
    }
    return NULL;
}

void runloop_simulation_join(struct runloop_simulated_world *world, void *simulation, int32_t member) {
    struct joined *joined = &runloop_simulation__joined;
    if (joined->place)
        __atomic_store_n(&joined->place->number, 0, __ATOMIC_SEQ_CST);
    runloop_simulation__forget_traps(joined);
    *joined = (struct joined){.place = take_place(simulation ? world : NULL)};
    if (simulation)
        runloop_simulation__watch_traps(joined);
    joined->world = world;
    joined->simulation = simulation;
    joined->member = member;
}

/// A child has the machine's time: nobody there lets the world's pass.
static void leave_in_child(void) {
    void *stack = runloop_simulation__joined.stack; // which the kernel still has
    runloop_simulation__joined = (struct joined){.stack = stack};
}

__attribute__((constructor)) static void follow_forks(void) {
    pthread_atfork(NULL, NULL, leave_in_child);
}

UNINSTRUMENTED void *runloop_simulation_current(void) {
    return runloop_simulation__joined.simulation;
}

int32_t runloop_simulation_member(void) {
    return runloop_simulation__joined.member;
}

bool runloop_simulation_enter(void) {
    struct joined *joined = &runloop_simulation__joined;
    if (!joined->world || joined->decides)
        return false;
    return joined->decides = true;
}

void runloop_simulation_exit(void) {
    runloop_simulation__joined.decides = false;
}

//===-- turns --------------------------------------------------------------------------------------------------------===//

static void note_waiting(bool is_waiting) {
    struct runloop_simulated_thread *place = runloop_simulation__joined.place;
    if (place)
        __atomic_store_n(&place->is_waiting, is_waiting, __ATOMIC_SEQ_CST);
}

void runloop_simulation_await_turn(uint32_t *turn) {
    note_waiting(true);
    while (!__atomic_exchange_n(turn, 0, __ATOMIC_ACQUIRE))
        real_system_call()(SYS_futex, turn, RUNLOOP__FUTEX_WAIT, 0, NULL, NULL, 0);
    note_waiting(false);
}

void runloop_simulation_give_turn(uint32_t *turn) {
    __atomic_store_n(turn, 1, __ATOMIC_RELEASE);
    real_system_call()(SYS_futex, turn, RUNLOOP__FUTEX_WAKE, 1, NULL, NULL, 0);
}

int32_t runloop_simulation_calls(void **calls, int32_t count) {
#ifdef __GLIBC__
    return backtrace(calls, count);
#else
    (void)calls, (void)count;
    return 0;
#endif
}

//===-- libc's own ---------------------------------------------------------------------------------------------------===//

/// A static program has libc's function only if it has not ours.
UNINSTRUMENTED static void *look_up(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function)
        return function;
    fputs("runloop: RunLoopKitTesting and RunLoopKitSimulation can't be in a static program, which has no second ",
          stderr);
    fputs(name, stderr);
    fputs("\n", stderr);
    abort();
}

/// The first caller looks, and two that do find the same.
UNINSTRUMENTED void *runloop_simulation__find(_Atomic(void *) *found, const char *name) {
    if (!atomic_load(found))
        atomic_store(found, look_up(name));
    return atomic_load(found);
}

UNINSTRUMENTED system_call_function *real_system_call(void) {
    return REAL(syscall);
}

//===-- the time -----------------------------------------------------------------------------------------------------===//

enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };

static int64_t real_ns(clockid_t clock) {
    struct timespec now;
    REAL(clock_gettime)(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t runloop_simulation_real_now_ns(void) {
    return real_ns(CLOCK_MONOTONIC);
}

void runloop_simulation_set_clocks(struct runloop_simulated_world *world) {
    world->now_ns = real_ns(CLOCK_MONOTONIC);
    world->wall_offset_ns = real_ns(CLOCK_REALTIME) - world->now_ns;
    world->boot_offset_ns = real_ns(CLOCK_BOOTTIME) - world->now_ns;
}

UNINSTRUMENTED static struct timespec simulated(int64_t offset_ns) {
    if (is_simulated())
        runloop_simulation__note_looks(1);
    int64_t now_ns = runloop_simulation__joined.world->now_ns + offset_ns;
    return (struct timespec){.tv_sec = now_ns / NS_PER_S, .tv_nsec = now_ns % NS_PER_S};
}

UNINSTRUMENTED int clock_gettime(clockid_t clock, struct timespec *out) {
    if (runloop_simulation__joined.world) {
        switch (clock) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_TAI: *out = simulated(runloop_simulation__joined.world->wall_offset_ns); return 0;
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_MONOTONIC_COARSE: *out = simulated(0); return 0;
        case CLOCK_BOOTTIME: *out = simulated(runloop_simulation__joined.world->boot_offset_ns); return 0;
        default: break; // what the processor has spent is real
        }
    }
    return REAL(clock_gettime)(clock, out);
}

/// The C libraries don't agree on the type of the zone, so the compiler is to see no second declaration of gettimeofday.
int runloop_simulation__time_of_day(struct timeval *restrict out, void *restrict zone) __asm__("gettimeofday");

UNINSTRUMENTED int runloop_simulation__time_of_day(struct timeval *restrict out, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / NS_PER_US};
    return 0;
}

UNINSTRUMENTED time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

//===-- calls without a function -------------------------------------------------------------------------------------===//

/// The Swift runtime has its random numbers from here, and its locks sleep here.
UNINSTRUMENTED long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long arguments[6];
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_getrandom && runloop_simulation__joined.simulation) {
        runloop_simulation__throw_dice((void *)arguments[0], (size_t)arguments[1]);
        return arguments[1];
    }
    long result;
    if (number == SYS_futex && is_simulated())
        return runloop_simulation__futex(arguments);
    if (is_simulated() && runloop_simulation__faulty_call(number, arguments, &result))
        return result;
    return real_system_call()(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                              arguments[5]);
}
#endif // __linux__
