// waiting_thread.h — where a thread is that waits in the kernel, seen from outside.
#ifndef RUNLOOP_WAITING_THREAD_H
#define RUNLOOP_WAITING_THREAD_H

#include <stdint.h>
#include <sys/types.h>

/// What the kernel says of a thread: it waits, and `codes` are its functions; or it runs; or the kernel does not say.
enum thread_state { THREAD_WAITS, THREAD_RUNS, THREAD_UNKNOWN };

/// The addresses of the code of a thread's functions, the innermost first; those after the first follow calls.
struct codes {
    int count;
    uintptr_t codes[64];
};

/// Any thread. Neither stops nor signals the other one. `codes` is empty unless it waits, and may be when it has gone on meanwhile.
enum thread_state waiting_thread_look(pid_t thread, struct codes *codes);

#endif // RUNLOOP_WAITING_THREAD_H
