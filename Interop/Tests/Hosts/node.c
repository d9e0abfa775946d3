// node.c — every scene of host_scenes.h under Node.js: an addon whose `run` runs one of them on Node's main thread, in Node's loop, for a
// Node process each.
#include <node_api.h>

#include "../../Hosts/runloop-uv.h"

#define main run_scenes
#include "items.h"
#undef main

#define HOST_NESTS 0
static uv_loop_t *nodes_loop;
static pthread_t nodes_thread;
static __thread uv_loop_t *uv;
static __thread uv_timer_t limit;
static __thread struct runloop_uv *hosted;

/// Another thread than Node's has a loop of its own.
static void find_loop(void) {
    static uv_loop_t other_loop;
    uv = pthread_equal(pthread_self(), nodes_thread) ? nodes_loop : &other_loop;
    REQUIRE((uv == nodes_loop || uv_loop_init(uv) == 0) && uv_timer_init(uv, &limit) == 0);
}

static void closed(struct runloop_uv *run) {
    free(run);
}

static void host_attach(const char *mode) {
    if (!uv)
        find_loop();
    hosted = calloc(1, sizeof *hosted);
    hosted->closed = closed;
    EXPECT_EQ(runloop_uv_attach(hosted, uv, mode), 0);
}

static void host_detach(void) {
    if (hosted)
        runloop_uv_detach(hosted);
    hosted = NULL;
    uv_run(uv, UV_RUN_NOWAIT);
}

static void limit_is_over(uv_timer_t *timer) {
    (void)timer;
}

static void host_iterate(int64_t limit_ns) {
    uv_update_time(uv);
    uv_timer_start(&limit, limit_is_over, (uint64_t)((limit_ns + MS - 1) / MS), 0);
    uv_run(uv, UV_RUN_ONCE);
    uv_timer_stop(&limit);
}

#include "host_scenes.h"

#define HOST_UV_LOOP uv
#include "uv_turns.h"

/// One scene, in this process.
static napi_value run(napi_env env, napi_callback_info info) {
    napi_value argument, result;
    size_t count = 1;
    uint32_t number = 0;
    napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
    napi_get_value_uint32(env, argument, &number);
    nodes_thread = pthread_self();
    napi_get_uv_event_loop(env, &nodes_loop);
    struct test *test = test_first;
    for (uint32_t i = 0; i < number && test; i++)
        test = test->next;
    if (test) {
        alarm(60);
        test->run();
        printf("%s %s\n", test_failures ? "FAIL" : "ok  ", test->name);
    }
    napi_create_int32(env, test ? test_failures : -1, &result);
    return result;
}

NAPI_MODULE_INIT() {
    napi_value function;
    napi_create_function(env, "run", NAPI_AUTO_LENGTH, run, NULL, &function);
    napi_set_named_property(env, exports, "run", function);
    return exports;
}
