// wrapped_syscall.h — system calls that the kernel, or a sandbox, refuses. Link with -Wl,--wrap=syscall.
#ifndef RUNLOOP_TEST_WRAPPED_SYSCALL_H
#define RUNLOOP_TEST_WRAPPED_SYSCALL_H

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

/// The call that is refused, and the error of that, or 0; how often it was.
static long refused_call;
static int refusal, refused;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long arguments[6];
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == refused_call && refusal) {
        refused++;
        errno = refusal;
        return -1;
    }
    return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

#endif // RUNLOOP_TEST_WRAPPED_SYSCALL_H
