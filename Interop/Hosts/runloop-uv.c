// runloop-uv.c — a poll handle that waits for the descriptor of a hosted run.
#include "runloop-uv.h"

#include <errno.h>

/// After so much the other handles have their turn.
#define BUDGET_NS 1000000

static void iterate(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    struct runloop_uv *hosted = poll->data;
    int result = runloop_hosted_iterate(BUDGET_NS);
    if (result == 0 || result == -EAGAIN)
        return;
    uv_poll_stop(poll);
    if (hosted->ended)
        hosted->ended(hosted, result);
}

int runloop_uv_attach(struct runloop_uv *hosted, uv_loop_t *loop, const char *mode) {
    int result = runloop_hosted_begin(mode);
    if (result != 0)
        return result;
    hosted->poll.data = hosted;
    int error = uv_poll_init(loop, &hosted->poll, runloop_hosted_descriptor());
    if (!error)
        error = uv_poll_start(&hosted->poll, UV_READABLE, iterate);
    if (error)
        runloop_hosted_end();
    return error;
}

static void poll_closed(uv_handle_t *handle) {
    struct runloop_uv *hosted = handle->data;
    if (hosted->closed)
        hosted->closed(hosted);
}

void runloop_uv_detach(struct runloop_uv *hosted) {
    if (uv_is_active((uv_handle_t *)&hosted->poll))
        runloop_hosted_end();
    uv_close((uv_handle_t *)&hosted->poll, poll_closed);
}
