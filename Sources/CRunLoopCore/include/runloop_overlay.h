//===----------------------------------------------------------------------===//
// runloop_overlay.h — what the Swift overlay shares with the core beside runloop.h, and nobody else: it is built with the core, in
// one package. Not installed, not exported from the shared library, and free to change.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_OVERLAY_H
#define RUNLOOP_OVERLAY_H
#ifdef __linux__

#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a thread knows of its own loop; nobody else reads or writes it. Written by run/thread.c.
struct runloop__this_thread {
    /// NULL before it asks for one, and after its end.
    runloop *loop;
    /// Of its destructors.
    unsigned passes;
    /// `schedule` and `cancel` of sources that are being called: the operation goes on with the loop afterwards.
    unsigned source_callouts;
    /// Why there is no loop.
    int error;
    /// Its loop has been torn down, and there will be no other.
    bool has_ended;
    /// Its tracer is being called.
    bool is_tracing;
    /// Among the threads of its process, once that was asked.
    enum { RUNLOOP__UNKNOWN, RUNLOOP__INITIAL, RUNLOOP__OTHER } place;
    runloop_tracer tracer;
};
#if defined(__GNUC__) && defined(__GLIBC__) // FAST_TLS of base.h
__attribute__((tls_model("initial-exec")))
#endif
/// That of the calling thread.
extern __thread struct runloop__this_thread runloop__this_thread;

/// A load; unlike runloop_current, which knows that the initial thread may not have asked for its loop yet.
static inline runloop *runloop__thread_loop(void) {
    return runloop__this_thread.loop;
}
/// A load and a comparison; unlike runloop_is_current, which knows that as well.
static inline bool runloop__is_thread_loop(const runloop *loop) {
    return runloop__this_thread.loop == loop;
}

/// The interned names of two modes: constants, so that a run in them looks nothing up.
extern const char runloop__default_mode[], runloop__common_modes[];
/// The name of the default mode.
static inline const char *runloop__name_of_default_mode(void) {
    return runloop__default_mode;
}
/// The name that stands for all common modes.
static inline const char *runloop__name_of_common_modes(void) {
    return runloop__common_modes;
}

/// Posts a function whose `info` is two words long, as a closure is: in the mode named `mode` or, if that is NULL, in several. The
/// words are copied; the function, or `discard`, is given the address of a copy, which lasts until it returns. After an error the
/// words are still the caller's.
int runloop__post_pair(runloop *loop, const char *mode, const char *const *modes, size_t count,
                       runloop_function function, const void *pair, runloop_function discard);

/// Creates a timer that fires once, in no loop, and whose info is two words long: `fire` and `release` are given their address. The end of
/// its loop's thread invalidates it. Order 0. One reference, which is the caller's. NULL when memory ran out: the words are still the
/// caller's.
runloop_timer *runloop__timer_new_pair(void *const info[2], int64_t fire_ns, int64_t tolerance_ns,
                                       void (*RUNLOOP_SENDABLE fire)(runloop_timer *timer, void *pair),
                                       void (*RUNLOOP_SENDABLE release)(void *pair));

/// runloop_timer_set_fire_date to so many nanoseconds from now, by the clock of the loop that it is in, which may be another thread's.
int runloop__timer_set_delay(runloop_timer *timer, int64_t delay_ns);

/// How objects that are the info of their items are retained and released: to be set before the first of them is made. Neither makes a call
/// of this library, except that the `release` which ends an object releases its item. `retain` may be called under locks.
void runloop__set_object_hooks(void (*RUNLOOP_SENDABLE retain)(void *object),
                               void (*RUNLOOP_SENDABLE release)(void *object));

/// Makes an object, which owns the one reference to the timer or the observer, the info of it, before anybody else has the item. For as
/// long as there are more references, those of loops, the object is retained once: it lives while anybody has the item, and
/// call-outs may borrow it. `release` is the release of the timer's context.
void runloop__timer_share(runloop_timer *timer, void *object, void (*RUNLOOP_SENDABLE release)(void *object));
void runloop__observer_share(runloop_observer *observer, void *object);

/// Has a run of the loop begun, ever? Any thread.
bool runloop__has_run(runloop *loop);

/// Is the calling thread, which is not the main one, one of libdispatch's that has work of a queue? false if that is not known.
bool runloop__is_on_dispatch_thread(void);

/// What a thread sends to a loop.
enum runloop__sent {
    RUNLOOP__SENT_TASK,    ///< a function was enqueued, whose address is `what`
    RUNLOOP__SENT_WAKE_UP, ///< it was woken
    RUNLOOP__SENT_STOP,    ///< it was asked to stop
};
/// Has `hook` called on the sending thread, without a lock of the loop's, after anybody has enqueued a task, woken a loop (not by waking a
/// source) or stopped it. Once, before there is another thread. It may wait, and makes no call that runs a loop.
void runloop__set_send_hook(void (*RUNLOOP_SENDABLE hook)(runloop *loop, enum runloop__sent kind, const void *what));

/// The loop's own epoll set, on its thread: readable while anything has come for the loop. Its number changes only if the program closes it.
int runloop__set_descriptor(runloop *loop);
/// Begins a hosted run of the calling thread's loop in the default mode, whose host is whatever serves the main dispatch queue on that
/// thread: so the run never serves the queue, is not woken by what comes to it, and is not over because the mode is empty. Otherwise as
/// runloop_hosted_begin.
int runloop__hosted_begin_as_guest(void);
/// The initial thread: does Foundation's loop drain the main dispatch queue, in a call around this one?
bool runloop__foundation_drains_main_queue(void);

/// The diagnostics on standard error, each written once per process.
enum runloop__diagnostic {
    RUNLOOP__MAIN_QUEUE_WAITS, ///< Work waits for the main queue, which a nested run can't serve.
    RUNLOOP__NEVER_RUN,        ///< Items are in a loop that nobody runs.
    RUNLOOP__JOB_BLOCKS,       ///< A job keeps the main loop.
    RUNLOOP__NO_EXECUTORS,     ///< The Swift runtime does not take our executors.
    RUNLOOP__CLOSED_TOO_EARLY, ///< A descriptor was closed while a source watched it.
    RUNLOOP__DIAGNOSTICS,      ///< How many there are.
};
/// Is it still to be written: diagnostics are enabled, and it was not written before?
bool runloop__diagnostic_is_due(enum runloop__diagnostic diagnostic);
/// Writes it, if it is due: sentences, without a line break.
void runloop__diagnostic_write(enum runloop__diagnostic diagnostic, const char *text);

#ifdef __cplusplus
}
#endif

#endif // __linux__
#endif // RUNLOOP_OVERLAY_H
