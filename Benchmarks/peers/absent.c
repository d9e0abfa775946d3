// absent.c — stands for functions that a peer doesn't offer, which are never called because its traits say so, or doesn't need.

#include "../bench.h"

#define ABSENT __attribute__((weak))

ABSENT void peer_prepare_threads(void) {}

ABSENT void peer_accept_submissions(struct peer_loop *loop) {
    (void)loop;
}

ABSENT void peer_reap(struct peer_loop *loop) {
    (void)loop;
}

ABSENT void peer_poll(struct peer_loop *loop) {
    (void)loop;
    abort();
}

ABSENT void peer_observe_all(struct peer_loop *loop, void (*observe)(void)) {
    (void)loop, (void)observe;
    abort();
}

ABSENT void peer_add_modes(struct peer_loop *loop, unsigned count, bool are_common) {
    (void)loop, (void)count, (void)are_common;
    abort();
}

ABSENT void peer_add_remove_common(struct peer_loop *loop) {
    (void)loop;
    abort();
}

ABSENT void peer_run_inner(struct peer_loop *loop) {
    (void)loop;
    abort();
}

ABSENT void peer_main_queue_async(void (*function)(void *info), void *info) {
    (void)function, (void)info;
    abort();
}
