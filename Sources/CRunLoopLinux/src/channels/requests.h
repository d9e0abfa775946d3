// requests.h — the requests that a channel has sent, by number and by deadline.
//
// The table is the channel's, under its lock. A request is in it from before the other end can see it until its answer is called out, so a
// cancellation finds it. It is answered once, by what takes it out of the table: the reply, the deadline, or the end.
#ifndef RUNLOOP_REQUESTS_H
#define RUNLOOP_REQUESTS_H

#include <stdint.h>

#include "base/lock.h"
#include "runloop.h"
#include "runloop_list.h"

/// The part of a request that its table knows.
struct awaited {
    struct list in_table;
    uint64_t id;         ///< constant since it was entered
    int64_t deadline_ns; ///< likewise; RUNLOOP_NEVER: none
};

struct requests {
    struct list timed;   ///< by deadline,
    struct list untimed; ///< and those without one
    uint64_t last_id;
};

void runloop__requests_init(struct requests *requests);

/// Gives the request the next number, and the source, on whose loop it is called out, the earliest deadline. -ENOMEM; -EPIPE if the source is
/// invalid: then it was not entered.
HOLDS_LOCK int runloop__requests_enter(struct requests *requests, struct awaited *awaited, int64_t deadline_ns,
                                       runloop_source *source);
/// Of a request whose number nobody has seen, and which is the last that was entered.
HOLDS_LOCK void runloop__requests_withdraw(struct requests *requests, struct awaited *awaited);
/// NULL if it was taken, or never was.
HOLDS_LOCK struct awaited *runloop__requests_find(struct requests *requests, uint64_t id);
/// Takes out a request that is due, or NULL: on the thread of a loop that serves the source. The source is called again for the next one,
/// however that call-out ends.
HOLDS_LOCK struct awaited *runloop__requests_take_due(struct requests *requests, runloop_source *source);

/// Takes it out of the table, for the caller to answer or to discard. NULL gives NULL.
HOLDS_LOCK struct awaited *runloop__requests_take(struct awaited *awaited);
/// NULL: the table is empty.
HOLDS_LOCK struct awaited *runloop__requests_take_any(struct requests *requests);

#endif // RUNLOOP_REQUESTS_H
