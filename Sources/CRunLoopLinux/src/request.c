// request.c — a request, received and answered exactly once.
//
// The answerer takes it from the receiver, and then hands it to the asker, or to the thread that waits. Each of the two ports may end at any
// instant: who finds one ended does what is left to do.

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"
#include "wait_word.h"

//===-- its memory ---------------------------------------------------------------------------------------------------===//

runloop_request *runloop__request_keep(runloop_request *request) {
    atomic_fetch_add_explicit(&request->memory, 1, memory_order_relaxed);
    return request;
}

void runloop__request_release_memory(runloop_request *request) {
    if (atomic_fetch_sub(&request->memory, 1) > 1)
        return;
    runloop__port_release_memory(request->receiver);
    if (request->asker)
        runloop__port_release_memory(request->asker);
    free(request->reply);
    free(request);
}

/// With a reference of each side. `asker` is NULL for a thread that waits.
int runloop__request_make(runloop_port *receiver, runloop_port *asker, const void *bytes, size_t length,
                          runloop_request **out) {
    if (!bytes && length > 0)
        return -EINVAL;
    if (length > receiver->max_bytes)
        return -EMSGSIZE;
    runloop_request *request = length <= SIZE_MAX - sizeof *request ? malloc(sizeof *request + length) : NULL;
    if (!request)
        return -ENOMEM;
    *request = (runloop_request){
        .queued.message = {.bytes = request->bytes, .length = length, .request = request},
        .holders = 1,
        .memory = 2,
        .receiver = runloop__port_keep_memory(receiver),
        .asker = asker ? runloop__port_keep_memory(asker) : NULL,
    };
    link_init(&request->to_receiver);
    link_init(&request->by_asker);
    if (length > 0)
        memcpy(request->bytes, bytes, length);
    *out = request;
    return 0;
}

/// Nobody else has seen it.
void runloop__request_unmake(runloop_request *request) {
    atomic_store(&request->memory, 1);
    runloop__request_release_memory(request);
}

//===-- its answer ---------------------------------------------------------------------------------------------------===//

bool runloop__request_claim(runloop_request *request) {
    return !atomic_exchange(&request->is_answered, true);
}

void runloop__request_leave_receiver(runloop_request *request) {
    lock_take(&request->receiver->lock);
    link_remove(&request->to_receiver);
    lock_give(&request->receiver->lock);
}

/// Nothing will be called out. Releases the asking side's reference.
void runloop__request_discard(runloop_request *request) {
    if (request->config.discard)
        request->config.discard(request->config.info);
    runloop__request_release_memory(request);
}

/// By the answerer. The asking side's reference goes along.
static void hand_to_asker(runloop_request *request) {
    runloop_port *asker = request->asker;
    lock_take(&asker->lock);
    link_remove(&request->by_asker);
    bool is_over = !asker->source || request->is_cancelled;
    runloop_source *source = NULL;
    if (!is_over) {
        link_insert_before(&asker->answers, &request->by_asker);
        source = runloop__port_mark(asker);
        runloop__port_keep_memory(asker);
    }
    lock_give(&asker->lock);
    if (is_over) {
        runloop__request_discard(request);
        return;
    }
    runloop__port_wake(asker, source);
    runloop__port_release_memory(asker);
}

/// By the answerer, who has a reference of its own.
static void settle(runloop_request *request, int32_t result) {
    request->result = result;
    runloop__request_leave_receiver(request);
    if (request->asker) {
        hand_to_asker(request);
        return;
    }
    atomic_store(&request->is_settled, 1);
    wait_word_wake_all(&request->is_settled);
}

void runloop__request_fail(runloop_request *request, int32_t result) {
    if (runloop__request_claim(request))
        settle(request, result);
}

static void release_call_out(void *info) {
    runloop__request_release_memory(info);
}

void runloop__request_call_out(runloop_request *request) {
    const runloop_reply reply = {.result = request->result, .bytes = request->reply, .length = request->reply_length};
    // The call-out may end the thread.
    pthread_cleanup_push(release_call_out, request);
    if (request->config.replied)
        request->config.replied(&reply, request->config.info);
    pthread_cleanup_pop(1);
}

//===-- the receiving side -------------------------------------------------------------------------------------------===//

runloop_request *runloop_request_retain(runloop_request *request) {
    if (request)
        atomic_fetch_add_explicit(&request->holders, 1, memory_order_relaxed);
    return request;
}

void runloop_request_release(runloop_request *request) {
    if (!request || runloop__port_check(request->receiver) < 0 || atomic_fetch_sub(&request->holders, 1) > 1)
        return;
    runloop__request_fail(request, -ENOMSG);
    runloop__request_release_memory(request);
}

int runloop_request_reply(runloop_request *request, const void *bytes, size_t length) {
    if (!request || (!bytes && length > 0))
        return -EINVAL;
    if (runloop__port_check(request->receiver) < 0)
        return -ECHILD;
    if (!runloop_request_is_awaited(request))
        return -EPIPE;
    void *copy = NULL;
    if (length > 0) {
        copy = malloc(length);
        if (!copy)
            return -ENOMEM;
        memcpy(copy, bytes, length);
    }
    if (!runloop__request_claim(request)) {
        free(copy);
        return -EPIPE;
    }
    request->reply = copy;
    request->reply_length = length;
    settle(request, 0);
    return 0;
}

bool runloop_request_is_awaited(runloop_request *request) {
    return request && !atomic_load(&request->is_answered);
}

/// With a reference. NULL if there is none any more.
static runloop_request *take_unanswered(runloop_port *port) {
    runloop_request *request = NULL;
    lock_take(&port->lock);
    if (!link_is_alone(&port->unanswered)) {
        request = runloop__request_keep(LINK_OWNER(port->unanswered.next, runloop_request, to_receiver));
        link_remove(&request->to_receiver);
    }
    lock_give(&port->lock);
    return request;
}

void runloop__requests_to_port_end(runloop_port *port) {
    runloop_request *request;
    while ((request = take_unanswered(port))) {
        runloop__request_fail(request, -EPIPE);
        runloop__request_release_memory(request);
    }
}
