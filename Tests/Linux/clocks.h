// clocks.h — clocks that can be set and suspended, in the place of the machine's, for programs that are linked with clock_wraps
// of Tests/bin/c-tests.
//
// They are CLOCK_MONOTONIC and two offsets, as in the kernel, and a timer is one on CLOCK_MONOTONIC that is moved when an offset
// changes. As in the kernel, one that has expired stays readable, and one that was set for jumps becomes readable with each.
#ifndef RUNLOOP_TEST_CLOCKS_H
#define RUNLOOP_TEST_CLOCKS_H

#include <poll.h>
#include <sys/timerfd.h>

#include "../../Sources/CRunLoopLinux/src/clocks/clock_timer.h"
#include "failing_memory.h"

#define HOUR (3600 * SECOND)

enum { MOST_TIMERS = 64 };

static struct {
    pthread_mutex_t lock;
    int64_t step_ns, suspended_ns;
    struct {
        int descriptor; ///< 0: free
        bool is_for_jumps;
        runloop_clock_id clock;
        int64_t date_ns;
    } timers[MOST_TIMERS];
    /// Before this reading of a clock, counted down, the clock is set and the machine suspended.
    int readings_before_jump;
    int64_t jump_step_ns, jump_suspended_ns;
    bool refuses_jumps;
} clocks = {.lock = PTHREAD_MUTEX_INITIALIZER, .step_ns = 1700000000 * SECOND};

static inline int64_t clock_offset(runloop_clock_id clock) {
    return clocks.suspended_ns + (clock == RUNLOOP_CLOCK_WALL ? clocks.step_ns : 0);
}

static inline void set_kernel_timer(int timer, int64_t ns) {
    const struct itimerspec date = {.it_value = {ns / SECOND, ns % SECOND}};
    REQUIRE(timerfd_settime(timer, TFD_TIMER_ABSTIME, &date, NULL) == 0);
}

static inline void move_timer(int timer, runloop_clock_id clock, int64_t date_ns) {
    int64_t ns;
    if (date_ns == RUNLOOP_NEVER)
        ns = 0;
    else if (__builtin_sub_overflow(date_ns, clock_offset(clock), &ns) || ns < 1)
        ns = 1;
    // Not after 2038, where the seconds of this file's types may end; no test waits for so long.
    if (ns > INT32_MAX * SECOND)
        ns = 0;
    set_kernel_timer(timer, ns);
}

/// The wall clock is set by so much, and the machine was suspended for so long.
static inline void jump(int64_t step_ns, int64_t suspended_ns) {
    pthread_mutex_lock(&clocks.lock);
    clocks.step_ns += step_ns;
    clocks.suspended_ns += suspended_ns;
    for (int i = 0; i < MOST_TIMERS; i++) {
        int timer = clocks.timers[i].descriptor;
        struct itimerspec unused;
        // One that was closed has left its number to others.
        if (timer && timerfd_gettime(timer, &unused) < 0)
            timer = clocks.timers[i].descriptor = 0;
        if (!timer)
            continue;
        struct pollfd expired = {.fd = timer, .events = POLLIN};
        if (clocks.timers[i].is_for_jumps)
            set_kernel_timer(timer, 1);
        else if (poll(&expired, 1, 0) == 0)
            move_timer(timer, clocks.timers[i].clock, clocks.timers[i].date_ns);
    }
    pthread_mutex_unlock(&clocks.lock);
}

static inline void step(int64_t step_ns) {
    jump(step_ns, 0);
}

static inline int64_t wall(void) {
    return runloop_clock_get_now_ns(RUNLOOP_CLOCK_WALL);
}

/// What a clock of the test's has shown to this thread last.
static _Thread_local int64_t shown_ns;

int64_t __wrap_runloop_clock_get_now_ns(runloop_clock_id clock);
int64_t __wrap_runloop_clock_get_now_ns(runloop_clock_id clock) {
    pthread_mutex_lock(&clocks.lock);
    bool jumps = clocks.readings_before_jump > 0 && --clocks.readings_before_jump == 0;
    pthread_mutex_unlock(&clocks.lock);
    if (jumps)
        jump(clocks.jump_step_ns, clocks.jump_suspended_ns);
    pthread_mutex_lock(&clocks.lock);
    shown_ns = runloop_get_now_ns(NULL) + clock_offset(clock);
    pthread_mutex_unlock(&clocks.lock);
    return shown_ns;
}

int __wrap_runloop__clock_timer_open(runloop_clock_id clock);
int __wrap_runloop__clock_timer_open(runloop_clock_id clock) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer < 0)
        return -errno;
    pthread_mutex_lock(&clocks.lock);
    int free_place = -1;
    for (int i = MOST_TIMERS - 1; i >= 0; i--)
        if (clocks.timers[i].descriptor == 0 || clocks.timers[i].descriptor == timer)
            free_place = i;
    REQUIRE(free_place >= 0);
    for (int i = 0; i < MOST_TIMERS; i++)
        if (clocks.timers[i].descriptor == timer)
            clocks.timers[i].descriptor = 0;
    clocks.timers[free_place].descriptor = timer;
    clocks.timers[free_place].clock = clock;
    clocks.timers[free_place].date_ns = RUNLOOP_NEVER;
    clocks.timers[free_place].is_for_jumps = false;
    pthread_mutex_unlock(&clocks.lock);
    return timer;
}

static inline int place_of(int timer) {
    int i = 0;
    while (i < MOST_TIMERS && clocks.timers[i].descriptor != timer)
        i++;
    REQUIRE(i < MOST_TIMERS);
    return i;
}

int __wrap_runloop__clock_timer_set(int timer, int64_t date_ns);
int __wrap_runloop__clock_timer_set(int timer, int64_t date_ns) {
    pthread_mutex_lock(&clocks.lock);
    int i = place_of(timer);
    clocks.timers[i].date_ns = date_ns;
    move_timer(timer, clocks.timers[i].clock, date_ns);
    pthread_mutex_unlock(&clocks.lock);
    return 0;
}

int __wrap_runloop__clock_timer_set_for_jumps(int timer);
int __wrap_runloop__clock_timer_set_for_jumps(int timer) {
    if (clocks.refuses_jumps)
        return -ENOSYS;
    pthread_mutex_lock(&clocks.lock);
    clocks.timers[place_of(timer)].is_for_jumps = true;
    pthread_mutex_unlock(&clocks.lock);
    return 0;
}

void __wrap_runloop__clock_timer_take_jump(int timer);
void __wrap_runloop__clock_timer_take_jump(int timer) {
    take(timer);
}

#endif // RUNLOOP_TEST_CLOCKS_H
