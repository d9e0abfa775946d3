// runloop-uv.h — a run loop under libuv's: Node.js addons, Neovim, Julia. Copy it and runloop-uv.c into a program, or link librunloop-uv.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_UV_H
#define RUNLOOP_UV_H

#include <runloop.h>
#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A hosted run under a uv loop. The caller keeps it until `closed` was called.
struct runloop_uv {
    uv_poll_t poll;
    void (*ended)(struct runloop_uv *hosted, int result); ///< the run ended by itself; may be NULL
    void (*closed)(struct runloop_uv *hosted);            ///< may be NULL
    void *info;                                           ///< the caller's
};

/// Serves the calling thread's run loop in `mode` under `loop`, which that thread runs. It keeps uv_run from returning, unless it is
/// unreferenced (uv_unref). O(1).
/// Returns: 0; or a runloop_result if there is nothing to serve.
/// Errors: those of runloop_hosted_begin; -EEXIST: libuv watches the descriptor already.
int runloop_uv_attach(struct runloop_uv *hosted, uv_loop_t *loop, const char *mode);

/// Ends the run, if it has not ended by itself. Not in a callback of the run loop, where runloop_stop ends it. `closed` follows in an
/// iteration of the uv loop.
void runloop_uv_detach(struct runloop_uv *hosted);

#ifdef __cplusplus
}
#endif

#endif // RUNLOOP_UV_H
