// sleeps.c — what a thread of a simulation sleeps, and waits for descriptors, is of the simulation's time, and others go on meanwhile.
//
// A thread that asks for the time again and again waits for an instant as well, so time passes for it as for a sleep.

#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "joined.h"

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000, NS_PER_US = 1000 };
static const int64_t never = INT64_MAX;

/// A call that lets others go on, or asks the kernel, and waits for nothing, is as good as so many looks at the clock.
enum { OF_A_CALL = 20 };

static int64_t now_ns(void) {
    return runloop_simulation__joined.world->now_ns;
}

static int64_t after(int64_t ns) {
    int64_t instant_ns;
    return __builtin_add_overflow(now_ns(), ns, &instant_ns) ? never : instant_ns;
}

//===-- sleeps -------------------------------------------------------------------------------------------------------===//

static void sleep_until(int64_t until_ns) {
    // One that ends at once is a way to go round.
    if (is_over(until_ns))
        runloop_simulation__note_looks(OF_A_CALL);
    do
        runloop_simulation__wait((struct runloop_simulated_wait){.until_ns = until_ns, .what = "the end of a sleep"});
    while (!is_over(until_ns));
}

static bool is_valid(const struct timespec *time) {
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < NS_PER_S;
}

static int64_t in_ns(const struct timespec *time) {
    return runloop_simulation__instant_ns(CLOCK_MONOTONIC, time);
}

int nanosleep(const struct timespec *duration, struct timespec *left) {
    if (!is_simulated())
        return REAL(nanosleep)(duration, left);
    if (!is_valid(duration)) {
        errno = EINVAL;
        return -1;
    }
    sleep_until(after(in_ns(duration)));
    return 0;
}

/// A clock of the processor's goes on only while a thread runs.
static bool is_of_processor(clockid_t clock) {
    return clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    if (!is_simulated() || is_of_processor(clock))
        return REAL(clock_nanosleep)(clock, flags, time, left);
    if (!is_valid(time))
        return EINVAL;
    sleep_until(flags & TIMER_ABSTIME ? runloop_simulation__instant_ns(clock, time) : after(in_ns(time)));
    return 0;
}

int usleep(useconds_t duration) {
    if (!is_simulated())
        return REAL(usleep)(duration);
    sleep_until(after((int64_t)duration * NS_PER_US));
    return 0;
}

unsigned sleep(unsigned seconds) {
    if (!is_simulated())
        return REAL(sleep)(seconds);
    sleep_until(after((int64_t)seconds * NS_PER_S));
    return 0;
}

//===-- waits for descriptors ----------------------------------------------------------------------------------------===//

/// What a thread waits for, and how it asks, without waiting, how many of those are ready. What is asked changes nothing that has come.
struct descriptors {
    int (*ask)(const struct descriptors *);
    struct pollfd *polled;
    nfds_t count;
    fd_set *sets[3], given[3];
};

/// Whatever the kernel says, an error too, ends the wait.
static bool is_any_ready(const void *object) {
    const struct descriptors *descriptors = object;
    int saved = errno;
    bool is_ready = descriptors->ask(descriptors) != 0;
    errno = saved;
    return is_ready;
}

/// Until one is ready or that instant has come.
static int wait_for_descriptors(const struct descriptors *descriptors, int64_t until_ns) {
    int count;
    const struct runloop_simulated_wait wait = {.is_ready = is_any_ready,
                                                .object = descriptors,
                                                .until_ns = until_ns,
                                                .what = "a descriptor",
                                                .is_of_kernel = true};
    while ((count = descriptors->ask(descriptors)) == 0 && !is_over(until_ns))
        runloop_simulation__wait(wait);
    return count;
}

static int64_t instant_of_ms(int milliseconds) {
    return milliseconds < 0 ? never : after((int64_t)milliseconds * NS_PER_MS);
}

static int64_t instant_of(const struct timespec *limit) {
    return limit ? after(in_ns(limit)) : never;
}

static bool is_zero(const struct timespec *limit) {
    return limit && limit->tv_sec == 0 && limit->tv_nsec == 0;
}

/// A thread that asks and does not wait may go round. How many are ready.
static int looked(int ready) {
    if (ready == 0 && is_simulated())
        runloop_simulation__note_looks(OF_A_CALL);
    return ready;
}

static int ask_polled(const struct descriptors *descriptors) {
    return REAL(poll)(descriptors->polled, descriptors->count, 0);
}

int poll(struct pollfd *polled, nfds_t count, int milliseconds) {
    if (milliseconds == 0 || !is_simulated())
        return looked(REAL(poll)(polled, count, milliseconds));
    const struct descriptors descriptors = {.ask = ask_polled, .polled = polled, .count = count};
    return wait_for_descriptors(&descriptors, instant_of_ms(milliseconds));
}

/// The signals that the mask lets through come when the kernel waits, as here with those that are pending.
int ppoll(struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask) {
    const struct timespec zero = {0};
    if (is_zero(limit) || (limit && !is_valid(limit)) || !is_simulated())
        return REAL(ppoll)(polled, count, limit, mask);
    const struct descriptors descriptors = {.ask = ask_polled, .polled = polled, .count = count};
    int ready = wait_for_descriptors(&descriptors, instant_of(limit));
    return ready == 0 && mask ? REAL(ppoll)(polled, count, &zero, mask) : ready;
}

static int ask_sets(const struct descriptors *descriptors) {
    struct timeval zero = {0};
    for (int i = 0; i < 3; i++) {
        if (descriptors->sets[i])
            *descriptors->sets[i] = descriptors->given[i];
    }
    return REAL(select)((int)descriptors->count, descriptors->sets[0], descriptors->sets[1], descriptors->sets[2],
                        &zero);
}

static int select_until(int count, fd_set *const sets[3], int64_t until_ns) {
    struct descriptors descriptors = {.ask = ask_sets, .count = (nfds_t)count};
    for (int i = 0; i < 3; i++) {
        descriptors.sets[i] = sets[i];
        if (sets[i])
            descriptors.given[i] = *sets[i];
    }
    return wait_for_descriptors(&descriptors, until_ns);
}

int select(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict other,
           struct timeval *restrict limit) {
    bool is_valid_limit = !limit || (limit->tv_sec >= 0 && limit->tv_usec >= 0);
    if (!is_simulated() || count < 0 || count > FD_SETSIZE || !is_valid_limit)
        return REAL(select)(count, read, write, other, limit);
    int64_t until_ns = never;
    if (limit) {
        const struct timespec time = {limit->tv_sec + limit->tv_usec / 1000000, limit->tv_usec % 1000000 * NS_PER_US};
        until_ns = instant_of(&time);
    }
    int ready = select_until(count, (fd_set *[]){read, write, other}, until_ns);
    if (limit) {
        int64_t left_us = is_over(until_ns) ? 0 : (until_ns - now_ns()) / NS_PER_US;
        *limit = (struct timeval){.tv_sec = left_us / 1000000, .tv_usec = left_us % 1000000};
    }
    return ready;
}

int pselect(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict other,
            const struct timespec *restrict limit, const sigset_t *restrict mask) {
    bool is_valid_limit = !limit || is_valid(limit);
    if (!is_simulated() || mask || count < 0 || count > FD_SETSIZE || !is_valid_limit)
        return REAL(pselect)(count, read, write, other, limit, mask);
    return select_until(count, (fd_set *[]){read, write, other}, instant_of(limit));
}

/// An epoll set is a descriptor itself, and looking at that takes none of its events.
static void wait_for_set(int set, int64_t until_ns) {
    struct pollfd polled = {.fd = set, .events = POLLIN};
    const struct descriptors descriptors = {.ask = ask_polled, .polled = &polled, .count = 1};
    wait_for_descriptors(&descriptors, until_ns);
}

int epoll_wait(int set, struct epoll_event *events, int capacity, int milliseconds) {
    if (milliseconds == 0 || !is_simulated())
        return looked(REAL(epoll_wait)(set, events, capacity, milliseconds));
    wait_for_set(set, instant_of_ms(milliseconds));
    return REAL(epoll_wait)(set, events, capacity, 0);
}

int epoll_pwait(int set, struct epoll_event *events, int capacity, int milliseconds, const sigset_t *mask) {
    if (milliseconds == 0 || !is_simulated())
        return REAL(epoll_pwait)(set, events, capacity, milliseconds, mask);
    wait_for_set(set, instant_of_ms(milliseconds));
    return REAL(epoll_pwait)(set, events, capacity, 0, mask);
}

//===-- threads that go round ----------------------------------------------------------------------------------------===//

/// So many looks at the clock at one instant are a wait for another one.
enum { MOST_LOOKS = 1000 };

/// What a thread has waited so grows by an eighth each time: an hour is some hundred waits, and its end at most so much too late.
static int64_t next_pause_ns(int64_t before_ns) {
    const int64_t least_ns = NS_PER_MS, most_ns = (int64_t)3600 * NS_PER_S;
    int64_t pause_ns = before_ns / 8;
    return pause_ns < least_ns ? least_ns : pause_ns > most_ns ? most_ns : pause_ns;
}

void runloop_simulation__note_looks(int32_t count) {
    struct joined *joined = &runloop_simulation__joined;
    if (joined->looked_at_ns != now_ns()) {
        joined->looked_at_ns = now_ns();
        joined->looks = 0;
    }
    joined->looks += count;
    if (joined->looks < MOST_LOOKS)
        return;
    joined->looks = 0;
    int64_t pause_ns = next_pause_ns(joined->looked_for_ns);
    joined->looked_for_ns += pause_ns;
    joined->world->wait(joined->simulation, &(const struct runloop_simulated_wait){.until_ns = after(pause_ns),
                                                                                   .what = "time to pass",
                                                                                   .looks = MOST_LOOKS});
}

void runloop_simulation_begin_step(void) {
    runloop_simulation__joined.looks = 0;
    runloop_simulation__joined.looked_for_ns = 0;
}

/// A thread that waits by going round says so in this way: others may go on, and if none can, time passes.
int sched_yield(void) {
    struct joined *joined = &runloop_simulation__joined;
    if (!is_simulated() || !joined->world->sent)
        return REAL(sched_yield)();
    joined->world->sent(joined->simulation, NULL);
    runloop_simulation__note_looks(OF_A_CALL);
    return 0;
}

/// The leak sanitizer calls it when its allocator is locked, which the look-up of libc's own function needs.
__attribute__((constructor)) static void find_early(void) {
    sched_yield();
}
#endif // __linux__
