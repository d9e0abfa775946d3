// poller.c — one epoll set, the eventfd that ends its waits, and a timerfd once one is needed.
//
// Only the wait itself is a cancellation point, so that a cancelled thread never leaves a protocol half finished.

#ifdef __linux__
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "kernel/kernel.h"

static void close_descriptor(int descriptor) {
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (descriptor >= 0)
        close(descriptor);
    pthread_setcancelstate(state, &state);
}

static int control(const struct poller *poller, int operation, int descriptor, uint64_t tag, uint32_t events) {
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(poller->set, operation, descriptor, &event) ? -errno : 0;
}

int runloop__poller_watch(struct poller *poller, int operation, int descriptor, uint64_t tag, uint32_t events) {
    if (descriptor == poller->set || descriptor == poller->waker || descriptor == poller->timer ||
        descriptor == poller->outer)
        return -EBADF;
    return control(poller, operation, descriptor, tag, events);
}

static int watch_edges(struct poller *poller, int descriptor, uint64_t tag) {
    return control(poller, EPOLL_CTL_ADD, descriptor, tag, EPOLLIN | EPOLLET);
}

int runloop__poller_open(struct poller *poller) {
    *poller = (struct poller){.set = epoll_create1(EPOLL_CLOEXEC), .waker = -1, .timer = -1, .outer = -1};
    int error = poller->set < 0 ? -errno : 0;
    if (!error && (poller->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        error = -errno;
    if (!error)
        error = watch_edges(poller, poller->waker, TAG_WAKER);
    if (error)
        runloop__poller_close(poller);
    return error;
}

void runloop__poller_close(struct poller *poller) {
    close_descriptor(poller->set);
    close_descriptor(poller->waker);
    close_descriptor(poller->timer);
    close_descriptor(poller->outer);
    poller->set = poller->waker = poller->timer = poller->outer = -1;
}

bool runloop__is_counter(int descriptor) {
    // Such a file has no type, and must not block.
    struct stat status;
    int flags = fcntl(descriptor, F_GETFL);
    return fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == 0 && flags >= 0 && (flags & O_NONBLOCK);
}

static int make_outer(struct poller *poller) {
    poller->outer = epoll_create1(EPOLL_CLOEXEC);
    poller->is_hosted = false;
    return poller->outer < 0 ? -errno : 0;
}

/// The program may have closed it, and its number may stand for another file.
static bool is_still_a_set(int descriptor) {
    struct epoll_event none;
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    bool is_set = epoll_wait(descriptor, &none, 1, 0) >= 0 || (errno != EBADF && errno != EINVAL);
    pthread_setcancelstate(state, &state);
    return is_set;
}

int runloop__poller_host(struct poller *poller, bool is_hosted) {
    int error = poller->outer < 0 ? make_outer(poller) : 0;
    if (error || poller->is_hosted == is_hosted)
        return error ? error : poller->outer;
    int operation = is_hosted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
    struct epoll_event event = {.events = EPOLLIN};
    error = epoll_ctl(poller->outer, operation, poller->set, &event) ? -errno : 0;
    // It could not be removed before, in a sandbox.
    if (is_hosted && error == -EEXIST)
        error = 0;
    poller->is_hosted = is_hosted && !error;
    if (error && !is_still_a_set(poller->outer))
        poller->outer = -1; // The program has closed it.
    return error ? error : poller->outer;
}

static int new_set(struct poller *poller) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (set >= 0 || errno != EMFILE || poller->timer < 0)
        return set;
    // The timer's place will do: it gets another descriptor when there is one, and until then waits end by their timeout.
    close_descriptor(poller->timer);
    poller->timer = -1;
    return epoll_create1(EPOLL_CLOEXEC);
}

/// Puts the new set in place of the old one.
static int replace_set(struct poller *poller, int set) {
    // The program may have closed the old one, whose number the new one may have then.
    if (set == poller->set || !is_still_a_set(poller->set)) {
        poller->set = set;
        return 0;
    }
    // The number stays: whoever watches it watches the loop.
    int error = dup3(set, poller->set, O_CLOEXEC) < 0 ? -errno : 0;
    close_descriptor(set);
    return error;
}

/// The program has closed what had this number, which may stand for another file by now. Any other error is the kernel's.
static bool was_closed(int error) {
    return error == -EBADF || error == -EPERM;
}

static int watch_waker(struct poller *poller) {
    int error = watch_edges(poller, poller->waker, TAG_WAKER);
    if (!was_closed(error))
        return error;
    int waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (waker < 0)
        return -errno;
    error = watch_edges(poller, waker, TAG_WAKER);
    if (error) {
        close_descriptor(waker);
        return error;
    }
    poller->waker = waker;
    // What was written to the old one since then woke nobody.
    runloop__poller_wake(poller);
    return 0;
}

static void watch_timer(struct poller *poller) {
    int error = poller->timer < 0 ? 0 : watch_edges(poller, poller->timer, TAG_TIMER);
    if (error && !was_closed(error))
        close_descriptor(poller->timer);
    if (error)
        poller->timer = -1;
}

/// A host waits for the new set, too.
static int host_again(struct poller *poller) {
    int result = runloop__poller_host(poller, true);
    // If it can't, it is tried again with the next set.
    poller->is_hosted = poller->outer >= 0;
    return result < 0 && poller->outer >= 0 ? result : 0;
}

int runloop__poller_reopen(struct poller *poller) {
    // Without a new set nothing changes. To ask the old one whether it is there would take what it has to report.
    int set = new_set(poller);
    if (set < 0)
        return -errno;
    bool was_hosted = poller->is_hosted;
    // A forked process may keep the old set open, and then the outer one keeps it as well.
    if (was_hosted)
        runloop__poller_host(poller, false);
    int error = replace_set(poller, set);
    int host_error = was_hosted && poller->outer >= 0 ? host_again(poller) : 0;
    if (error)
        return error;
    error = watch_waker(poller);
    watch_timer(poller);
    return error ? error : host_error;
}

void runloop__poller_wake(struct poller *poller) {
    // In a signal handler, errno belongs to the interrupted code. The counter can't overflow in practice, and a write that failed for
    // that reason would be one edge among 2^64.
    int saved = errno;
    uint64_t one = 1;
    syscall(SYS_write, poller->waker, &one, sizeof one);
    errno = saved;
}

void runloop__poller_keep_readable(struct poller *poller) {
    poller->is_readable = true;
    runloop__poller_wake(poller);
}

static int make_timer(struct poller *poller) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer < 0)
        return -errno;
    int error = watch_edges(poller, timer, TAG_TIMER);
    if (error)
        close_descriptor(timer);
    else
        poller->timer = timer;
    return error;
}

int runloop__poller_arm(struct poller *poller, int64_t instant_ns) {
    int error = poller->timer < 0 ? make_timer(poller) : 0;
    if (error)
        return error;
    // An instant of zero would disarm the timer; any instant in the past expires at once, which is what is meant.
    int64_t when_ns = instant_ns < 1 ? 1 : instant_ns;
    struct itimerspec when = {.it_value = {.tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000}};
    return timerfd_settime(poller->timer, TFD_TIMER_ABSTIME, &when, NULL) ? -errno : 0;
}

// Where libc has the call, it is a cancellation point like epoll_wait.
extern int epoll_pwait2(int set, struct epoll_event *events, int capacity, const struct timespec *timeout,
                        const sigset_t *mask) __attribute__((weak));

static int wait_precisely(int set, struct epoll_event *events, int64_t timeout_ns) {
    if (epoll_pwait2) {
        struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = timeout_ns % 1000000000};
        return epoll_pwait2(set, events, POLLER_BATCH, &timeout, NULL);
    }
#ifdef SYS_epoll_pwait2
    // The kernel's own layout: 64-bit fields on every architecture that has the call.
    struct {
        int64_t seconds, nanoseconds;
    } timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    return (int)syscall(SYS_epoll_pwait2, set, events, POLLER_BATCH, &timeout, NULL, 0);
#else
    errno = ENOSYS;
    return -1;
#endif
}

static int wait_with_timeout(int set, struct epoll_event *events, int64_t timeout_ns) {
    // A kernel before 5.11 doesn't know the call, and a sandbox may forbid what it doesn't know.
    static _Atomic bool is_refused;
    if (!atomic_load_explicit(&is_refused, memory_order_relaxed)) {
        int count = wait_precisely(set, events, timeout_ns);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM))
            return count;
        atomic_store_explicit(&is_refused, true, memory_order_relaxed);
    }
    int64_t milliseconds = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
    return epoll_wait(set, events, POLLER_BATCH, milliseconds < INT_MAX ? (int)milliseconds : INT_MAX);
}

int runloop__poller_wait(struct poller *poller, int64_t timeout_ns, poller_event *events) {
    int count;
    poller->is_readable = false;
    if (timeout_ns == 0 || timeout_ns == RUNLOOP_FOREVER)
        count = epoll_wait(poller->set, events, POLLER_BATCH, timeout_ns == 0 ? 0 : -1);
    else
        count = wait_with_timeout(poller->set, events, timeout_ns);
    return count < 0 ? -errno : count;
}
#endif // __linux__
