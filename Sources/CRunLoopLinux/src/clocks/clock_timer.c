// clock_timer.c — clocks of the machine, and timerfds on them.
//
// No function is a cancellation point.

// On 32-bit machines, dates after 2038 are asked for like this. Nothing of this file's types is seen by others.
#ifdef __linux__
#define _FILE_OFFSET_BITS 64
#define _TIME_BITS 64

#include "clocks/clock_timer.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(time_t) == sizeof(int64_t), "dates end in 2038");

static clockid_t kernel_clock(runloop_clock_id clock) {
    return clock == RUNLOOP_CLOCK_WALL ? CLOCK_REALTIME : CLOCK_BOOTTIME;
}

int64_t runloop_clock_get_now_ns(runloop_clock_id clock) {
    if (clock > RUNLOOP_CLOCK_BOOT)
        return RUNLOOP_NEVER;
    struct timespec now;
    int64_t now_ns;
    clock_gettime(kernel_clock(clock), &now);
    if (__builtin_mul_overflow((int64_t)now.tv_sec, INT64_C(1000000000), &now_ns) ||
        __builtin_add_overflow(now_ns, now.tv_nsec, &now_ns))
        return RUNLOOP_NEVER - 1;
    return now_ns;
}

int runloop__clock_timer_open(runloop_clock_id clock) {
    int timer = timerfd_create(kernel_clock(clock), TFD_NONBLOCK | TFD_CLOEXEC);
    return timer < 0 ? -errno : timer;
}

int runloop__clock_timer_set(int timer, int64_t date_ns) {
    // Instants before 1970 are past, but the kernel refuses them, and takes 0 for no instant.
    int64_t ns = date_ns == RUNLOOP_NEVER ? 0 : date_ns < 1 ? 1 : date_ns;
    const struct itimerspec date = {.it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &date, NULL) < 0 ? -errno : 0;
}

int runloop__clock_timer_set_for_jumps(int timer) {
    // A date is needed, which never comes.
    const struct itimerspec last = {.it_value.tv_sec = RUNLOOP_NEVER / 1000000000};
    int result = timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &last, NULL);
    // After a jump between the creation and here the timer is set all the same.
    if (result == 0 || errno == ECANCELED)
        return 0;
    return errno == EINVAL ? -ENOSYS : -errno;
}

void runloop__clock_timer_take_jump(int timer) {
    // ECANCELED says that there was one, and makes the kernel watch for the next. Not the function of the C library, which is a
    // cancellation point.
    uint64_t expirations;
    syscall(SYS_read, timer, &expirations, sizeof expirations);
}
#endif // __linux__
