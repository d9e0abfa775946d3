//===----------------------------------------------------------------------===//
// runloop.h — the run loop for Linux: modes, sources, timers, observers.
// The only public header of librunloop: C11, usable from C++11.
//
// Conventions that hold for every call below and are not repeated:
//  - Results: 0 or a positive answer; errors are negative errno values, `errno` itself is never
//    part of the interface. A NULL object or name gives -EINVAL (or NULL, false, 0, RUNLOOP_NEVER
//    where the result has no room for an error), never undefined behaviour.
//  - Threads: any thread may make any call at any time, unless the call says "own thread". What a call is
//    given must be kept alive by a reference until it returns: another thread's loop needs runloop_retain.
//  - Time: instants are nanoseconds on CLOCK_MONOTONIC (int64_t, `_ns`); durations are nanoseconds.
//  - Names of modes are UTF-8, compared by value. Names handed out live as long as the process.
//  - After fork, an inherited loop answers -ECHILD everywhere in the child; `runloop_current` there
//    makes a new one. Nothing done in the child disturbs the parent.
//  - No lock is held while a callback runs: callbacks may make any call, nested runs included.
//  - "Rule" numbers refer to docs/RULES.md.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_H
#define RUNLOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RUNLOOP_EXPORT __attribute__((visibility("default")))
#else
#define RUNLOOP_EXPORT
#endif

// Swift must not give a callback the isolation of the place where its closure is written.
#if defined(__clang__)
#define RUNLOOP_SENDABLE __attribute__((swift_attr("@Sendable")))
#define RUNLOOP_CLOSED __attribute__((enum_extensibility(closed)))
#else
#define RUNLOOP_SENDABLE
#define RUNLOOP_CLOSED
#endif

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

typedef struct runloop runloop;
typedef struct runloop_source runloop_source;
typedef struct runloop_timer runloop_timer;
typedef struct runloop_observer runloop_observer;

/// Why a run ended. The values are those of CFRunLoopRunResult (rule R36).
typedef enum RUNLOOP_CLOSED runloop_result {
    RUNLOOP_RESULT_FINISHED = 1,       ///< The mode has nothing that could ever happen.
    RUNLOOP_RESULT_STOPPED = 2,        ///< Somebody called a stop function.
    RUNLOOP_RESULT_TIMED_OUT = 3,      ///< The limit has passed.
    RUNLOOP_RESULT_HANDLED_SOURCE = 4, ///< A source was handled and the caller asked to return then.
} runloop_result;

/// What a loop tells its observers. The values are those of CFRunLoopActivity.
typedef uint32_t runloop_activity;
enum {
    RUNLOOP_ACTIVITY_ENTRY = 1U << 0,          ///< A run begins, a nested one too.
    RUNLOOP_ACTIVITY_BEFORE_TIMERS = 1U << 1,  ///< An iteration begins; due timers will be served in it.
    RUNLOOP_ACTIVITY_BEFORE_SOURCES = 1U << 2, ///< Signalled sources are served next.
    RUNLOOP_ACTIVITY_BEFORE_WAITING = 1U << 5, ///< The loop is about to sleep, if it has nothing to do.
    RUNLOOP_ACTIVITY_AFTER_WAITING = 1U << 6,  ///< It has slept, and has not served yet what woke it.
    RUNLOOP_ACTIVITY_EXIT = 1U << 7,           ///< A run ends, a nested one too.
    RUNLOOP_ACTIVITY_ALL = 0x0FFFFFFF          ///< All of them, future ones included.
};

/// Conditions of a descriptor. The values are those of EPOLLIN, EPOLLPRI, …
typedef uint32_t runloop_readiness;
enum {
    RUNLOOP_READABLE = 0x001, ///< Something can be read or accepted, or the end has been reached.
    RUNLOOP_PRIORITY = 0x002, ///< Something urgent can be read.
    RUNLOOP_WRITABLE = 0x004, ///< Something can be written.
    RUNLOOP_ERROR = 0x008,    ///< Told to every source of the descriptor, asked for or not.
    RUNLOOP_HANG_UP = 0x010   ///< Told to every source; asking for it adds "the peer has shut down its half".
};

/// The instant that never comes, and the limit that never ends: INT64_MAX, in a form that Swift sees too.
#define RUNLOOP_NEVER ((int64_t)0x7fffffffffffffff)
#define RUNLOOP_FOREVER ((int64_t)0x7fffffffffffffff)

/// Names of modes. RUNLOOP_COMMON_MODES is not a mode but stands for all that were declared common.
#define RUNLOOP_DEFAULT_MODE "kCFRunLoopDefaultMode"
#define RUNLOOP_COMMON_MODES "kCFRunLoopCommonModes"
#define RUNLOOP_TRACKING_MODE "UITrackingRunLoopMode"
#define RUNLOOP_INITIALIZATION_MODE "UIInitializationRunLoopMode"

/// What a callback is about: a pointer of yours and how it is kept. `retain` (may be NULL) is called
/// once, when an item is created, and its result becomes `info`; `release` (may be NULL) is called once:
/// for timers and observers when they are invalidated or freed, for sources when they are freed, and
/// never while a callback of that item runs (rules R56, R57, R88, R98). `describe` (may be NULL) returns
/// a malloc'ed text for runloop_copy_description, which frees it.
typedef struct runloop_context {
    void *info;                                     ///< Yours; what `retain` returned, if there is one.
    void *(*RUNLOOP_SENDABLE retain)(void *info);   ///< Once, at the creation. May be NULL.
    void (*RUNLOOP_SENDABLE release)(void *info);   ///< Once, at the end. May be NULL.
    char *(*RUNLOOP_SENDABLE describe)(void *info); ///< A malloc'ed text. May be NULL.
} runloop_context;

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// The calling thread's loop, made at the first call (R1, R4). A borrowed reference: the loop lives at
/// least as long as its thread. NULL when descriptors or memory ran out (try again later), and when the
/// thread is ending and its loop is already gone. O(1), no system call but at the first call.
RUNLOOP_EXPORT runloop *runloop_current(void);

/// The initial thread's loop, from any thread, also before that thread asked for it (R2). Borrowed; never
/// freed. NULL only when it could not be made. O(1).
RUNLOOP_EXPORT runloop *runloop_main(void);

/// Takes and gives back a reference to a loop. A loop that is still referenced when its thread ends stays
/// a valid object on which nothing ever runs (R10): additions answer -ESHUTDOWN, the rest does nothing.
/// Never release the reference that `current` or `main` lent. NULL is ignored. O(1).
RUNLOOP_EXPORT runloop *runloop_retain(runloop *loop);
RUNLOOP_EXPORT void runloop_release(runloop *loop);

/// Is it the calling thread's loop? Is it asleep, or about to fall asleep (R52)? O(1), no system call.
RUNLOOP_EXPORT bool runloop_is_current(runloop *loop);
RUNLOOP_EXPORT bool runloop_is_waiting(runloop *loop);

/// The longest look-out: a millisecond, in nanoseconds.
#define RUNLOOP_SPIN_AT_MOST INT64_C(1000000)

/// Before each sleep, look out for a wake-up for at most `limit_ns` nanoseconds; 0, as it is at first, for not. For loops that wake
/// one another at a high rate from different cores: a round trip then takes well under a microsecond, at the price of the
/// processor's time. Look-outs in vain make themselves rare, so that a loop whose wakers need its core, or that is idle, soon
/// just sleeps. Descriptors are polled meanwhile; a timer brought forward by another thread, or a mode emptied, may be noticed
/// by so much later. Not while the main queue is served. Any thread, at any time, also while the loop sleeps: the next
/// sleep counts. -EINVAL for a negative limit or more than RUNLOOP_SPIN_AT_MOST. O(1). No rule asks for it: nothing but time
/// tells the difference.
RUNLOOP_EXPORT int runloop_set_spin(runloop *loop, int64_t limit_ns);
RUNLOOP_EXPORT int64_t runloop_get_spin(runloop *loop);

/// Would the innermost active run sleep, if it came to its wait now (R148)? For observers of BeforeWaiting that have work which
/// can wait until there is nothing else to do: they are told also when the look before the sleep will find something. False
/// outside runs, in a run that polls, and on another thread. O(1) plus functions queued since the last question, and a system
/// call in a mode with descriptors.
RUNLOOP_EXPORT bool runloop_is_idle(runloop *loop);

/// The mode of the innermost active run, NULL when no run is active (R5). O(1).
RUNLOOP_EXPORT const char *runloop_current_mode(runloop *loop);

/// Writes up to `capacity` names of the loop's modes to `names` and returns how many modes there are (R15).
/// `names` may be NULL if `capacity` is 0. A mode exists from the first addition to it (R14) or from being
/// declared common, and as long as the loop. O(modes).
RUNLOOP_EXPORT size_t runloop_get_modes(runloop *loop, const char **names, size_t capacity);

/// Makes `mode` one of the common modes and adds every common item to it (R17, R18). Idempotent; cannot be
/// undone. 0 for the pseudo-mode itself, which is ignored. -ENOMEM leaves the mode as it was; -ESHUTDOWN.
/// O(common items). `schedule` callbacks run on the calling thread.
RUNLOOP_EXPORT int runloop_add_common_mode(runloop *loop, const char *mode);
RUNLOOP_EXPORT bool runloop_mode_is_common(runloop *loop, const char *mode);

/// Would a run in `mode` finish at once (R23)? Also true for a mode that does not exist, and the pseudo-mode. On another
/// thread than the loop's, sources and timers alone count. O(functions queued since the last question).
RUNLOOP_EXPORT bool runloop_mode_is_empty(runloop *loop, const char *mode);

/// Would a run of the calling thread's loop in `mode` find something to do, so that it would not sleep (R25)? A remembered stop,
/// a signalled source, a matching function, a due timer, a ready descriptor, the main queue. Takes nothing away, calls nothing out.
/// Own thread by construction, inside call-outs too; a stop or wake-up of the run under way does not count: of that run
/// runloop_is_idle tells. false without a loop, and for NULL, the pseudo-mode and unknown modes. O(signalled sources + matching
/// functions), at most one system call unless very many descriptors are ready.
RUNLOOP_EXPORT bool runloop_has_work(const char *mode);

/// The earliest fire date in a mode, a timer firing right now included (R90). RUNLOOP_NEVER when it has no
/// timer, is unknown, or is the pseudo-mode. O(1) plus the timers that are firing.
RUNLOOP_EXPORT int64_t runloop_next_fire_date(runloop *loop, const char *mode);

/// The current instant of the loop's clock, CLOCK_MONOTONIC: stands still while the machine is suspended.
RUNLOOP_EXPORT int64_t runloop_now_ns(void);

/// `name` in the process-wide table of names: equal names give the same pointer, for ever. A mode that is
/// named by such a pointer is found without comparing text. Names that this library hands out, of current modes, in
/// lists and to callbacks, are such pointers. NULL when memory ran out. O(names).
RUNLOOP_EXPORT const char *runloop_mode_name(const char *name);

/// How many sleeps and wakes tolerance has spared this loop so far. O(1).
RUNLOOP_EXPORT uint64_t runloop_wakeups_saved(runloop *loop);

/// Notes to the developer on standard error, about use that is allowed but hardly meant; each is written once per process, by the
/// thread that notices. There is one: work for the main dispatch queue or the main actor waits longer than 250 ms because the main
/// loop runs inside such work (R109). On unless the environment has RUNLOOP_NOTES=0. Costs nothing but in such runs. O(1).
RUNLOOP_EXPORT void runloop_set_notes_enabled(bool enabled);
RUNLOOP_EXPORT bool runloop_notes_are_enabled(void);

/// An object of a language binding that belongs to a loop, so that the same loop is always the same object there. `key` is an address
/// that only its owner uses: each key has one object. The object becomes the loop's, with one reference, which `release` takes back
/// on the ending thread, after everything else of the loop's end; a main loop whose thread does not end keeps it. `retain` returns
/// the object with one more reference, on the thread that asked; it makes no call of this library. There is no way to
/// replace or to remove it. -EEXIST: the key has one already; -EINVAL for NULL anywhere, -ESHUTDOWN, -ENOMEM: the object stays
/// the caller's. O(keys).
RUNLOOP_EXPORT int runloop_set_associated(runloop *loop, const void *key, void *object,
                                          void *(*RUNLOOP_SENDABLE retain)(void *object),
                                          void (*RUNLOOP_SENDABLE release)(void *object));

/// The object of the calling thread's loop, borrowed: valid on this thread until its loop ends. NULL if there is no loop (none is
/// made), no such key, or the loop has ended. A few loads; O(keys).
RUNLOOP_EXPORT void *runloop_current_associated(const void *key);

/// The object of any loop, retained. NULL if there is no such key, or the loop's thread has ended. Any thread. O(keys).
RUNLOOP_EXPORT void *runloop_copy_associated(runloop *loop, const void *key);

/// How many forks lie between this process and the one that loaded the library, 0 for that one itself. What was made under
/// another number belongs to another process. Any thread. O(1).
RUNLOOP_EXPORT uint32_t runloop_fork_generation(void);

/// A readable account of a loop: modes, items, order, validity, fire dates, signals. malloc'ed: free() it.
/// NULL when memory ran out. O(items). For people and logs; its form may change.
RUNLOOP_EXPORT char *runloop_copy_description(runloop *loop);

//===----------------------------------------------------------------------===//
// Running, stopping, waking
//===----------------------------------------------------------------------===//

/// Runs the calling thread's loop in `mode` (R28–R41). Own thread by construction; nests to any depth.
/// `limit_ns` <= 0: exactly one iteration that never sleeps (R31). Otherwise the run ends at the first end of
/// an iteration at or after `limit_ns` from the return of the Entry observers (R32); RUNLOOP_FOREVER: no limit.
/// Returns a runloop_result, or -ENOMEM/-EMFILE when the thread has no loop yet and none can be made,
/// -ESHUTDOWN when it has none any more, -ECHILD in a forked child that returns into an inherited run.
/// The pseudo-mode, NULL, an unknown and an empty mode finish at once, unobserved (R22, R23, R28).
/// An iteration costs O(signalled sources + due timers + matching posts) and at most one wait; no system call at all
/// in a mode without descriptors and timers that has something to do.
RUNLOOP_EXPORT int runloop_run_in_mode(const char *mode, int64_t limit_ns, bool return_after_source_handled);

/// Runs the default mode until it is stopped or finished (R27). Same results and errors.
RUNLOOP_EXPORT int runloop_run(void);

/// Ends the innermost active run at the end of its iteration, and wakes it (R46). Nothing is remembered when no
/// run is active (R47). Async-signal-safe. Twice is once. O(1); one system call if the loop sleeps.
RUNLOOP_EXPORT int runloop_stop(runloop *loop);

/// Like runloop_stop, but remembered until some run of the loop consumes it, however early it comes.
/// Async-signal-safe. Twice before it is consumed is once. O(1).
RUNLOOP_EXPORT int runloop_stop_latched(runloop *loop);

/// Ends the next end of an iteration in `mode`, now or whenever that mode runs; remembered (R53). Makes the mode
/// if needed, and wakes the loop, whatever mode it runs. -ENOMEM; -EINVAL for the pseudo-mode. Not for signal handlers.
/// O(modes).
RUNLOOP_EXPORT int runloop_stop_mode(runloop *loop, const char *mode);

/// Ends one sleep, or spares the next if the loop is on its way to it; ignored, without trace, when no run is
/// active or it is past its wait (R48–R50). Async-signal-safe. Any number before the wait are one. O(1); one
/// system call if the loop sleeps, none otherwise.
RUNLOOP_EXPORT int runloop_wake_up(runloop *loop);

//===----------------------------------------------------------------------===//
// Performed functions ("blocks")
//===----------------------------------------------------------------------===//

/// A function to be performed, and one that is called instead if that can never happen.
typedef void (*RUNLOOP_SENDABLE runloop_function)(void *info);

/// Calls `function(info)` once, in order, on the loop's thread, when it runs in `mode` (R100–R105). If that can never
/// happen because the thread ends, `discard(info)` (may be NULL) is called instead, on the ending thread and after the `cancel` of
/// every source: always exactly one of the two.
/// After an error neither is called. `runloop_perform` does not wake a sleeping loop (R104), `runloop_post` does.
/// The pseudo-mode means "in any common mode". -ENOMEM, -ESHUTDOWN. O(1). From inside a performed function: runs in
/// the next drain. Not for signal handlers.
RUNLOOP_EXPORT int runloop_perform(runloop *loop, const char *mode, runloop_function function, void *info,
                                   runloop_function discard);
RUNLOOP_EXPORT int runloop_post(runloop *loop, const char *mode, runloop_function function, void *info,
                                runloop_function discard);

/// The same for several modes: performed once, in whichever runs first. No modes: accepted, never performed.
RUNLOOP_EXPORT int runloop_perform_in_modes(runloop *loop, const char *const *modes, size_t count,
                                            runloop_function function, void *info, runloop_function discard);
RUNLOOP_EXPORT int runloop_post_in_modes(runloop *loop, const char *const *modes, size_t count,
                                         runloop_function function, void *info, runloop_function discard);

#if defined(__BLOCKS__) && !defined(RUNLOOP_BUILDING_CORE)
/// Block variants: the block is copied, and released right after it ran. -ENOSYS without a blocks runtime.
RUNLOOP_EXPORT int runloop_perform_block(runloop *loop, const char *mode, void (^block)(void));
RUNLOOP_EXPORT int runloop_post_block(runloop *loop, const char *mode, void (^block)(void));
#endif

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// A source that is signalled by hand (source0).
typedef struct runloop_source_config {
    runloop_context context;
    int32_t order; ///< Lower performs first; equal ones in the order of their first signal.
    /// On the loop's thread, once however often it was signalled. May be NULL: still counts as handled.
    void (*RUNLOOP_SENDABLE perform)(runloop_source *source, void *info);
    /// After each addition to / removal from a concrete mode, on the calling thread (R58, R59). May be NULL.
    void (*RUNLOOP_SENDABLE schedule)(runloop_source *source, runloop *loop, const char *mode, void *info);
    void (*RUNLOOP_SENDABLE cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);
    /// If two sources name the same function here, those it calls equal (same order, perform) exclude each other (R60).
    bool (*RUNLOOP_SENDABLE equal)(const void *info, const void *other_info);
} runloop_source_config;

/// A source that is driven by a descriptor (source1). Level-triggered: called, one descriptor per iteration, as long as
/// a condition it asked for holds; its owner reads and writes. Give it a non-blocking descriptor: when somebody else
/// took what was ready, it may be called once for nothing. Remove it before closing the descriptor, which the loop
/// never closes. `descriptor` -1: a member of its modes that is never called (R68).
typedef struct runloop_descriptor_config {
    runloop_context context;
    int32_t order;            ///< Among the sources of one descriptor.
    int descriptor;           ///< Stays yours.
    runloop_readiness events; ///< At least one, may be changed later; errors and hang-ups are told in any case.
    /// `counter`: the descriptor is a non-blocking eventfd, timerfd or alike, and the loop reads its 8 bytes before it
    /// calls (R69). Checked: -EINVAL otherwise, so that no byte of a pipe or a socket is ever eaten.
    bool counter;
    /// May be NULL: still counts as handled.
    void (*RUNLOOP_SENDABLE ready)(runloop_source *source, runloop_readiness events, void *info);
    /// As for runloop_source_config.
    bool (*RUNLOOP_SENDABLE equal)(const void *info, const void *other_info);
} runloop_descriptor_config;

/// Create a source with one reference, in no loop. -EINVAL (NULL; no or unknown events; descriptor < -1; not a counter),
/// -ENOMEM. O(1).
RUNLOOP_EXPORT int runloop_source_create(const runloop_source_config *config, runloop_source **out);
RUNLOOP_EXPORT int runloop_descriptor_source_create(const runloop_descriptor_config *config, runloop_source **out);
RUNLOOP_EXPORT runloop_source *runloop_source_retain(runloop_source *source);
RUNLOOP_EXPORT void runloop_source_release(runloop_source *source);

/// Marks the source; it performs in the next pass of a loop that has it in the running mode. Marks until then, also in no
/// loop. Does not wake (R54, R62). Ignored when invalid. Async-signal-safe if the handler's program holds a reference.
/// O(loops it is in).
RUNLOOP_EXPORT int runloop_source_signal(runloop_source *source);
RUNLOOP_EXPORT bool runloop_source_is_signalled(runloop_source *source);

/// Removes the source from every mode of every loop, running `cancel` for each, for ever (R67). Idempotent, allowed in its
/// own callback, does not wait for a callback running elsewhere (R119). O(modes it is in).
RUNLOOP_EXPORT void runloop_source_invalidate(runloop_source *source);
RUNLOOP_EXPORT bool runloop_source_is_valid(runloop_source *source);

/// Asks for other conditions than so far, at least one, in every loop that the source is in (R149): the one source of a
/// connection asks for RUNLOOP_WRITABLE only while output waits. Counts from the next wait on, in a wait under way too, which a
/// condition that holds ends; also in the source's own callback. Other sources of the descriptor are not concerned. -EINVAL: invalid
/// source, signalled by hand, or a counter; no or unknown events. -EBADF, -EPERM, -ENOSPC, -ENOMEM as for an addition: it asks
/// for what it did before. Two threads at once: one of them counts. O(loops it is in), an epoll_ctl each if what the descriptor is
/// watched for changes.
RUNLOOP_EXPORT int runloop_source_set_events(runloop_source *source, runloop_readiness events);

/// As created or last set, also after invalidation (R111). Descriptor and events are -1 and 0 for a signalled source.
RUNLOOP_EXPORT int32_t runloop_source_get_order(runloop_source *source);
RUNLOOP_EXPORT void *runloop_source_get_info(runloop_source *source);
RUNLOOP_EXPORT int runloop_source_get_descriptor(runloop_source *source);
RUNLOOP_EXPORT runloop_readiness runloop_source_get_events(runloop_source *source);

/// Adding: 0 also when it is already there. -EINVAL invalid, -EEXIST an equal source is there, -ESHUTDOWN, -ENOMEM; for a
/// descriptor -EBADF, -EPERM (regular file or directory), -ENOSPC. After an error it is a member nowhere it was not before
/// and no mode was made. A source may be in many modes of many loops; it keeps them alive as objects. Wakes nobody, but a
/// descriptor that is ready does. Removing: 0 also when it was not there; ends a sleep in a mode that it leaves empty.
/// The pseudo-mode: all common modes, now and later (R18–R20). O(1) per mode, plus an epoll_ctl for a descriptor.
RUNLOOP_EXPORT int runloop_add_source(runloop *loop, runloop_source *source, const char *mode);
RUNLOOP_EXPORT int runloop_remove_source(runloop *loop, runloop_source *source, const char *mode);
RUNLOOP_EXPORT bool runloop_contains_source(runloop *loop, runloop_source *source, const char *mode);

//===----------------------------------------------------------------------===//
// Timers
//===----------------------------------------------------------------------===//

/// What a timer is made from; copied, so it may go when the timer is made.
typedef struct runloop_timer_config {
    runloop_context context;
    int32_t order;        ///< Among timers due at the same instant; then in the order in which they joined the loop.
    int64_t fire_ns;      ///< First due instant. In the past: due at once, and the grid starts there.
    int64_t interval_ns;  ///< 0 or less: fires once and becomes invalid. Otherwise the grid of its ticks.
    int64_t tolerance_ns; ///< How much later it may fire to share a wake-up. Capped at half the interval.
    /// May be NULL. On the loop's thread; never re-entered by nested runs (R84).
    void (*RUNLOOP_SENDABLE fire)(runloop_timer *timer, void *info);
} runloop_timer_config;

/// Creates a timer with one reference, in no loop. -EINVAL, -ENOMEM. O(1).
RUNLOOP_EXPORT int runloop_timer_create(const runloop_timer_config *config, runloop_timer **out);
RUNLOOP_EXPORT runloop_timer *runloop_timer_retain(runloop_timer *timer);
RUNLOOP_EXPORT void runloop_timer_release(runloop_timer *timer);

/// The next due instant; while it fires, the one that is firing (R81). RUNLOOP_NEVER when invalid. O(1).
RUNLOOP_EXPORT int64_t runloop_timer_get_fire_date(runloop_timer *timer);

/// Moves the timer; its grid restarts there (R83). In its own callback the last date set wins, if it repeats (R82).
/// A sleeping loop is re-armed, not woken. -EINVAL when invalid; allowed in no loop. O(log n) per mode.
RUNLOOP_EXPORT int runloop_timer_set_fire_date(runloop_timer *timer, int64_t fire_ns);

/// As created (interval 0 for one that fires once; tolerance as capped), also after invalidation (R112).
RUNLOOP_EXPORT int64_t runloop_timer_get_interval(runloop_timer *timer);
RUNLOOP_EXPORT int32_t runloop_timer_get_order(runloop_timer *timer);
RUNLOOP_EXPORT int64_t runloop_timer_get_tolerance(runloop_timer *timer);
/// Negative is 0; capped at half the interval of a repeating timer. -EINVAL when invalid. O(1).
RUNLOOP_EXPORT int runloop_timer_set_tolerance(runloop_timer *timer, int64_t tolerance_ns);

/// In its callback: how many instants of the grid passed without a callback and were not reported before, this
/// one not counted (R80). Otherwise those of the last callback. O(1).
RUNLOOP_EXPORT uint64_t runloop_timer_get_missed(runloop_timer *timer);

/// Its info, NULL when invalid (R112).
RUNLOOP_EXPORT void *runloop_timer_get_info(runloop_timer *timer);

/// Removes the timer everywhere, for ever, and releases its context, after its callback if that is running (R88).
/// Idempotent. Does not wait for a callback running on another thread. O(log n) per mode.
RUNLOOP_EXPORT void runloop_timer_invalidate(runloop_timer *timer);
RUNLOOP_EXPORT bool runloop_timer_is_valid(runloop_timer *timer);

/// As for sources, but a timer is in one loop at a time: -EBUSY in another (R86). It does not keep its loop alive.
/// A sleeping loop is re-armed, not woken (R87). O(log n) per mode.
RUNLOOP_EXPORT int runloop_add_timer(runloop *loop, runloop_timer *timer, const char *mode);
RUNLOOP_EXPORT int runloop_remove_timer(runloop *loop, runloop_timer *timer, const char *mode);
RUNLOOP_EXPORT bool runloop_contains_timer(runloop *loop, runloop_timer *timer, const char *mode);

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

/// What an observer is made from; copied.
typedef struct runloop_observer_config {
    runloop_context context;
    int32_t order; ///< Lower is told first, for every activity; equal ones in the order of their addition (R93).
    runloop_activity activities; ///< What it is told; others pass unnoticed.
    bool repeats;                ///< false: told once in all, then invalid (R95).
    /// May be NULL. On the loop's thread; told nothing of the runs nested in it (R96).
    void (*RUNLOOP_SENDABLE observe)(runloop_observer *observer, runloop_activity activity, void *info);
} runloop_observer_config;

/// Creates an observer with one reference, in no loop. -EINVAL, -ENOMEM. O(1).
RUNLOOP_EXPORT int runloop_observer_create(const runloop_observer_config *config, runloop_observer **out);
RUNLOOP_EXPORT runloop_observer *runloop_observer_retain(runloop_observer *observer);
RUNLOOP_EXPORT void runloop_observer_release(runloop_observer *observer);

/// As created, also after invalidation, but for the info, which is NULL then (R113).
RUNLOOP_EXPORT runloop_activity runloop_observer_get_activities(runloop_observer *observer);
RUNLOOP_EXPORT int32_t runloop_observer_get_order(runloop_observer *observer);
RUNLOOP_EXPORT bool runloop_observer_repeats(runloop_observer *observer);
RUNLOOP_EXPORT void *runloop_observer_get_info(runloop_observer *observer);

/// As for timers (R98).
RUNLOOP_EXPORT void runloop_observer_invalidate(runloop_observer *observer);
RUNLOOP_EXPORT bool runloop_observer_is_valid(runloop_observer *observer);

/// As for timers: one loop at a time (R97). Observers never keep a mode from being empty. O(observers of the mode).
RUNLOOP_EXPORT int runloop_add_observer(runloop *loop, runloop_observer *observer, const char *mode);
RUNLOOP_EXPORT int runloop_remove_observer(runloop *loop, runloop_observer *observer, const char *mode);
RUNLOOP_EXPORT bool runloop_contains_observer(runloop *loop, runloop_observer *observer, const char *mode);

#ifdef __cplusplus
}
#endif

#endif // RUNLOOP_H
