// main_queue.h — the main dispatch queue, for the peers that serve it.
#ifndef MAIN_QUEUE_H
#define MAIN_QUEUE_H

#include <dispatch/dispatch.h>

void peer_main_queue_async(void (*function)(void *info), void *info) {
    dispatch_async_f(dispatch_get_main_queue(), info, function);
}

#endif
