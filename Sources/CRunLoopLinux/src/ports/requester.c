// requester.c — the requests that a port has sent; and threads that wait for their one.

#ifdef __linux__
#include <errno.h>
#include <pthread.h>

#include "ports/port.h"
#include "ports/wait_word.h"

//===-- the asking side ----------------------------------------------------------------------------------------------===//

static runloop_request *request_of(struct awaited *awaited) {
    return awaited ? LIST_ENTRY(awaited, runloop_request, awaited) : NULL;
}

/// Gives the request a number, by which it can be cancelled from now on until its reply is called out. -EPIPE if the asker has ended.
static int enter(runloop_request *request, uint64_t *id) {
    struct port *asker = request->asker;
    lock_take(&asker->lock);
    int result = asker->has_ended ? -EPIPE
                                  : runloop__requests_enter(&asker->requests, &request->awaited,
                                                            request->config.deadline_ns, asker->object.source);
    *id = request->awaited.id;
    lock_give(&asker->lock);
    return result;
}

/// Of a request that its receiver did not take. False if it has been answered or discarded meanwhile.
static bool leave(runloop_request *request) {
    lock_take(&request->asker->lock);
    bool is_awaited = runloop_request_is_awaited(request);
    if (is_awaited)
        runloop__requests_take(&request->awaited);
    lock_give(&request->asker->lock);
    return is_awaited;
}

int runloop_port_request(runloop_port *source, const void *bytes, size_t length, const runloop_request_config *config,
                         uint64_t *id) {
    if (!config)
        return -EINVAL;
    struct port *port = port_of(source), *asker = port_of(config->asker);
    int result = object_check(port);
    if (result == 0)
        result = object_check(asker);
    runloop_request *request = NULL;
    if (result == 0)
        result = runloop__request_make(port, asker, bytes, length, &request);
    if (result < 0)
        return result;
    request->config = *config;
    // Once it is in the queue, it may be answered and freed at any time.
    uint64_t number = 0;
    result = enter(request, &number);
    if (result < 0) {
        runloop__request_unmake(request);
        return result;
    }
    result = runloop__port_enqueue(port, &request->queued, 0);
    if (result < 0) {
        if (leave(request))
            runloop__request_release_memory(request);
        else
            result = 0;
        runloop__request_release_memory(request);
    }
    if (result == 0 && id)
        *id = number;
    return result;
}

int runloop_port_cancel(runloop_port *source, uint64_t id) {
    struct port *asker = port_of(source);
    int result = object_check(asker);
    if (result < 0)
        return result;
    lock_take(&asker->lock);
    runloop_request *request = request_of(runloop__requests_take(runloop__requests_find(&asker->requests, id)));
    lock_give(&asker->lock);
    if (!request)
        return -ENOENT;
    runloop__request_discard(request);
    return 0;
}

static void discard_rest(void *port) {
    runloop__requests_by_port_end(port);
}

/// The call-out may end the thread.
static void discard_one(struct port *port, runloop_request *request) {
    pthread_cleanup_push(discard_rest, port);
    runloop__request_discard(request);
    pthread_cleanup_pop(0);
}

void runloop__requests_by_port_end(struct port *port) {
    for (;;) {
        lock_take(&port->lock);
        runloop_request *request = request_of(runloop__requests_take_any(&port->requests));
        lock_give(&port->lock);
        if (!request)
            return;
        discard_one(port, request);
    }
}

//===-- a thread that waits ------------------------------------------------------------------------------------------===//

static void await(runloop_request *request, int64_t deadline_ns) {
    while (runloop_request_is_awaited(request)) {
        if (runloop_get_now_ns(NULL) < deadline_ns)
            wait_word_wait(&request->awaited.state, REQUEST_IS_AWAITED, deadline_ns);
        else
            runloop__request_answer(request, -ETIMEDOUT, NULL, 0);
    }
}

int runloop_port_request_and_wait(runloop_port *source, const void *bytes, size_t length, int64_t deadline_ns,
                                  void **reply, size_t *reply_length) {
    struct port *port = port_of(source);
    int result = object_check(port);
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
    result = request->awaited.result;
    if (reply_length)
        *reply_length = request->reply_length;
    if (reply) {
        *reply = request->reply;
        request->reply = NULL;
    }
    runloop__request_release_memory(request);
    return result;
}
#endif // __linux__
