// world.c — which threads take part in a simulation, and what the time and the dice are there.
//
// The functions of libc that tell the time and give random numbers are defined here again. A program's own definition
// goes before that of a library, also for the libraries that the program uses: so code that is simulated needs no change. A thread that takes
// part in no simulation gets what it always gets.

#define _GNU_SOURCE
#include "runloop_simulation.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/// Called by threads that a sanitizer does not know yet, or any more.
#if defined(__has_attribute) && __has_attribute(disable_sanitizer_instrumentation)
#define UNINSTRUMENTED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNINSTRUMENTED
#endif

static __thread struct runloop_simulated_world *joined_world;
static __thread void *joined_simulation;

void runloop_simulation_join(struct runloop_simulated_world *world, void *simulation) {
    joined_world = world;
    joined_simulation = simulation;
}

UNINSTRUMENTED void *runloop_simulation_current(void) {
    return joined_simulation;
}

//===-- libc's own ---------------------------------------------------------------------------------------------------===//

typedef int clock_function(clockid_t clock, struct timespec *out);
typedef long system_call_function(long number, ...);

static struct {
    _Atomic(clock_function *) clock; ///< which asks the kernel without entering it
    _Atomic(system_call_function *) system_call;
} found;

/// Whoever comes first looks, and two who do find the same.
UNINSTRUMENTED static clock_function *real_clock(void) {
    if (!atomic_load(&found.clock))
        atomic_store(&found.clock, (clock_function *)dlsym(RTLD_NEXT, "clock_gettime"));
    return atomic_load(&found.clock);
}
UNINSTRUMENTED static system_call_function *real_system_call(void) {
    if (!atomic_load(&found.system_call))
        atomic_store(&found.system_call, (system_call_function *)dlsym(RTLD_NEXT, "syscall"));
    return atomic_load(&found.system_call);
}

//===-- the time -----------------------------------------------------------------------------------------------------===//

/// The wall clock of each simulation begins on the same day: 2025-01-01T00:00:00Z.
enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };
static const int64_t wall_offset_ns = INT64_C(1735689600) * NS_PER_S;

UNINSTRUMENTED static struct timespec simulated(int64_t offset_ns) {
    int64_t now_ns = joined_world->now_ns + offset_ns;
    return (struct timespec){.tv_sec = now_ns / NS_PER_S, .tv_nsec = now_ns % NS_PER_S};
}

UNINSTRUMENTED int clock_gettime(clockid_t clock, struct timespec *out) {
    if (joined_world) {
        switch (clock) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_TAI: *out = simulated(wall_offset_ns); return 0;
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_BOOTTIME: *out = simulated(0); return 0;
        default: break; // what the processor has spent is real
        }
    }
    return real_clock()(clock, out);
}

UNINSTRUMENTED int gettimeofday(struct timeval *restrict out, void *restrict zone) {
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

//===-- the dice -----------------------------------------------------------------------------------------------------===//

UNINSTRUMENTED uint64_t runloop_simulation_next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15;
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

UNINSTRUMENTED static void throw_dice(void *bytes, size_t count) {
    struct runloop_simulated_world *world = joined_world;
    if (!world->has_dice)
        world->random = world->first_random(joined_simulation);
    world->has_dice = true;
    for (char *end = (char *)bytes + count, *next = bytes; next < end; next += sizeof(uint64_t)) {
        uint64_t number = runloop_simulation_next_random(&world->random);
        size_t left = (size_t)(end - next);
        memcpy(next, &number, left < sizeof number ? left : sizeof number);
    }
}

UNINSTRUMENTED ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    return syscall(SYS_getrandom, bytes, count, flags);
}

/// The Swift runtime has its random numbers from here, and this one call alone is another in a simulation.
UNINSTRUMENTED long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long arguments[6];
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_getrandom && joined_world) {
        throw_dice((void *)arguments[0], (size_t)arguments[1]);
        return arguments[1];
    }
    return real_system_call()(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                              arguments[5]);
}
