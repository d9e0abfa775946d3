// calls.c — the calls of the libc that the core and the scenes make: the linker puts these functions in their place (--wrap). Outside of an
// execution, and for what is not the explorer's, they are what they were.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"

/// The function of this name that the linker has replaced, and the one that replaces it.
#define REPLACED(type, name, ...)                                                                                      \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__)

static int answer(int result) {
    if (result < 0)
        errno = -result;
    return result < 0 ? -1 : result;
}

//===-- memory -------------------------------------------------------------------------------------------------------===//

REPLACED(void *, malloc, size_t size) {
    return is_executing() ? memory_new(size, 1) : __real_malloc(size);
}

REPLACED(void *, calloc, size_t count, size_t size) {
    return is_executing() ? memset(memory_new(count * size, 1), 0, count * size) : __real_calloc(count, size);
}

REPLACED(void *, aligned_alloc, size_t alignment, size_t size) {
    return is_executing() ? memory_new(size, alignment) : __real_aligned_alloc(alignment, size);
}

REPLACED(void, free, void *block) {
    if (!memory_is_ours(block))
        __real_free(block);
    else if (is_executing())
        memory_free(block);
}

REPLACED(void *, realloc, void *block, size_t size) {
    if (!is_executing())
        return __real_realloc(block, size);
    void *moved = memory_new(size, 1);
    if (block) {
        size_t former = memory_size(block);
        memcpy(moved, block, former < size ? former : size);
        memory_free(block);
    }
    return moved;
}

//===-- descriptors --------------------------------------------------------------------------------------------------===//

REPLACED(int, epoll_create1, int flags) {
    return is_executing() ? kernel_open(SET) : __real_epoll_create1(flags);
}

REPLACED(int, eventfd, unsigned value, int flags) {
    return is_executing() ? kernel_open(COUNTER) : __real_eventfd(value, flags);
}

REPLACED(int, timerfd_create, int clock, int flags) {
    return is_executing() ? kernel_open(TIMER) : __real_timerfd_create(clock, flags);
}

REPLACED(int, close, int descriptor) {
    return is_executing() ? answer(kernel_close(descriptor)) : __real_close(descriptor);
}

REPLACED(int, epoll_ctl, int set, int operation, int target, struct epoll_event *event) {
    return answer(kernel_control(set, operation, target, event));
}

REPLACED(int, epoll_wait, int set, struct epoll_event *events, int capacity, int timeout_ms) {
    return answer(kernel_wait(set, events, capacity, timeout_ms < 0 ? -1 : timeout_ms * INT64_C(1000000)));
}

REPLACED(int, epoll_pwait2, int set, struct epoll_event *events, int capacity, const struct timespec *timeout,
         const sigset_t *mask) {
    (void)mask;
    int64_t timeout_ns = timeout ? timeout->tv_sec * INT64_C(1000000000) + timeout->tv_nsec : -1;
    return answer(kernel_wait(set, events, capacity, timeout_ns));
}

REPLACED(int, timerfd_settime, int timer, int flags, const struct itimerspec *value, struct itimerspec *former) {
    (void)flags, (void)former;
    int64_t instant_ns;
    if (__builtin_mul_overflow(value->it_value.tv_sec, INT64_C(1000000000), &instant_ns))
        instant_ns = INT64_MAX;
    return answer(kernel_arm(timer, instant_ns + value->it_value.tv_nsec));
}

REPLACED(int, poll, struct pollfd *descriptors, nfds_t count, int timeout_ms) {
    (void)timeout_ms; // Only questions, and short waits for what the kernel does not do here.
    thread_may_switch();
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        descriptors[i].revents = kernel_level(descriptors[i].fd) & EPOLLIN ? POLLIN : 0;
        ready += descriptors[i].revents != 0;
    }
    return ready;
}

int __wrap_fcntl(int descriptor, int command, ...);
int __wrap_fcntl(int descriptor, int command, ...) {
    (void)command;
    return answer(kernel_has(descriptor) ? 0 : -EBADF);
}

REPLACED(int, clock_gettime, clockid_t clock, struct timespec *time) {
    if (!is_executing())
        return __real_clock_gettime(clock, time);
    int64_t now_ns = kernel_read_clock();
    *time = (struct timespec){.tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000};
    return 0;
}

REPLACED(ssize_t, write, int descriptor, const void *bytes, size_t size) {
    if (kernel_has(descriptor))
        return answer(kernel_write(descriptor, __builtin_return_address(0)));
    return __real_write(descriptor, bytes, size);
}

//===-- system calls by number ---------------------------------------------------------------------------------------===//

static int futex(const void *word, long operation, uint32_t value, const struct timespec *instant) {
    enum { WAIT = 128, WAKE = 128 | 1, WAIT_UNTIL = 128 | 9 };
    int64_t wake_ns =
        operation == WAIT_UNTIL && instant ? instant->tv_sec * INT64_C(1000000000) + instant->tv_nsec : INT64_MAX;
    return operation == WAKE ? kernel_futex_wake(word, value) : kernel_futex_wait(word, value, wake_ns);
}

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    long first = va_arg(arguments, long), second = va_arg(arguments, long), third = va_arg(arguments, long);
    long fourth = va_arg(arguments, long);
    va_end(arguments);
    switch (number) {
    case SYS_gettid: return getpid() + 1 + (long)thread_number(); // None is the initial one.
    case SYS_futex: return answer(futex((const void *)first, second, (uint32_t)third, (const struct timespec *)fourth));
    case SYS_write: return answer(kernel_write((int)first, __builtin_return_address(0)));
    case SYS_read: return answer(kernel_read((int)first, (uint64_t *)second));
    default: fail("A system call is made that the explorer does not know: %ld.", number);
    }
}

//===-- threads ------------------------------------------------------------------------------------------------------===//

REPLACED(pthread_t, pthread_self, void) {
    return is_executing() ? (pthread_t)thread_number() + 1 : __real_pthread_self();
}

REPLACED(int, pthread_key_create, pthread_key_t *key, void (*destructor)(void *)) {
    if (!is_executing())
        return __real_pthread_key_create(key, destructor);
    *key = key_make(destructor);
    return 0;
}

REPLACED(int, pthread_setspecific, pthread_key_t key, const void *value) {
    if (!is_executing())
        return __real_pthread_setspecific(key, value);
    key_set(key, value);
    return 0;
}

void __real_abort(void);
_Noreturn void __wrap_abort(void);
_Noreturn void __wrap_abort(void) {
    if (is_executing())
        fail("The program ends itself.");
    __real_abort();
    __builtin_unreachable();
}
