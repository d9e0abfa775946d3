// asker.c — the requests that a port has sent, by number and by deadline; and threads that wait for their one.
//
// A request is in one of its asker's rings from before its receiver can see it until it is called out: among those that are asked, and then,
// from the moment of its answer, among the answered ones. So whoever cancels it finds it.

#include <errno.h>

#include "port.h"
#include "wait_word.h"

//===-- the asking side ----------------------------------------------------------------------------------------------===//

HOLDS_LOCK static void insert_by_deadline(runloop_port *asker, runloop_request *request) {
    struct link *position = &asker->untimed;
    if (request->config.deadline_ns != RUNLOOP_NEVER) {
        for (position = &asker->timed; position->previous != &asker->timed; position = position->previous) {
            const runloop_request *earlier = LINK_OWNER(position->previous, runloop_request, by_asker);
            if (earlier->config.deadline_ns <= request->config.deadline_ns)
                break;
        }
    }
    link_insert_before(position, &request->by_asker);
}

/// Gives the request a number, by which it can be cancelled from now on until its reply is called out. -EPIPE if the asker has ended.
static int enter_asker(runloop_request *request) {
    runloop_port *asker = request->asker;
    lock_take(&asker->lock);
    int result = asker->source ? 0 : -EPIPE;
    if (result == 0) {
        request->id = ++asker->last_id;
        insert_by_deadline(asker, request);
        if (asker->timed.next == &request->by_asker)
            runloop_timer_set_fire_date(asker->timer, request->config.deadline_ns);
    }
    lock_give(&asker->lock);
    return result;
}

/// Of a request that its receiver did not take. False if the asker has ended meanwhile, and has discarded it.
static bool leave_asker(runloop_request *request) {
    if (!runloop__request_claim(request))
        return false;
    lock_take(&request->asker->lock);
    link_remove(&request->by_asker);
    lock_give(&request->asker->lock);
    runloop__request_release_memory(request);
    return true;
}

int runloop_port_request(runloop_port *port, const void *bytes, size_t length, const runloop_request_config *config,
                         uint64_t *id) {
    if (!config)
        return -EINVAL;
    int result = runloop__port_check(port);
    if (result == 0)
        result = runloop__port_check(config->asker);
    runloop_request *request = NULL;
    if (result == 0)
        result = runloop__request_make(port, config->asker, bytes, length, &request);
    if (result < 0)
        return result;
    request->config = *config;
    if (config->deadline_ns <= 0)
        request->config.deadline_ns = RUNLOOP_NEVER;
    result = enter_asker(request);
    if (result < 0) {
        runloop__request_unmake(request);
        return result;
    }
    // Once it is in the queue, it may be answered and freed at any time.
    uint64_t number = request->id;
    result = runloop__port_enqueue(port, &request->queued, 0);
    if (result < 0) {
        if (!leave_asker(request))
            result = 0;
        runloop__request_release_memory(request);
    }
    if (result == 0 && id)
        *id = number;
    return result;
}

HOLDS_LOCK static runloop_request *find(struct link *ring, uint64_t id) {
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
    lock_take(&asker->lock);
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
    lock_give(&asker->lock);
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
    lock_take(&port->lock);
    *is_answered = !link_is_alone(&port->answers);
    struct link *ring = *is_answered ? &port->answers : !link_is_alone(&port->timed) ? &port->timed : &port->untimed;
    runloop_request *request = NULL;
    if (!link_is_alone(ring)) {
        request = runloop__request_keep(LINK_OWNER(ring->next, runloop_request, by_asker));
        link_remove(&request->by_asker);
    }
    lock_give(&port->lock);
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

/// The first request, if it is due; otherwise NULL, and the timer waits for it.
HOLDS_LOCK static runloop_request *first_due(runloop_port *port) {
    if (!port->timer)
        return NULL;
    runloop_request *first = NULL;
    if (!link_is_alone(&port->timed))
        first = LINK_OWNER(port->timed.next, runloop_request, by_asker);
    int64_t due_ns = first ? first->config.deadline_ns : RUNLOOP_NEVER;
    if (first && due_ns <= runloop_get_now_ns(port->loop))
        return first;
    runloop_timer_set_fire_date(port->timer, due_ns);
    return NULL;
}

/// It goes from those that are asked to the answered ones at once, so that it can be cancelled at any time before it is called out. False
/// if none is due.
static bool time_out_first(runloop_port *port) {
    runloop_source *source = NULL;
    lock_take(&port->lock);
    runloop_request *request = first_due(port);
    bool is_ours = request && runloop__request_claim(request);
    if (request) {
        runloop__request_keep(request);
        link_remove(&request->by_asker);
        // Otherwise its answerer is on the way.
        link_insert_before(is_ours ? &port->answers : &port->untimed, &request->by_asker);
    }
    if (is_ours) {
        request->result = -ETIMEDOUT;
        source = runloop__port_mark(port);
    }
    lock_give(&port->lock);
    if (!request)
        return false;
    if (is_ours)
        runloop__request_leave_receiver(request);
    runloop__port_wake(port, source);
    runloop__request_release_memory(request);
    return true;
}

void runloop__requests_time_out(runloop_port *port) {
    while (time_out_first(port))
        continue;
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
