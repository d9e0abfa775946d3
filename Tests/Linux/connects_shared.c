// connects_shared.c — a connect is invalidated by one thread while another reports its socket. For the thread sanitizer, above all.
#include "linux_items.h"

enum { LOOPS = 3, ROUNDS = 300 };
static pthread_t threads[LOOPS];
static runloop *loops[LOOPS];
static pthread_barrier_t loops_are_there;
static _Atomic bool is_over;

static void *run_loop(void *index) {
    loops[(uintptr_t)index] = runloop_retain(runloop_current());
    add_timer(MODE, RUNLOOP_NEVER - 1, 0, NULL, NULL);
    pthread_barrier_wait(&loops_are_there);
    while (!is_over)
        run_for(MODE, 20 * MS);
    return NULL;
}

static void close_connection(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect, (void)info;
    if (error == 0)
        close(descriptor);
}

static void close_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
}

/// One loop may be done with it before another has it.
static void add_to_all(runloop_source *source) {
    for (int i = 0; i < LOOPS; i++) {
        int result = runloop_add_source(loops[i], source, MODE);
        REQUIRE(result == 0 || result == -EINVAL);
    }
}

/// Begins a thread for each loop, and a listener that all of them have.
static runloop_listener *begin_loops(uint16_t *port) {
    pthread_barrier_init(&loops_are_there, NULL, LOOPS + 1);
    for (uintptr_t i = 0; i < LOOPS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, run_loop, (void *)i) == 0);
    pthread_barrier_wait(&loops_are_there);
    int socket = runloop_listen_tcp("127.0.0.1", 0, 100);
    runloop_listener *listener = NULL;
    const runloop_listener_config listening = {.descriptor = socket, .owns = true, .accepted = close_accepted};
    REQUIRE(socket >= 0 && runloop_listener_create(&listening, &listener) == 0);
    add_to_all(listener);
    *port = (uint16_t)runloop_socket_get_port(socket, false);
    return listener;
}

static void end_loops(runloop_listener *listener) {
    is_over = true;
    for (int i = 0; i < LOOPS; i++) {
        runloop_wake_up(loops[i]);
        REQUIRE(pthread_join(threads[i], NULL) == 0);
        runloop_release(loops[i]);
    }
    end_source(listener);
}

TEST("a socket that is reported while another thread invalidates its connect is named to the kernel by nobody else") {
    uint16_t port;
    runloop_listener *listener = begin_loops(&port);
    const runloop_connect_config config = {.host = "127.0.0.1", .port = port, .connected = close_connection};
    for (int round = 0; round < ROUNDS; round++) {
        runloop_connect *connect = NULL;
        REQUIRE(runloop_connect_create(&config, &connect) == 0);
        add_to_all(connect);
        if (round % 3)
            sched_yield();
        if (round % 7 == 3)
            usleep(50);
        end_source(connect);
    }
    end_loops(listener);
}

static void count_outcome(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect;
    if (error == 0)
        close(descriptor);
    ++*(_Atomic int *)info;
}

TEST("of several loops that have a connect one reports its outcome") {
    static _Atomic int outcomes[ROUNDS];
    runloop_connect *connects[ROUNDS];
    uint16_t port;
    runloop_listener *listener = begin_loops(&port);
    for (int round = 0; round < ROUNDS; round++) {
        const runloop_connect_config config = {
            .context.info = (void *)&outcomes[round], .host = "127.0.0.1", .port = port, .connected = count_outcome};
        REQUIRE(runloop_connect_create(&config, &connects[round]) == 0);
        add_to_all(connects[round]);
        WAIT_UNTIL(outcomes[round] > 0);
    }
    end_loops(listener);
    for (int round = 0; round < ROUNDS; round++) {
        EXPECT_EQ(outcomes[round], 1);
        runloop_source_release(connects[round]);
    }
}
