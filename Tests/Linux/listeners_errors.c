// listeners_errors.c — what accept4 says of connections, one by one and for good. Link with -Wl,--wrap=accept4.
#include <netinet/in.h>

#include "linux_items.h"

static int accepted, accepts, pauses, resumptions, error_now, errors_left;

int __real_accept4(int listening, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int listening, struct sockaddr *address, socklen_t *size, int flags);

int __wrap_accept4(int listening, struct sockaddr *address, socklen_t *size, int flags) {
    accepts++;
    if (errors_left > 0) {
        errors_left--;
        errno = error_now;
        return -1;
    }
    return __real_accept4(listening, address, size, flags);
}

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
    accepted++;
}

static void note_paused(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    pauses += error != 0;
    resumptions += error == 0;
}

static runloop_listener *make_listener(void) {
    const runloop_listener_config config = {.descriptor = runloop_listen_tcp("127.0.0.1", 0, 0),
                                            .owns = true,
                                            .accepted = note_accepted,
                                            .paused = note_paused};
    return add_listener(&config);
}

static void fail(int error, int times) {
    error_now = error;
    errors_left = times;
}

TEST("a connection that is gone from the queue does not keep the next one waiting for another turn") {
    runloop_listener *listener = make_listener();
    fail(ECONNABORTED, 3);
    int client = connect_to(runloop_source_get_descriptor(listener));
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(accepted, 1);
    EXPECT_EQ(pauses, 0);
    close(client);
    end_source(listener);
}

TEST("connections that a firewall refuses now and then are no shortage, however many they are in all") {
    enum { ROUNDS = 5, REFUSALS = 60 };
    runloop_listener *listener = make_listener();
    for (int round = 1; round <= ROUNDS; round++) {
        fail(EPERM, REFUSALS);
        int client = connect_to(runloop_source_get_descriptor(listener));
        RUN_UNTIL(MODE, accepted == round);
        close(client);
    }
    EXPECT_EQ(pauses, 0);
    end_source(listener);
}

TEST("a sandbox that refuses each connection is a shortage, told once, and keeps no loop busy") {
    runloop_listener *listener = make_listener();
    fail(EPERM, INT32_MAX);
    int client = connect_to(runloop_source_get_descriptor(listener));
    RUN_UNTIL(MODE, pauses == 1);
    EXPECT(accepts >= 64 && accepts < 200);
    errors_left = 0;
    RUN_UNTIL(MODE, accepted == 1);
    EXPECT(pauses == 1 && resumptions == 1);
    close(client);
    end_source(listener);
}

TEST("a listener that is called in a pause, as by another loop, does not end it early") {
    runloop_listener *listener = make_listener();
    fail(EMFILE, INT32_MAX);
    int client = connect_to(runloop_source_get_descriptor(listener));
    RUN_UNTIL(MODE, pauses == 1);
    int before = accepts;
    // Well before the pause is over, unless this thread is held up for so long; then there is another one.
    EXPECT_EQ(runloop_source_signal(listener), 0);
    int64_t begun_ns = runloop_now_ns(), deadline_ns = runloop_source_get_deadline(listener);
    runloop_run_pass(MODE, 0);
    bool is_in_time = deadline_ns != RUNLOOP_NEVER && begun_ns < deadline_ns && runloop_now_ns() < deadline_ns;
    EXPECT(!is_in_time || runloop_source_get_events(listener) == 0);
    EXPECT(!is_in_time || accepts - before <= 16);
    errors_left = 0;
    RUN_UNTIL(MODE, accepted == 1);
    close(client);
    end_source(listener);
}
