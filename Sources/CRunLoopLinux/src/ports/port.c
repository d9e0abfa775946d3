// port.c — a port: made, kept, in modes, and its end.

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "ports/port.h"
#include "ports/wait_word.h"

enum { DEFAULT_MESSAGES = 64, DEFAULT_BYTES = 1 << 20 };

//===-- its memory ---------------------------------------------------------------------------------------------------===//

static void release_memory(void *info) {
    runloop__port_release_memory(info);
}

/// The source has been freed: nobody is in a call-out of the port, and nobody will be.
static void release_context(void *info) {
    runloop_port *port = info;
    if (port->context.release)
        port->context.release(port->context.info);
    runloop__port_release_memory(port);
}

static char *describe(void *info) {
    runloop_port *port = info;
    return port->context.describe(port->context.info);
}

//===-- calling out --------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static struct queued *take_message(runloop_port *port) {
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

static void call_out(runloop_port *port, struct queued *queued) {
    // The call-out may end the thread.
    pthread_cleanup_push(drop_message, queued);
    bool is_over = queued->message.request && !runloop_request_is_awaited(queued->message.request);
    if (port->receive && !is_over)
        port->receive(port, &queued->message, port->context.info);
    pthread_cleanup_pop(1);
}

/// One call-out. What else there is marks the source again before that, so that a nested run serves it.
static void perform(runloop_source *source, void *info) {
    (void)source;
    runloop_port *port = info;
    lock_take(&port->lock);
    port->is_marked = false;
    struct awaited *answer = runloop__requests_take_answered(&port->requests);
    struct queued *message = answer ? NULL : take_message(port);
    bool has_more = port->first || !link_is_alone(&port->requests.answered);
    runloop_source *marked = has_more ? runloop__port_mark(port) : NULL;
    lock_give(&port->lock);
    runloop__port_wake(port, marked);
    if (answer)
        runloop__request_call_out(LINK_OWNER(answer, runloop_request, awaited));
    else if (message)
        call_out(port, message);
}

static void fire(runloop_timer *timer, void *info) {
    (void)timer;
    runloop__port_time_out(info);
}

//===-- its modes ----------------------------------------------------------------------------------------------------===//

static void schedule(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode;
    runloop_port *port = info;
    if (atomic_fetch_add(&port->memberships, 1) == 0)
        runloop_port_retain(port);
}

static void cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode;
    runloop_port *port = info;
    if (atomic_fetch_sub(&port->memberships, 1) == 1)
        runloop_port_release(port);
}

/// References to the source and the timer. -EINVAL if the port has ended.
static int items_of(runloop_port *port, runloop_source **source, runloop_timer **timer) {
    int result = runloop__port_check(port);
    if (result < 0)
        return result;
    lock_take(&port->lock);
    *source = runloop_source_retain(port->source);
    *timer = runloop_timer_retain(port->timer);
    lock_give(&port->lock);
    return *source ? 0 : -EINVAL;
}

int runloop_port_add(runloop_port *port, const char *mode) {
    runloop_source *source;
    runloop_timer *timer;
    int result = items_of(port, &source, &timer);
    if (result < 0)
        return result;
    bool is_new = !runloop_contains_timer(port->loop, timer, mode);
    result = runloop_add_timer(port->loop, timer, mode);
    if (result == 0) {
        result = runloop_add_source(port->loop, source, mode);
        if (result < 0 && is_new)
            runloop_remove_timer(port->loop, timer, mode);
    }
    runloop_timer_release(timer);
    runloop_source_release(source);
    return result;
}

int runloop_port_remove(runloop_port *port, const char *mode) {
    runloop_source *source;
    runloop_timer *timer;
    int result = items_of(port, &source, &timer);
    if (result < 0)
        return result;
    runloop_remove_timer(port->loop, timer, mode);
    result = runloop_remove_source(port->loop, source, mode);
    runloop_timer_release(timer);
    runloop_source_release(source);
    return result;
}

//===-- its end ------------------------------------------------------------------------------------------------------===//

/// Takes from the port what makes it one.
struct remains {
    runloop_source *source;
    runloop_timer *timer;
    struct queued *messages;
};

static struct remains take_remains(runloop_port *port) {
    lock_take(&port->lock);
    struct remains remains = {.source = port->source, .timer = port->timer, .messages = port->first};
    port->source = NULL;
    port->timer = NULL;
    port->first = NULL;
    port->last = &port->first;
    port->count = port->bytes = 0;
    atomic_fetch_add(&port->space, 1);
    wait_word_wake_all(&port->space);
    lock_give(&port->lock);
    return remains;
}

static void end(runloop_port *port) {
    struct remains remains = take_remains(port);
    if (!remains.source)
        return;
    // The modes may have the last use.
    port_keep_memory(port);
    runloop__ports_remove(port->ports, port);
    runloop_timer_invalidate(remains.timer);
    runloop_timer_release(remains.timer);
    runloop_source_invalidate(remains.source);
    runloop_source_release(remains.source);
    runloop__requests_to_port_end(port);
    for (struct queued *message = remains.messages, *next; message; message = next) {
        next = message->next;
        drop_message(message);
    }
    runloop__requests_by_port_end(port);
    runloop__port_release_memory(port);
}

/// With its memory, of which this is a reference.
static void end_with_loop(runloop_port *port) {
    end(port);
    runloop__port_release_memory(port);
}

//===-- its life -----------------------------------------------------------------------------------------------------===//

UNCHECKED static int make_items(runloop_port *port, int32_t order) {
    const runloop_source_config source = {
        .context = {.info = port, .release = release_context, .describe = port->context.describe ? describe : NULL},
        .order = order,
        .perform = perform,
        .schedule = schedule,
        .cancel = cancel,
    };
    // It repeats, so that it outlives its dates, which are set one after the other.
    const runloop_timer_config timer = {
        .context = {.info = port, .release = release_memory},
        .fire_ns = RUNLOOP_NEVER,
        .interval_ns = RUNLOOP_NEVER,
        .fire = fire,
    };
    int result = runloop_timer_create(&timer, &port->timer);
    if (result < 0)
        return result;
    port_keep_memory(port);
    result = runloop_source_create(&source, &port->source);
    if (result < 0) {
        runloop_timer_release(port->timer);
        return result;
    }
    port_keep_memory(port);
    return 0;
}

UNCHECKED static runloop_port *make(runloop *loop, const runloop_port_config *config) {
    runloop_port *port = calloc(1, sizeof *port);
    if (!port)
        return NULL;
    port->loop = loop;
    port->generation = runloop_fork_generation();
    port->max_messages = config->max_messages ? config->max_messages : DEFAULT_MESSAGES;
    port->max_bytes = config->max_bytes ? config->max_bytes : DEFAULT_BYTES;
    port->context = config->context;
    port->receive = config->receive;
    port->uses = port->memory = 1;
    port->last = &port->first;
    link_init(&port->in_loop);
    link_init(&port->received);
    runloop__requests_init(&port->requests);
    return port;
}

int runloop_port_create(runloop *loop, const runloop_port_config *config, runloop_port **out) {
    if (!loop || !config || !out)
        return -EINVAL;
    runloop_port *port = make(loop, config);
    if (!port)
        return -ENOMEM;
    int result = runloop__ports_of_loop(loop, end_with_loop, &port->ports);
    if (result < 0) {
        free(port);
        return result;
    }
    runloop_retain(loop);
    result = make_items(port, config->order);
    if (result == 0) {
        // From here on the source releases the context, which the client does not expect of a port that was not made.
        if (port->context.retain)
            port->context.info = port->context.retain(port->context.info);
        result = runloop__ports_add(port->ports, port);
        if (result < 0 && !port->context.retain)
            port->context.release = NULL;
    }
    if (result < 0) {
        runloop_port_release(port);
        return result;
    }
    *out = port;
    return 0;
}

runloop_port *runloop_port_retain(runloop_port *port) {
    if (port)
        atomic_fetch_add_explicit(&port->uses, 1, memory_order_relaxed);
    return port;
}

void runloop_port_release(runloop_port *port) {
    if (runloop__port_check(port) < 0 || atomic_fetch_sub(&port->uses, 1) > 1)
        return;
    end(port);
    runloop__port_release_memory(port);
}

runloop *runloop_port_get_loop(runloop_port *port) {
    return port ? port->loop : NULL;
}

bool runloop_port_is_valid(runloop_port *port) {
    if (runloop__port_check(port) < 0)
        return false;
    lock_take(&port->lock);
    bool is_valid = port->source;
    lock_give(&port->lock);
    return is_valid;
}

size_t runloop_port_get_count(runloop_port *port) {
    if (runloop__port_check(port) < 0)
        return 0;
    lock_take(&port->lock);
    size_t count = port->count;
    lock_give(&port->lock);
    return count;
}

void runloop_port_invalidate(runloop_port *port) {
    if (runloop__port_check(port) == 0)
        end(port);
}
