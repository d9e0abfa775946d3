// dispatch_main.c — the main dispatch queue, served by the main loop in the common modes (R106–R110). libdispatch is asked for
// weakly: a program without it has no main queue, and needs no library for it.
//
// Its descriptor is an eventfd that belongs to libdispatch, which may close it for good (then it answers -1): so the number is never
// remembered, but asked for whenever it is used. Every queued block writes the eventfd. It is watched for edges, so that a run that
// doesn't serve the queue is not kept awake by it, and its counter is read when the queue is served or looked at, so that a look
// needs no wait for everything else.

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));
extern void _dispatch_main_queue_callback_4CF(void *unused) __attribute__((weak));

bool runloop__main_queue_exists(void) {
    return _dispatch_get_main_queue_handle_4CF && _dispatch_main_queue_callback_4CF;
}

static int descriptor(void) {
    return runloop__main_queue_exists() ? _dispatch_get_main_queue_handle_4CF() : -1;
}

bool runloop__main_queue_is_available(runloop *loop) {
    return loop->may_have_main_queue && loop->main_queue_depth == 0 && descriptor() >= 0;
}

bool runloop__main_queue_watch(runloop *loop) {
    if (!runloop__main_queue_is_available(loop))
        return false;
    runloop__lock(loop);
    struct port *port = runloop__port_at(loop, PORT_MAIN_QUEUE);
    if (!port->in_set || loop->main_queue_descriptor != descriptor()) {
        loop->main_queue_descriptor = descriptor();
        int error = runloop__portset_watch_main_queue(loop);
        port->in_set = !error || error == -EEXIST;
    }
    bool watched = port->in_set;
    runloop__unlock(loop);
    return watched;
}

/// Reads the counter: true if anything was queued since the last time.
static bool take_signal(void) {
    uint64_t count;
    int handle = descriptor();
    return handle >= 0 && read(handle, &count, sizeof count) == (ssize_t)sizeof count;
}

bool runloop__main_queue_look(struct run *run) {
    runloop *loop = run->loop;
    runloop__lock(loop);
    bool is_reported = runloop__port_at(loop, PORT_MAIN_QUEUE)->ready;
    runloop__unlock(loop);
    // What a wait has reported is taken when it is served; what the look takes is as good as reported.
    if (!is_reported) {
        if (!take_signal())
            return false;
        loop->main_queue_is_taken = true;
        runloop__lock(loop);
        runloop__port_report(loop, PORT_MAIN_QUEUE, EPOLLIN);
        runloop__unlock(loop);
    }
    return true;
}

bool runloop__main_queue_serve(struct run *run) {
    runloop *loop = run->loop;
    runloop__lock(loop);
    struct port *port = runloop__port_at(loop, PORT_MAIN_QUEUE);
    bool ready = port->in_hand;
    if (port->ready)
        runloop__port_unready(loop, port);
    runloop__unlock(loop);
    bool is_taken = loop->main_queue_is_taken;
    loop->main_queue_is_taken = false;
    if (!ready)
        return false;
    if (!is_taken)
        take_signal();
    loop->timers_served_last = false;
    loop->main_queue_depth++;
    runloop__IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(_dispatch_main_queue_callback_4CF);
    loop->main_queue_depth--;
    loop->main_queue_left_ns = 0;
    return true;
}

//===-- work that waits for a nested run to end (R109) ---------------------------------------------------------------===//

/// Longer than anything on the initial thread should take.
#define PATIENCE_NS INT64_C(250000000)

static bool work_waits(void) {
    struct pollfd queue = {.fd = descriptor(), .events = POLLIN};
    return queue.fd >= 0 && poll(&queue, 1, 0) == 1;
}

bool runloop__main_queue_is_left(runloop *loop) {
    return loop->main_queue_depth > 0 && runloop__note_is_due(NOTE_MAIN_QUEUE_WAITS);
}

int64_t runloop__main_queue_limit_wait(struct run *run, int64_t timeout_ns) {
    runloop *loop = run->loop;
    // Kept over several short runs: the work waits until the batch that they are nested in has ended.
    if (loop->main_queue_left_ns == 0 && work_waits())
        loop->main_queue_left_ns = runloop_now_ns();
    if (loop->main_queue_left_ns == 0)
        return timeout_ns;
    int64_t left_ns = loop->main_queue_left_ns + PATIENCE_NS - runloop_now_ns();
    if (left_ns > 0)
        return left_ns < timeout_ns ? left_ns : timeout_ns;
    runloop__note(NOTE_MAIN_QUEUE_WAITS);
    run->leaves_main_queue = false;
    return timeout_ns;
}
