// runloop.h — the run loop for Linux: modes, sources, timers, observers, tasks. The one header of librunloop to include; C11,
// usable from C++11. R36 and the like are rules of docs/RULES.md. What holds for every call is said here and not repeated below:
//
//  - Results: a function gives its result or 0; an error is a negative errno value, and `errno` is not part of the interface. NULL
//    for an object or a name gives -EINVAL (or NULL, false, 0, RUNLOOP_NEVER where the result can't hold an error), never undefined
//    behaviour.
//  - Errors: a function lists those that it can give, with the reason unless that is one of these. -EINVAL: a required argument is
//    NULL, or no such object; -ENOMEM: there is not enough memory; -EMFILE, -ENFILE: the process, or the system, has no descriptor
//    left; -ENOSPC: the user may have no more descriptors watched (fs.epoll.max_user_watches); -EBADF: the descriptor is not open;
//    -ESHUTDOWN: the loop has ended, or is ending with its thread; -ECHILD: in a forked child, the loop or object is the parent's.
//  - Sandboxes: where the filter of a sandbox refuses a call of the kernel that a function can't do without, the error is that of the filter,
//    -EPERM or -ENOSYS as a rule, listed or not. docs/SYSTEM-CALLS.md says what is done without.
//  - Threads: any thread may make any call at any time; a run has no loop argument, since a thread runs its own loop. The caller
//    keeps the arguments alive by references until the call returns; another thread's loop needs runloop_retain.
//  - Time: instants are nanoseconds on CLOCK_MONOTONIC (int64_t, `_ns`); durations are nanoseconds.
//  - Modes: names are UTF-8 and compared by value. Names that the library returns live as long as the process.
//  - Forks: every kind of fork is noticed, _Fork and clone(SIGCHLD) included. In the child, an inherited loop gives -ECHILD
//    everywhere, and `runloop_current` creates a new one. Nothing that the child does disturbs the parent.
//  - Callbacks: one is called with no lock held, and may make any call, nested runs included. It is left by returning or by the end
//    of its thread (pthread_exit, cancellation); teardown finishes what was under way. An exception that leaves it ends the program
//    (std::terminate), as does the next run after a longjmp. Cancellation takes effect in callbacks and while the loop sleeps.
//  - Fairness: a drain performs at most 1,024 tasks, so that timers and descriptors are served even under a flood of tasks.
//  - End of a loop: a loop ends with its thread. A run on a thread whose loop has ended or is ending gives -ESHUTDOWN.
//  - Stack: this library and those on top use at most 8 KiB of a thread's stack, call-outs excluded, if they are compiled with optimisation. So a
//    loop may run on a thread with PTHREAD_STACK_MIN (16 KiB on most machines) if its callbacks need little.
//  - Misuse: in builds with RUNLOOP_DEBUG an over-release, or a use after the last release, ends the program with a sentence.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_H
#define RUNLOOP_H
#ifdef __linux__
#include "runloop_set.h"
#include <stdbool.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
#define RUNLOOP_EXPORT __attribute__((visibility("default")))
// Swift must not give a callback the isolation of the place where its closure is written.
#if defined(__clang__)
#define RUNLOOP_SENDABLE __attribute__((swift_attr("@Sendable")))
#define RUNLOOP_CLOSED __attribute__((enum_extensibility(closed)))
#define RUNLOOP_OPEN __attribute__((enum_extensibility(open)))
#else
#define RUNLOOP_SENDABLE
#define RUNLOOP_CLOSED
#define RUNLOOP_OPEN
#endif
/// The version of this header: 0.1.0.
#define RUNLOOP_VERSION 0x000100
/// The version of the library that the program runs with. O(1).
RUNLOOP_EXPORT uint32_t runloop_version(void);
//===-- Types and constants ------------------------------------------------------------------------------------------===//
/// A thread's run loop: its modes, and the items in them.
typedef struct runloop runloop;
/// An item that calls a function when it was signalled, or while a descriptor is ready. It may be in several loops.
typedef struct runloop_source runloop_source;
/// An item that calls a function at an instant, once or repeatedly. It is in one loop at a time.
typedef struct runloop_timer runloop_timer;
/// An item that is notified of the activities of a loop. It is in one loop at a time.
typedef struct runloop_observer runloop_observer;

/// Why a run ended. The values are those of CFRunLoopRunResult (R36).
typedef enum RUNLOOP_CLOSED runloop_result {
    RUNLOOP_RESULT_FINISHED = 1,       ///< Nothing can ever happen in the mode.
    RUNLOOP_RESULT_STOPPED = 2,        ///< One of the stop functions was called.
    RUNLOOP_RESULT_TIMED_OUT = 3,      ///< The limit was reached.
    RUNLOOP_RESULT_HANDLED_SOURCE = 4, ///< A source was handled, and the caller had asked to return then.
} runloop_result;

/// The activities of which a loop notifies its observers. The values are those of CFRunLoopActivity, whose bits are 0 to 27. A further one
/// that is this library's gets one of the bits 28 to 31, outside of ALL: nobody is notified of it without naming it.
enum RUNLOOP_FLAGS(runloop_activity) {
    RUNLOOP_ACTIVITY_ENTRY = 1U << 0,          ///< A run begins, nested or not.
    RUNLOOP_ACTIVITY_BEFORE_TIMERS = 1U << 1,  ///< An iteration begins, which may serve due timers.
    RUNLOOP_ACTIVITY_BEFORE_SOURCES = 1U << 2, ///< Signalled sources are dispatched next.
    RUNLOOP_ACTIVITY_BEFORE_WAITING = 1U << 5, ///< The loop is about to sleep, if it has nothing to do.
    RUNLOOP_ACTIVITY_AFTER_WAITING = 1U << 6,  ///< The wait has ended, and what ended it has not been served yet.
    RUNLOOP_ACTIVITY_EXIT = 1U << 7,           ///< A run ends, nested or not.
    RUNLOOP_ACTIVITY_ALL = 0x0FFFFFFF          ///< Every activity of CFRunLoop.
};
RUNLOOP_SET(runloop_activity);

/// Why a source is called: conditions of its descriptor, with the values of EPOLLIN, EPOLLPRI, …, and reasons of the loop's own. A further
/// one of the loop's own gets a bit from 16 on, and is reported to no source that has not asked for it.
enum RUNLOOP_FLAGS(runloop_readiness) {
    RUNLOOP_READABLE = 0x001,  ///< There is something to read or to accept, or the end has been reached.
    RUNLOOP_PRIORITY = 0x002,  ///< There is something urgent to read.
    RUNLOOP_WRITABLE = 0x004,  ///< Something can be written.
    RUNLOOP_ERROR = 0x008,     ///< Reported to every source of the descriptor, requested or not.
    RUNLOOP_HANG_UP = 0x010,   ///< Reported to every source; requesting it adds "the peer has shut down its half".
    RUNLOOP_SIGNALLED = 0x020, ///< The source was signalled.
    RUNLOOP_DUE = 0x040        ///< Its deadline has passed.
};
RUNLOOP_SET(runloop_readiness);

/// The instant that never comes, and the limit that is never reached: INT64_MAX, in a form that Swift imports.
#define RUNLOOP_NEVER ((int64_t)0x7fffffffffffffff)
#define RUNLOOP_FOREVER ((int64_t)0x7fffffffffffffff)

/// Names of modes. RUNLOOP_COMMON_MODES names the pseudo-mode, which is not a mode but stands for all modes declared common.
#define RUNLOOP_DEFAULT_MODE "kCFRunLoopDefaultMode"
#define RUNLOOP_COMMON_MODES "kCFRunLoopCommonModes"
#define RUNLOOP_TRACKING_MODE "UITrackingRunLoopMode"
#define RUNLOOP_INITIALIZATION_MODE "UIInitializationRunLoopMode"

/// The pointer that an item passes to its callbacks, and how it is kept alive. The core calls `retain` once, when the item is
/// created, and its result becomes `info`. It calls `release` once: for timers and observers when they are invalidated or freed,
/// for sources when they are freed, and never while a callback of the item runs (R56, R57, R88, R98). runloop_copy_description
/// calls `describe` for a text from malloc, and frees it: of a timer or an observer while it is valid, so a thread that describes
/// the loop of another one must not meet the end of such an item that has a `describe` and a `release`. Each of the three may be
/// NULL.
typedef struct runloop_context {
    void *info;                                     ///< The caller's, or what `retain` returned.
    void *(*RUNLOOP_SENDABLE retain)(void *info);   ///< Once, at creation. May be NULL.
    void (*RUNLOOP_SENDABLE release)(void *info);   ///< Once, at the end. May be NULL.
    char *(*RUNLOOP_SENDABLE describe)(void *info); ///< A text from malloc. May be NULL.
} runloop_context;

//===-- The loop -----------------------------------------------------------------------------------------------------===//
/// The calling thread's loop, created at the first call (R1, R4). O(1), no system call after the first call.
/// Returns: the loop, borrowed: it lives at least as long as its thread. NULL if descriptors or memory ran out (try again later),
/// or if the thread's loop has ended.
RUNLOOP_EXPORT runloop *runloop_current(void);
/// The initial thread's loop, even if that never asked for it (R2). O(1).
/// Returns: the loop, borrowed and never freed; NULL only if it can't be made.
RUNLOOP_EXPORT runloop *runloop_main(void);

/// Retain and release a loop. If still referenced when its thread ends, it remains a valid object on which nothing ever runs
/// (R10): additions give -ESHUTDOWN, other calls do nothing. Never release what `current` or `main` lent. NULL is ignored. O(1).
RUNLOOP_EXPORT runloop *runloop_retain(runloop *loop);
RUNLOOP_EXPORT void runloop_release(runloop *loop);

/// Whether it is the calling thread's loop; whether it is asleep or about to fall asleep (R52). O(1), no system call.
RUNLOOP_EXPORT bool runloop_is_current(runloop *loop);
RUNLOOP_EXPORT bool runloop_is_waiting(runloop *loop);

/// Whether the innermost active run would sleep if it reached its wait now (R148). For BeforeWaiting observers with work that can
/// wait until there is nothing else to do: they are notified even if the check before the sleep finds work. False outside runs, in
/// a polling run, on another thread. O(1) plus tasks enqueued since the last query; a system call if the mode has descriptors.
RUNLOOP_EXPORT bool runloop_is_idle(runloop *loop);
/// The mode of the innermost active run (R5). O(1).
/// Returns: its name; NULL if no run is active.
RUNLOOP_EXPORT const char *runloop_current_mode(runloop *loop);

/// The names of the loop's modes, of which up to `capacity` are written to `names`; that may be NULL if `capacity` is 0 (R15). A
/// mode exists once something was added to it or it was declared common or stopped (R14), as long as its loop. O(modes).
/// Returns: the number of the modes, which may be more than `capacity`.
RUNLOOP_EXPORT size_t runloop_get_modes(runloop *loop, const char **names, size_t capacity);

/// Makes `mode` common and adds every common item to it (R17, R18). Sources get their `schedule` on the calling thread.
/// Idempotent; cannot be undone. The pseudo-mode is ignored. O(common items).
/// Errors: -EINVAL; -ESHUTDOWN; -ECHILD; -ENOMEM: the mode is as it was, or lacks some of the common sources.
RUNLOOP_EXPORT int runloop_add_common_mode(runloop *loop, const char *mode);
RUNLOOP_EXPORT bool runloop_mode_is_common(runloop *loop, const char *mode);

/// Whether a run in `mode` would finish at once (R23); also true for an unknown mode and the pseudo-mode. On a thread other than
/// the loop's, only sources and timers count. O(tasks enqueued since the last query).
RUNLOOP_EXPORT bool runloop_mode_is_empty(runloop *loop, const char *mode);

/// Whether a run of the calling thread's loop in `mode` would find work and not sleep (R25): a remembered stop, a signalled
/// source, a matching task, a due timer, a ready descriptor, the main queue. Consumes nothing, calls nothing out. Allowed in
/// callbacks; stops and wake-ups of the active run don't count (see runloop_is_idle). False for NULL, the pseudo-mode, unknown
/// modes, and if the thread has no loop and none can be made. O(signalled sources + matching tasks), at most one system call
/// unless very many descriptors are ready.
RUNLOOP_EXPORT bool runloop_has_work(const char *mode);

/// The earliest date of a mode: of its timers, including one that is firing (R90), and of its sources' deadlines (R152). O(1) plus
/// the timers that are firing.
/// Returns: the date; RUNLOOP_NEVER if the mode has neither, is unknown, or is the pseudo-mode.
RUNLOOP_EXPORT int64_t runloop_next_fire_date(runloop *loop, const char *mode);

/// The current instant for the calling thread: that of its loop's clock if that has one (runloop_set_clock), else that of
/// CLOCK_MONOTONIC, which stands still while the machine is suspended. O(1).
RUNLOOP_EXPORT int64_t runloop_now_ns(void);

/// The pointer for a name in the process-wide table of names: equal names give the same pointer, for ever. A mode named by such a
/// pointer is found without comparing text. Names that the library hands out are such pointers. O(log names).
/// Returns: the pointer; NULL if memory ran out.
RUNLOOP_EXPORT const char *runloop_mode_name(const char *name);

//===-- Running, stopping, waking ------------------------------------------------------------------------------------===//
/// Runs the calling thread's loop in `mode` (R28–R41). Runs nest to any depth. `limit_ns` <= 0 means exactly one iteration, which
/// never sleeps (R31). Otherwise the run ends with the first iteration that ends at or after `limit_ns` from the return of the
/// Entry observers (R32); RUNLOOP_FOREVER means no limit. The pseudo-mode, NULL, an unknown and an empty mode finish at once, and
/// no observer is notified (R22, R23, R28). An iteration costs O(signalled sources + due timers + matching tasks) and at most one
/// wait; no system call at all in a mode without descriptors and timers that has something to do.
/// Returns: a runloop_result.
/// Errors: -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: the thread has no loop yet, and none can be made; -ESHUTDOWN; -ECHILD: in a forked
/// child that returns into an inherited run; -EBUSY: inside the `wait` of the loop's clock.
RUNLOOP_EXPORT int runloop_run_in_mode(const char *mode, int64_t limit_ns, bool return_after_source_handled);
/// Runs the default mode until it is stopped or finished (R27).
/// Returns: RUNLOOP_RESULT_STOPPED or RUNLOOP_RESULT_FINISHED.
/// Errors: those of runloop_run_in_mode.
RUNLOOP_EXPORT int runloop_run(void);
/// One pass: a run of one iteration that waits for `limit_ns` at most (0 or less: not at all), and serves all that is ready then,
/// each once, due timers first (R151). It does not wait if it has performed tasks. For programs that drive the loop from a loop
/// of their own, and for many descriptors that are ready at a time: an iteration of another run serves one of them.
/// Returns: RUNLOOP_RESULT_HANDLED_SOURCE if a source, a timer or the main queue was served; else RUNLOOP_RESULT_STOPPED,
/// _FINISHED, or _TIMED_OUT: it has waited in vain, or for a wake-up or a task.
/// Errors: those of runloop_run_in_mode.
RUNLOOP_EXPORT int runloop_run_pass(const char *mode, int64_t limit_ns);

/// Ends the innermost active run at the end of its iteration, and wakes the loop (R46). Nothing is remembered if no run is active
/// (R47). Async-signal-safe. Twice has the effect of once. O(1); one system call if the loop sleeps.
/// Errors: -EINVAL; -ECHILD.
RUNLOOP_EXPORT int runloop_stop(runloop *loop);
/// Like runloop_stop, but remembered until a run of the loop consumes it, however early it is called (R47). Async-signal-safe.
/// Twice before it is consumed has the effect of once. O(1).
/// Errors: -EINVAL; -ECHILD.
RUNLOOP_EXPORT int runloop_stop_latched(runloop *loop);
/// Ends a run in `mode` at the end of an iteration, now or whenever the mode runs; remembered (R53). Creates the mode if
/// necessary, and wakes the loop, whatever mode it runs. Not for signal handlers. O(log modes).
/// Errors: -EINVAL: the mode is the pseudo-mode; -ENOMEM; -ECHILD.
RUNLOOP_EXPORT int runloop_stop_mode(runloop *loop, const char *mode);

/// Ends one sleep, or prevents the next if the loop is on its way to it; ignored without trace if no run is active or its wait is
/// over (R48–R50). Async-signal-safe. Any number before the wait are one. O(1); one system call if the loop sleeps, else none.
/// Errors: -EINVAL; -ECHILD.
RUNLOOP_EXPORT int runloop_wake_up(runloop *loop);

//===-- Tasks ("blocks") ---------------------------------------------------------------------------------------------===//
/// The function of a task, or the one that is called instead if the task can never be performed.
typedef void (*RUNLOOP_SENDABLE runloop_function)(void *info);

/// Enqueues a task for the loop's thread: a call of `function(info)`, once, in order, when that runs in `mode` (R100–R105). If
/// that can never happen because the thread ends, `discard(info)` (may be NULL) is called instead, on the ending thread and after
/// the `cancel` of every source: always exactly one of the two, but neither after an error. `runloop_perform` does not wake a
/// sleeping loop (R104), `runloop_post` does. The pseudo-mode means "in any common mode". A task that is enqueued by a task is
/// performed in the next drain. Not for signal handlers. O(1).
/// Errors: -EINVAL; -ENOMEM; -ESHUTDOWN; -ECHILD.
RUNLOOP_EXPORT int runloop_perform(runloop *loop, const char *mode, runloop_function function, void *info,
                                   runloop_function discard);
RUNLOOP_EXPORT int runloop_post(runloop *loop, const char *mode, runloop_function function, void *info,
                                runloop_function discard);

/// The same for several modes: performed once, in whichever runs first. With no modes it is accepted and never performed.
/// After -ENOMEM, some of the modes may have been made. O(modes).
/// Errors: those of runloop_perform.
RUNLOOP_EXPORT int runloop_perform_in_modes(runloop *loop, const char *const *modes, size_t count,
                                            runloop_function function, void *info, runloop_function discard);
RUNLOOP_EXPORT int runloop_post_in_modes(runloop *loop, const char *const *modes, size_t count,
                                         runloop_function function, void *info, runloop_function discard);

#if defined(__BLOCKS__) && !defined(RUNLOOP_BUILDING_CORE)
/// The same for a block, which is copied, and released right after it ran.
/// Errors: those of runloop_perform; -ENOSYS: the program has no blocks runtime.
RUNLOOP_EXPORT int runloop_perform_block(runloop *loop, const char *mode, void (^block)(void));
RUNLOOP_EXPORT int runloop_post_block(runloop *loop, const char *mode, void (^block)(void));
#endif

#ifdef __cplusplus
}
#endif
#include "runloop_binding.h"
#include "runloop_clock.h"
#include "runloop_host.h"
#include "runloop_inspect.h"
#include "runloop_observer.h"
#include "runloop_source.h"
#include "runloop_timer.h"
#endif // __linux__
#endif // RUNLOOP_H
