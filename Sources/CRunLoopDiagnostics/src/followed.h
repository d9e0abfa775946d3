// followed.h — a loop that is followed: each call of its one tracer is passed on to its followers.
#ifndef RUNLOOP_FOLLOWED_H
#define RUNLOOP_FOLLOWED_H

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "activity.h"
#include "runloop_lock.h"

/// What follows a loop: one of each.
enum role { ROLE_STATISTICS, ROLE_RECORDER, ROLE_WATCHDOG, ROLES };

/// Of a loop and a role. Made when the role is first needed, and there for as long as anybody has the followed loop.
struct follower {
    /// On the loop's thread.
    void (*trace)(struct follower *follower, const struct moment *moment);
    /// Frees what it has besides its own memory. May be NULL.
    void (*free)(struct follower *follower);
    struct activity *activity; ///< the followed loop's
    bool is_active;            ///< loop's thread
};

/// A place in a chain of tracers, each of which passes calls on. Other tracers may have set themselves before or behind it.
struct link {
    struct followed *followed;
    struct link *older;
    runloop_tracer before; ///< loop's thread: the tracer that was there, which is called first
};

/// Stands for the lock of the attendant, which lists the followed loops; never defined.
extern struct process_lock attendant_lock;

/// A loop's followers: an object associated with the loop.
struct followed {
    _Atomic uint32_t references;
    runloop *loop;
    struct activity *activity; ///< known while anybody follows the loop
    bool is_reported;          ///< loop's thread: it is followed for reports, to the end
    /// In the list of the process `generation`.
    struct followed *next GUARDED_BY(attendant_lock), **place GUARDED_BY(attendant_lock);
    uint32_t generation;
    struct link *links;                          ///< loop's thread: the newest first; freed with this
    bool is_traced;                              ///< loop's thread: the newest one may be in the chain
    bool is_notified;                            ///< loop's thread: by the link that is called first
    _Atomic(struct follower *) followers[ROLES]; ///< written by the loop's thread, never taken back
};

/// The loop's thread: follows the calling thread's loop from now on, for reports on what it does. 0 or a negative errno.
int followed_start_reports(void);
/// The loop's thread: makes the calling thread's loop notify a follower, which has `size` bytes and is all zeros when it is made; `prepare` is
/// called for it then, before another thread can see it. 0, with the follower, or a negative errno.
int followed_start(enum role role, size_t size, void (*prepare)(struct follower *), struct follower **follower);
/// The loop's thread: no longer. NULL if it was never started.
struct follower *followed_stop(enum role role);
/// Any thread. NULL if the loop was never followed, or its thread has ended. To be released.
struct followed *followed_copy(runloop *loop);
void followed_release(struct followed *followed);

#endif // RUNLOOP_FOLLOWED_H
