// uv.c — every scene of host_scenes.h under libuv, by Interop/Hosts/runloop-uv.c. uv_run can't be called in its callbacks.
#include "../../Hosts/runloop-uv.h"

#include "items.h"

#define HOST_NESTS 0
static __thread uv_loop_t uv;
static __thread uv_timer_t limit;
static __thread struct runloop_uv *hosted;
static __thread bool is_ready;

static void ended(struct runloop_uv *run, int result) {
    (void)run, (void)result;
}

static void closed(struct runloop_uv *run) {
    free(run);
}

static void host_attach(const char *mode) {
    if (!is_ready) {
        REQUIRE(uv_loop_init(&uv) == 0 && uv_timer_init(&uv, &limit) == 0);
        is_ready = true;
    }
    hosted = calloc(1, sizeof *hosted);
    hosted->ended = ended;
    hosted->closed = closed;
    EXPECT_EQ(runloop_uv_attach(hosted, &uv, mode), 0);
}

static void host_detach(void) {
    if (hosted)
        runloop_uv_detach(hosted);
    hosted = NULL;
    uv_run(&uv, UV_RUN_NOWAIT);
}

static void limit_is_over(uv_timer_t *timer) {
    (void)timer;
}

static void host_iterate(int64_t limit_ns) {
    uv_update_time(&uv);
    uv_timer_start(&limit, limit_is_over, (uint64_t)((limit_ns + MS - 1) / MS), 0);
    uv_run(&uv, UV_RUN_ONCE);
    uv_timer_stop(&limit);
}

#include "host_scenes.h"

#define HOST_UV_LOOP &uv
#include "uv_turns.h"
