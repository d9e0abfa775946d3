// absent.c — stands for what a peer doesn't offer; its traits say so, and nobody calls it.

#include "../bench.h"

#define ABSENT __attribute__((weak))

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
