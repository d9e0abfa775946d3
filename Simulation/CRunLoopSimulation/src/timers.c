// timers.c — the timer descriptors of a thread with a world's time: they are counters (eventfd), to which the thread that lets the time pass adds what
// has become due. They are read, watched and closed as ever. No clock of a simulation steps.

#ifdef __linux__
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "joined.h"

enum { NS_PER_S = 1000000000 };
static const int64_t never = INT64_MAX;

struct simulated_timer {
    struct simulated_timer *next;
    int descriptor; ///< the program's, which closes it without a word
    int counter;    ///< the same, for this file
    int64_t offset_ns, due_ns, interval_ns;
};

static struct simulated_timer *find(struct runloop_simulated_world *world, int descriptor) {
    struct simulated_timer *timer = world->timers;
    while (timer && timer->descriptor != descriptor)
        timer = timer->next;
    return timer;
}

static void remove_timer(struct runloop_simulated_world *world, struct simulated_timer *timer) {
    struct simulated_timer **link = &world->timers;
    while (*link != timer)
        link = &(*link)->next;
    *link = timer->next;
    close(timer->counter);
    free(timer);
}

int timerfd_create(clockid_t clock, int flags) {
    struct runloop_simulated_world *world = is_in_world() ? runloop_simulation__joined.world : NULL;
    if (!world)
        return REAL(timerfd_create)(clock, flags);
    struct simulated_timer *timer = calloc(1, sizeof *timer);
    int descriptor = timer ? eventfd(0, flags) : -1;
    int counter = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (counter < 0) {
        if (descriptor >= 0)
            close(descriptor);
        free(timer);
        return -1;
    }
    // One of the same number was closed.
    struct simulated_timer *former = find(world, descriptor);
    if (former)
        remove_timer(world, former);
    int64_t offset_ns = 0;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM)
        offset_ns = world->wall_offset_ns;
    else if (clock == CLOCK_BOOTTIME || clock == CLOCK_BOOTTIME_ALARM)
        offset_ns = world->boot_offset_ns;
    *timer = (struct simulated_timer){
        .next = world->timers, .descriptor = descriptor, .counter = counter, .offset_ns = offset_ns, .due_ns = never};
    world->timers = timer;
    return descriptor;
}

static int64_t in_ns(const struct timespec *time) {
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)time->tv_sec, (int64_t)NS_PER_S, &ns) ||
        __builtin_add_overflow(ns, (int64_t)time->tv_nsec, &ns))
        return never;
    return ns;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *date, struct itimerspec *former) {
    struct runloop_simulated_world *world = is_in_world() ? runloop_simulation__joined.world : NULL;
    struct simulated_timer *timer = world ? find(world, descriptor) : NULL;
    if (!timer)
        return REAL(timerfd_settime)(descriptor, flags, date, former);
    if (former)
        *former = (struct itimerspec){0};
    uint64_t taken;
    if (fcntl(timer->counter, F_GETFL) & O_NONBLOCK && read(timer->counter, &taken, sizeof taken) < 0)
        taken = 0;
    int64_t ns = in_ns(&date->it_value), offset_ns = flags & TFD_TIMER_ABSTIME ? -timer->offset_ns : world->now_ns;
    timer->interval_ns = in_ns(&date->it_interval);
    // One that is to report steps of the clock has a date that never comes, and so has one that means never.
    bool is_never = ns == 0 || flags & TFD_TIMER_CANCEL_ON_SET || date->it_value.tv_sec >= never / NS_PER_S;
    timer->due_ns = is_never || __builtin_add_overflow(ns, offset_ns, &timer->due_ns) ? never : timer->due_ns;
    runloop_simulation_fire_timers(world);
    return 0;
}

int64_t runloop_simulation_next_timer_ns(const struct runloop_simulated_world *world) {
    int64_t next_ns = never;
    for (const struct simulated_timer *timer = world->timers; timer; timer = timer->next)
        next_ns = timer->due_ns < next_ns ? timer->due_ns : next_ns;
    return next_ns;
}

void runloop_simulation_fire_timers(struct runloop_simulated_world *world) {
    for (struct simulated_timer *timer = world->timers; timer; timer = timer->next) {
        if (timer->due_ns > world->now_ns)
            continue;
        uint64_t times = 1;
        if (timer->interval_ns > 0 && timer->interval_ns < never) {
            times += (uint64_t)((world->now_ns - timer->due_ns) / timer->interval_ns);
            timer->due_ns += (int64_t)times * timer->interval_ns;
        } else {
            timer->due_ns = never;
        }
        // A counter that is full says what there is to say.
        if (write(timer->counter, &times, sizeof times) < 0)
            continue;
    }
}

void runloop_simulation_free_timers(struct runloop_simulated_world *world) {
    while (world->timers)
        remove_timer(world, world->timers);
}
#endif // __linux__
