// dispatch_main.c — the main dispatch queue, served by the main loop in the common modes (R106–R110). libdispatch is asked for
// weakly: a program without it has no main queue, and needs no library for it.
//
// Its descriptor is an eventfd that belongs to libdispatch, which may close it for good (then it answers -1). So the number is asked for
// at the start of each run and never read, removed or closed here. It is watched for edges: every queued block writes it.

#include <sys/epoll.h>

#include "internal.h"

extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));
extern void _dispatch_main_queue_callback_4CF(void *unused) __attribute__((weak));

static int descriptor(void) {
    if (!_dispatch_get_main_queue_handle_4CF || !_dispatch_main_queue_callback_4CF)
        return -1;
    return _dispatch_get_main_queue_handle_4CF();
}

bool runloop__main_queue_is_available(runloop *loop) {
    return loop->is_main && loop->main_queue_depth == 0 && descriptor() >= 0;
}

bool runloop__main_queue_watch(runloop *loop) {
    if (!runloop__main_queue_is_available(loop))
        return false;
    struct port *port = &loop->main_queue_port;
    runloop__lock(loop);
    if (!port->in_set || port->descriptor != descriptor()) {
        port->descriptor = descriptor();
        int error = runloop__portset_watch(loop, port, EPOLL_CTL_ADD, EPOLLIN);
        port->in_set = !error || error == -EEXIST;
    }
    bool watched = port->in_set;
    runloop__unlock(loop);
    return watched;
}

bool runloop__main_queue_serve(struct run *run) {
    runloop *loop = run->loop;
    struct port *port = &loop->main_queue_port;
    runloop__lock(loop);
    bool ready = port->reports == run->port_report && !list_is_empty(&port->in_ready);
    list_remove(&port->in_ready);
    port->ready = 0;
    runloop__unlock(loop);
    if (!ready)
        return false;
    loop->timers_served_last = false;
    loop->main_queue_depth++;
    runloop__IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(_dispatch_main_queue_callback_4CF);
    loop->main_queue_depth--;
    return true;
}
