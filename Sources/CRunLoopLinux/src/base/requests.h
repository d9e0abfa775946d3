// requests.h — requests that were sent, by number and by deadline: those of a port, and those of a channel.
//
// Whoever asks has a table, with a lock of its own. A request is in it from before its receiver can see it until its answer is called out, so
// whoever cancels it finds it. It is answered once: its state changes with the lock alone, and only who finds it awaited answers it, be that
// the replier, the deadline, or the end of a side.
#ifndef RUNLOOP_REQUESTS_H
#define RUNLOOP_REQUESTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "runloop.h"
#include "runloop_list.h"

enum { REQUEST_IS_AWAITED, REQUEST_IS_ANSWERED, REQUEST_IS_OVER };

/// The part of a request that its table knows.
struct awaited {
    struct list in_table;
    uint64_t id;            ///< constant since it was entered
    int64_t deadline_ns;    ///< likewise; RUNLOOP_NEVER: none
    _Atomic uint32_t state; ///< changes with the lock
    int32_t result;         ///< constant since it was answered
};

struct requests {
    struct list timed;    ///< awaited, by deadline,
    struct list untimed;  ///< and those without one
    struct list answered; ///< to be called out
    uint64_t last_id;
};

void runloop__requests_init(struct requests *requests);

/// Gives the request the next number, and the source, on whose loop it is called out, the earliest deadline. -ENOMEM; -EPIPE if the source is
/// invalid: then it was not entered.
HOLDS_LOCK int runloop__requests_enter(struct requests *requests, struct awaited *awaited, int64_t deadline_ns,
                                       runloop_source *source);
/// Of a request whose number nobody has seen, and which is the last that was entered.
HOLDS_LOCK void runloop__requests_withdraw(struct requests *requests, struct awaited *awaited);
/// NULL if it is over, or never was.
HOLDS_LOCK struct awaited *runloop__requests_find(struct requests *requests, uint64_t id);
/// It is awaited, and is to be called out then.
HOLDS_LOCK void runloop__requests_answer(struct requests *requests, struct awaited *awaited, int32_t result);

/// A request that is due, or NULL: on the thread of a loop that serves the source. It is over for the table, with -ETIMEDOUT. The source is
/// called again for the next one, however that call-out ends.
HOLDS_LOCK struct awaited *runloop__requests_take_due(struct requests *requests, runloop_source *source);

/// It is over for the table: the caller calls it out, or discards it.
HOLDS_LOCK struct awaited *runloop__requests_take(struct awaited *awaited);
/// NULL: none is to be called out.
HOLDS_LOCK struct awaited *runloop__requests_take_answered(struct requests *requests);
/// NULL: there is none at all.
HOLDS_LOCK struct awaited *runloop__requests_take_any(struct requests *requests);

#endif // RUNLOOP_REQUESTS_H
