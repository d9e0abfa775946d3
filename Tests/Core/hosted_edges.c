// hosted_edges.c — hosted runs under a loop that waits by epoll, edge-triggered.
#define HOST_EVENTS (EPOLLIN | EPOLLET)
#include "host_epoll.h"

//===-- the host's loop inside a call-out ----------------------------------------------------------------------------===//

static _Atomic int modal_rounds;

static void be_modal_for_a_round(void *unused) {
    (void)unused;
    int before = counts[0];
    modal_rounds++;
    HOST_UNTIL(counts[0] > before);
}

static void *post_in_each_round(void *rounds) {
    for (int i = 0; i < *(int *)rounds; i++) {
        EXPECT_EQ(runloop_post(loop, MODE, be_modal_for_a_round, NULL, NULL), 0);
        WAIT_UNTIL(modal_rounds == i + 1);
        EXPECT_EQ(runloop_post(loop, MODE, count_task, &counts[0], NULL), 0);
    }
    return NULL;
}

TEST("R38 R104 edges: what comes while a call-out runs wakes the host's loop inside it") {
    int rounds = 300;
    begin_quietly();
    do_on_thread(post_in_each_round, &rounds);
    HOST_UNTIL(modal_rounds == rounds && counts[0] == rounds);
    pthread_join(helper, NULL);
    host_detach();
}

static void ask_and_be_modal(void *unused) {
    (void)unused;
    runloop_hosted_iterate(RUNLOOP_FOREVER);
    HOST_UNTIL(counts[0] == 1);
    counts[1]++;
}

TEST("R38 R104 edges: what came before a call-out is served in it by a host that asks once") {
    begin_quietly();
    EXPECT_EQ(runloop_post(loop, MODE, ask_and_be_modal, NULL, NULL), 0);
    signalled = add_source(MODE, count_perform, &counts[0]);
    signal_and_wake(NULL);
    HOST_UNTIL(counts[1] == 1);
    host_detach();
}
