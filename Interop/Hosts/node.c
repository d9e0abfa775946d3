// node.c — an addon that serves a run loop on the main thread of Node.js, by runloop-uv.c. Copy both into an addon, or build this one:
//
//     cc -shared -fPIC -I/usr/include/node node.c runloop-uv.c $(pkg-config --cflags --libs runloop) -o runloop.node
//
//     const runloop = require('./runloop.node');
//     runloop.attach();   // the default mode; keeps Node running, as an open socket does
//     runloop.detach();
//
// A callback of the run loop that calls JavaScript opens a napi_handle_scope, and uses napi_make_callback.
#include <node_api.h>

#include <stdlib.h>

#include "runloop-uv.h"

static struct runloop_uv *hosted;

static void closed(struct runloop_uv *run) {
    free(run);
}

static void ended(struct runloop_uv *run, int result) {
    (void)result;
    if (run == hosted)
        hosted = NULL;
    runloop_uv_detach(run);
}

static napi_value attach(napi_env env, napi_callback_info info) {
    (void)info;
    uv_loop_t *loop;
    int result = 0;
    if (!hosted && napi_get_uv_event_loop(env, &loop) == napi_ok && (hosted = calloc(1, sizeof *hosted))) {
        hosted->ended = ended;
        hosted->closed = closed;
        if ((result = runloop_uv_attach(hosted, loop, RUNLOOP_DEFAULT_MODE)) != 0) {
            free(hosted);
            hosted = NULL;
        }
    }
    if (!hosted)
        napi_throw_error(env, NULL,
                         result > 0 ? "The run loop has nothing to serve." : "The run loop can't be hosted.");
    return NULL;
}

static napi_value detach(napi_env env, napi_callback_info info) {
    (void)env, (void)info;
    if (hosted)
        runloop_uv_detach(hosted);
    hosted = NULL;
    return NULL;
}

NAPI_MODULE_INIT() {
    napi_property_descriptor functions[] = {
        {.utf8name = "attach", .method = attach, .attributes = napi_enumerable},
        {.utf8name = "detach", .method = detach, .attributes = napi_enumerable},
    };
    napi_define_properties(env, exports, 2, functions);
    return exports;
}
