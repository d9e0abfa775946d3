// uv_turns.h — events of libuv's that always come, for the hosts that are libuv's loop: HOST_UV_LOOP, which the test file defines.
#define HOST_TURNS 2
static uv_timer_t repeated_timer;
static uv_idle_t repeated_idle;

static void count_timer_turn(uv_timer_t *timer) {
    ++*(int *)timer->data;
}

static void count_idle_turn(uv_idle_t *idle) {
    ++*(int *)idle->data;
}

static void host_begin_turns(int turns[HOST_TURNS]) {
    repeated_timer.data = &turns[0];
    repeated_idle.data = &turns[1];
    REQUIRE(uv_timer_init(HOST_UV_LOOP, &repeated_timer) == 0 && uv_idle_init(HOST_UV_LOOP, &repeated_idle) == 0);
    uv_timer_start(&repeated_timer, count_timer_turn, 1, 1);
    uv_idle_start(&repeated_idle, count_idle_turn);
}

static void host_end_turns(void) {
    uv_close((uv_handle_t *)&repeated_timer, NULL);
    uv_close((uv_handle_t *)&repeated_idle, NULL);
}

#include "host_turns.h"
