// request.c — a request to a port: its memory, its answer, and the side that has received it.
//
// Its state is guarded by the lock of its asker; if a thread waits for the answer, by that of its receiver. No two locks are held together:
// who answers has a reference, and needs the asker's lock alone; the receiver lets go of the request when its last reference is released.

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ports/port.h"
#include "ports/wait_word.h"

//===-- its memory ---------------------------------------------------------------------------------------------------===//

void runloop__request_release_memory(runloop_request *request) {
    if (atomic_fetch_sub(&request->memory, 1) > 1)
        return;
    runloop__port_release_memory(request->receiver);
    if (request->asker)
        runloop__port_release_memory(request->asker);
    free(request->reply);
    free(request);
}

int runloop__request_make(struct port *receiver, struct port *asker, const void *bytes, size_t length,
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
        .receiver = port_keep_memory(receiver),
        .asker = asker ? port_keep_memory(asker) : NULL,
    };
    list_init(&request->to_receiver);
    if (length > 0)
        memcpy(request->bytes, bytes, length);
    *out = request;
    return 0;
}

void runloop__request_unmake(runloop_request *request) {
    atomic_store(&request->memory, 1);
    runloop__request_release_memory(request);
}

//===-- its answer ---------------------------------------------------------------------------------------------------===//

bool runloop__request_answer(runloop_request *request, int32_t result, void *reply, size_t length) {
    struct port *asker = request->asker;
    struct process_lock *lock = asker ? &asker->lock : &request->receiver->lock;
    bool wakes = false;
    lock_take(lock);
    bool is_awaited = runloop_request_is_awaited(request);
    if (is_awaited) {
        request->reply = reply;
        request->reply_length = length;
        if (asker) {
            runloop__requests_answer(&asker->requests, &request->awaited, result);
            wakes = runloop__port_mark(asker);
        } else {
            request->awaited.result = result;
            atomic_store(&request->awaited.state, REQUEST_IS_ANSWERED);
        }
    }
    lock_give(lock);
    if (wakes)
        runloop__port_wake(asker);
    if (is_awaited && !asker)
        wait_word_wake_all(&request->awaited.state);
    return is_awaited;
}

static void release_call_out(void *info) {
    runloop__request_release_memory(info);
}

void runloop__request_discard(runloop_request *request) {
    // The call-out may end the thread.
    pthread_cleanup_push(release_call_out, request);
    if (request->config.discard)
        request->config.discard(request->config.info);
    pthread_cleanup_pop(1);
}

void runloop__request_call_out(runloop_request *request) {
    const runloop_reply reply = {
        .result = request->awaited.result, .bytes = request->reply, .length = request->reply_length};
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
    if (!request || object_check(request->receiver) < 0 || atomic_fetch_sub(&request->holders, 1) > 1)
        return;
    lock_take(&request->receiver->lock);
    list_remove(&request->to_receiver);
    lock_give(&request->receiver->lock);
    runloop__request_answer(request, -ENOMSG, NULL, 0);
    runloop__request_release_memory(request);
}

int runloop_request_reply(runloop_request *request, const void *bytes, size_t length) {
    if (!request || (!bytes && length > 0))
        return -EINVAL;
    if (object_check(request->receiver) < 0)
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
    if (runloop__request_answer(request, 0, copy, length))
        return 0;
    free(copy);
    return -EPIPE;
}

bool runloop_request_is_awaited(runloop_request *request) {
    return request && atomic_load(&request->awaited.state) == REQUEST_IS_AWAITED;
}

/// With a reference. NULL if there is none any more.
static runloop_request *take_received(struct port *port) {
    runloop_request *request = NULL;
    lock_take(&port->lock);
    if (!list_is_empty(&port->received)) {
        request = LIST_ENTRY(port->received.next, runloop_request, to_receiver);
        atomic_fetch_add_explicit(&request->memory, 1, memory_order_relaxed);
        list_remove(&request->to_receiver);
    }
    lock_give(&port->lock);
    return request;
}

void runloop__requests_to_port_end(struct port *port) {
    runloop_request *request;
    while ((request = take_received(port))) {
        runloop__request_answer(request, -EPIPE, NULL, 0);
        runloop__request_release_memory(request);
    }
}
#endif // __linux__
