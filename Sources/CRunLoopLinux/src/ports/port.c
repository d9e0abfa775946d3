// port.c — a port: made, called out, ended.

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "ports/port.h"
#include "ports/wait_word.h"

enum { DEFAULT_MESSAGES = 64, DEFAULT_BYTES = 1 << 20 };

//===-- calling out --------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static struct queued *take_message(struct port *port) {
    ASSERT_HOLDS(&port->lock);
    struct queued *taken = port->first;
    if (!taken)
        return NULL;
    port->first = taken->next;
    if (!port->first)
        port->last = &port->first;
    port->count--;
    port->bytes -= taken->message.length;
    if (port->waiting > 0) {
        atomic_fetch_add(&port->space, 1);
        wait_word_wake_all(&port->space);
    }
    return taken;
}

/// Of a message that was received, or that will never be.
static void drop_message(void *message) {
    struct queued *queued = message;
    if (queued->message.request)
        runloop_request_release(queued->message.request);
    else
        free(queued);
}

static void call_out(struct port *port, struct queued *queued) {
    // The call-out may end the thread.
    pthread_cleanup_push(drop_message, queued);
    bool is_over = queued->message.request && !runloop_request_is_awaited(queued->message.request);
    if (port->receive && !is_over)
        port->receive(port->object.source, &queued->message, port->object.context.info);
    pthread_cleanup_pop(1);
}

/// One call-out. What else there is marks the source again before that, so that a nested run serves it, or another loop.
static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons;
    struct port *port = info;
    lock_take(&port->lock);
    port->is_marked = false;
    struct awaited *answer = runloop__requests_take_due(&port->requests, port->object.source);
    if (!answer)
        answer = runloop__requests_take_answered(&port->requests);
    struct queued *message = answer ? NULL : take_message(port);
    bool has_more = port->first || !list_is_empty(&port->requests.answered);
    bool wakes = has_more && runloop__port_mark(port);
    lock_give(&port->lock);
    if (wakes)
        runloop__port_wake(port);
    if (answer)
        runloop__request_call_out(LIST_ENTRY(answer, runloop_request, awaited));
    else if (message)
        call_out(port, message);
}

//===-- its end ------------------------------------------------------------------------------------------------------===//

/// What waits in it. Whether it had not ended before.
static bool close_queue(struct port *port, struct queued **messages) {
    lock_take(&port->lock);
    bool is_first = !port->has_ended;
    port->has_ended = true;
    *messages = port->first;
    port->first = NULL;
    port->last = &port->first;
    port->count = port->bytes = 0;
    atomic_fetch_add(&port->space, 1);
    wait_word_wake_all(&port->space);
    lock_give(&port->lock);
    return is_first;
}

/// By who invalidates the source, by its last release, or on the ending thread of the loop.
static void end(void *info) {
    struct port *port = info;
    struct queued *message = NULL;
    if (!close_queue(port, &message))
        return;
    runloop__ports_remove(port->ports, port);
    runloop__requests_to_port_end(port);
    for (struct queued *next; message; message = next) {
        next = message->next;
        drop_message(message);
    }
    runloop__requests_by_port_end(port);
}

/// With its memory, of which this is a reference.
static void end_with_loop(struct port *port) {
    end(port);
    runloop__port_release_memory(port);
}

static void free_port(void *info) {
    struct port *port = info;
    bool is_inherited = object_is_inherited(&port->object);
    if (!is_inherited)
        end(port);
    runloop__object_end(&port->object);
    // A child's copy may have been made while another thread changed it.
    if (!is_inherited)
        runloop__port_release_memory(port);
}

//===-- its life -----------------------------------------------------------------------------------------------------===//

/// It has come to a mode, perhaps by another thread. What waits has woken the loop before that, and found it without the port.
static void schedule(void *info, runloop *loop, const char *mode) {
    (void)loop, (void)mode;
    struct port *port = info;
    lock_take(&port->lock);
    bool wakes = port->is_marked;
    lock_give(&port->lock);
    if (wakes)
        runloop__port_wake(port);
}

static const struct object_class port_class = {
    .kind = OBJECT_PORT, .ready = ready, .schedule = schedule, .invalidated = end, .free = free_port};

UNCHECKED static struct port *make(runloop *loop, const runloop_port_config *config) {
    struct port *port = calloc(1, sizeof *port);
    if (!port)
        return NULL;
    port->loop = loop;
    port->max_messages = config->max_messages ? config->max_messages : DEFAULT_MESSAGES;
    port->max_bytes = config->max_bytes ? config->max_bytes : DEFAULT_BYTES;
    port->receive = config->receive;
    port->memory = 1;
    port->last = &port->first;
    list_init(&port->in_loop);
    list_init(&port->received);
    runloop__requests_init(&port->requests);
    return port;
}

int runloop_port_create(runloop *loop, const runloop_port_config *config, runloop_port **out) {
    if (!loop || !config || !out)
        return -EINVAL;
    struct port *port = make(loop, config);
    if (!port)
        return -ENOMEM;
    int result = runloop__ports_of_loop(loop, end_with_loop, &port->ports);
    if (result < 0) {
        free(port);
        return result;
    }
    runloop_retain(loop);
    // If the loop ends meanwhile, it does without the source.
    result = runloop__ports_add(port->ports, port);
    const struct object_config object = {.context = config->context, .descriptor = -1, .class = &port_class};
    if (result == 0)
        result = runloop__object_begin(&port->object, &object);
    if (result < 0) {
        runloop__ports_remove(port->ports, port);
        runloop__port_release_memory(port);
        return result;
    }
    *out = port->object.source;
    return 0;
}

runloop *runloop_port_get_loop(runloop_port *source) {
    const struct port *port = port_of(source);
    return port ? port->loop : NULL;
}

bool runloop_port_is_valid(runloop_port *source) {
    struct port *port = port_of(source);
    if (object_check(port) < 0)
        return false;
    lock_take(&port->lock);
    bool is_valid = !port->has_ended;
    lock_give(&port->lock);
    return is_valid;
}

size_t runloop_port_get_count(runloop_port *source) {
    struct port *port = port_of(source);
    if (object_check(port) < 0)
        return 0;
    lock_take(&port->lock);
    size_t count = port->count;
    lock_give(&port->lock);
    return count;
}
#endif // __linux__
