// asker.c — the requests that a port has sent, by number and by deadline; and threads that wait for their one.

#include <errno.h>

#include "port.h"
#include "wait_word.h"

//===-- the asking side ----------------------------------------------------------------------------------------------===//

/// Puts a request that is in its receiver already among those of its asker. Its answerer may have been here. False: the asker has ended,
/// and has to be told.
static bool enter_asker(runloop_request *request) {
    runloop_port *asker = request->asker;
    fork_lock_take(&asker->lock);
    bool has_ended = !asker->source;
    if (!has_ended && runloop_request_is_awaited(request)) {
        struct link *position = &asker->untimed;
        if (request->config.deadline_ns != RUNLOOP_NEVER) {
            for (position = &asker->timed; position->previous != &asker->timed; position = position->previous) {
                const runloop_request *earlier = LINK_OWNER(position->previous, runloop_request, by_asker);
                if (earlier->config.deadline_ns <= request->config.deadline_ns)
                    break;
            }
        }
        link_insert_before(position, &request->by_asker);
        if (asker->timed.next == &request->by_asker)
            runloop_timer_set_fire_date(asker->timer, request->config.deadline_ns);
    }
    fork_lock_give(&asker->lock);
    return !has_ended;
}

/// -EPIPE if it has ended.
static int take_id(runloop_port *asker, uint64_t *id) {
    fork_lock_take(&asker->lock);
    *id = ++asker->last_id;
    int result = asker->source ? 0 : -EPIPE;
    fork_lock_give(&asker->lock);
    return result;
}

int runloop_port_request(runloop_port *port, const void *bytes, size_t length, const runloop_request_config *config,
                         uint64_t *id) {
    if (!config)
        return -EINVAL;
    int result = runloop__port_check(port);
    if (result == 0)
        result = runloop__port_check(config->asker);
    uint64_t number = 0;
    if (result == 0)
        result = take_id(config->asker, &number);
    runloop_request *request = NULL;
    if (result == 0)
        result = runloop__request_make(port, config->asker, bytes, length, &request);
    if (result < 0)
        return result;
    request->config = *config;
    if (config->deadline_ns <= 0)
        request->config.deadline_ns = RUNLOOP_NEVER;
    request->id = number;
    // Once it is in the queue, it may be answered and freed at any time.
    runloop__request_keep(request);
    result = runloop__port_enqueue(port, &request->queued, 0);
    if (result < 0) {
        runloop__request_unmake(request);
        return result;
    }
    if (id)
        *id = number;
    if (!enter_asker(request) && runloop__request_claim(request)) {
        runloop__request_leave_receiver(request);
        runloop__request_release_memory(request);
        result = -EPIPE;
    }
    runloop__request_release_memory(request);
    return result;
}

/// HOLDS: port.
static runloop_request *find(struct link *ring, uint64_t id) {
    for (struct link *node = ring->next; node != ring; node = node->next) {
        runloop_request *request = LINK_OWNER(node, runloop_request, by_asker);
        if (request->id == id)
            return request;
    }
    return NULL;
}

int runloop_port_cancel(runloop_port *asker, uint64_t id) {
    int result = runloop__port_check(asker);
    if (result < 0)
        return result;
    fork_lock_take(&asker->lock);
    runloop_request *request = find(&asker->answers, id);
    bool is_ours = request;
    if (!request)
        request = find(&asker->timed, id);
    if (!request)
        request = find(&asker->untimed, id);
    if (request) {
        runloop__request_keep(request);
        link_remove(&request->by_asker);
        // Otherwise its answerer is on the way, and finds it cancelled.
        is_ours = is_ours || runloop__request_claim(request);
        request->is_cancelled = true;
    }
    fork_lock_give(&asker->lock);
    if (!request)
        return -ENOENT;
    if (is_ours) {
        runloop__request_leave_receiver(request);
        runloop__request_discard(request);
    }
    runloop__request_release_memory(request);
    return 0;
}

/// With a reference. NULL if there is none any more.
static runloop_request *take_asked(runloop_port *port, bool *is_answered) {
    fork_lock_take(&port->lock);
    *is_answered = !link_is_alone(&port->answers);
    struct link *ring = *is_answered ? &port->answers : !link_is_alone(&port->timed) ? &port->timed : &port->untimed;
    runloop_request *request = NULL;
    if (!link_is_alone(ring)) {
        request = runloop__request_keep(LINK_OWNER(ring->next, runloop_request, by_asker));
        link_remove(&request->by_asker);
    }
    fork_lock_give(&port->lock);
    return request;
}

void runloop__requests_by_port_end(runloop_port *port) {
    runloop_request *request;
    bool is_answered;
    while ((request = take_asked(port, &is_answered))) {
        // If neither, its answerer is on the way, and finds the port ended.
        if (is_answered || runloop__request_claim(request)) {
            runloop__request_leave_receiver(request);
            runloop__request_discard(request);
        }
        runloop__request_release_memory(request);
    }
}

/// With a reference. NULL: none is due, and the timer waits for the next one.
static runloop_request *take_due(runloop_port *port) {
    runloop_request *request = NULL;
    fork_lock_take(&port->lock);
    if (port->timer) {
        int64_t next_ns = RUNLOOP_NEVER;
        if (!link_is_alone(&port->timed)) {
            request = LINK_OWNER(port->timed.next, runloop_request, by_asker);
            next_ns = request->config.deadline_ns;
        }
        if (request && next_ns <= runloop_get_now_ns(port->loop)) {
            link_remove(&runloop__request_keep(request)->by_asker);
        } else {
            request = NULL;
            runloop_timer_set_fire_date(port->timer, next_ns);
        }
    }
    fork_lock_give(&port->lock);
    return request;
}

void runloop__requests_time_out(runloop_port *port) {
    runloop_request *request;
    while ((request = take_due(port))) {
        runloop__request_fail(request, -ETIMEDOUT);
        runloop__request_release_memory(request);
    }
}

//===-- a thread that waits ------------------------------------------------------------------------------------------===//

static void await(runloop_request *request, int64_t deadline_ns) {
    while (!atomic_load(&request->is_settled)) {
        if (runloop_get_now_ns(NULL) >= deadline_ns) {
            if (runloop__request_claim(request)) {
                runloop__request_leave_receiver(request);
                request->result = -ETIMEDOUT;
                return;
            }
            // The answer is about to be there.
            deadline_ns = RUNLOOP_NEVER;
        }
        wait_word_wait(&request->is_settled, 0, deadline_ns);
    }
}

int runloop_port_request_and_wait(runloop_port *port, const void *bytes, size_t length, int64_t deadline_ns,
                                  void **reply, size_t *reply_length) {
    int result = runloop__port_check(port);
    if (result < 0)
        return result;
    if (runloop_is_current(port->loop))
        return -EDEADLK;
    runloop_request *request;
    result = runloop__request_make(port, NULL, bytes, length, &request);
    if (result < 0)
        return result;
    result = runloop__port_enqueue(port, &request->queued, deadline_ns);
    if (result < 0) {
        runloop__request_unmake(request);
        return result;
    }
    await(request, deadline_ns);
    result = request->result;
    if (reply_length)
        *reply_length = request->reply_length;
    if (reply) {
        *reply = request->reply;
        request->reply = NULL;
    }
    runloop__request_release_memory(request);
    return result;
}
