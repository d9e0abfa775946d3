// stack.h — where another thread of the process is.
#ifndef RUNLOOP_STACK_H
#define RUNLOOP_STACK_H

#include <sys/types.h>

/// Any thread: installs the handler of the signal, 0 for the usual one; nothing for -1. -EINVAL, -EBUSY if the program has one.
int stack_prepare(int signal);
/// Any thread: the stack of a thread, from malloc, a line for each function. A thread that waits in the kernel is looked at from outside, and
/// goes on to wait. One that runs is sent the signal, and so is one of which the kernel does not say what it does, unless the signal is 0,
/// the usual one. -1: none is. NULL if the stack can't be had.
char *stack_copy(pid_t thread, int signal);

#endif // RUNLOOP_STACK_H
