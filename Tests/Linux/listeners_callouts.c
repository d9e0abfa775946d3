// listeners_callouts.c — what a listener that is short of descriptors tells, and what a program may do there: run its loop, end its
// thread or the listener.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "linux_items.h"

static int accepted, refusals, pauses, resumptions, wake_ups, accepts;

int __real_accept4(int listening, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int listening, struct sockaddr *address, socklen_t *size, int flags);

int __wrap_accept4(int listening, struct sockaddr *address, socklen_t *size, int flags) {
    accepts++;
    return __real_accept4(listening, address, size, flags);
}

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
    accepted++;
}

static int make_client(void) {
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(client >= 0);
    return client;
}

static runloop_listener *listen_with(runloop_listener_config config) {
    config.descriptor = runloop_listen_tcp("127.0.0.1", 0, 0);
    config.owns = true;
    config.accepted = note_accepted;
    return add_listener(&config);
}

/// Has descriptors again, and lets the loop serve what there is.
static void help_and_run(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    pauses += error < 0;
    resumptions += error == 0;
    if (error < 0) {
        give_back_descriptors();
        poll_mode(MODE);
    }
}

TEST("a shortage that ends in a run within its own call-out leaves no spin behind") {
    runloop_listener *listener = listen_with((runloop_listener_config){.paused = help_and_run});
    int listening = runloop_source_get_descriptor(listener), clients[2] = {make_client(), make_client()};
    connect_client(clients[0], listening);
    use_up_descriptors(0);
    RUN_UNTIL(MODE, accepted == 1);
    EXPECT(pauses == 1 && resumptions == 1);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, count_activity, &wake_ups);
    EXPECT_EQ(run_for(MODE, 300 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(wake_ups < 20);
    connect_client(clients[1], listening);
    RUN_UNTIL(MODE, accepted == 2);
    EXPECT(pauses == 1 && resumptions == 1);
    end_source(listener);
}

static int last_error;

static void note_pause(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    pauses += error < 0;
    last_error = error;
}

TEST("a socket that is shut down in a pause is reported as a final error after it") {
    runloop_listener *listener = listen_with((runloop_listener_config){.paused = note_pause});
    int listening = runloop_source_get_descriptor(listener), client = make_client();
    connect_client(client, listening);
    use_up_descriptors(0);
    RUN_UNTIL(MODE, pauses == 1);
    EXPECT_EQ(last_error, -EMFILE);
    REQUIRE(shutdown(listening, SHUT_RDWR) == 0);
    give_back_descriptors();
    RUN_UNTIL(MODE, pauses == 2);
    EXPECT_EQ(last_error, -EINVAL);
    end_source(listener);
}

static void note_refusal(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)descriptor, (void)info;
    refusals++;
}

TEST("in a shortage the kernel is not asked again when no connection waits any more, though it names the shortage "
     "first") {
    runloop_listener *listener = listen_with((runloop_listener_config){.refused = note_refusal, .paused = note_pause});
    int client = make_client();
    connect_client(client, runloop_source_get_descriptor(listener));
    use_up_descriptors(0);
    RUN_UNTIL(MODE, refusals == 1);
    // Each time with the descriptor in reserve, too.
    EXPECT(accepts <= 4);
    EXPECT_EQ(pauses, 1);
    give_back_descriptors();
    close(client);
    client = make_client();
    connect_client(client, runloop_source_get_descriptor(listener));
    RUN_UNTIL(MODE, accepted == 1);
    end_source(listener);
}

static void end_thread(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)descriptor, (void)info;
    pthread_exit(NULL);
}

static void *end_at_once(void *argument) {
    (void)argument;
    pthread_exit(NULL);
}

static void *run_without_descriptors(void *listener) {
    REQUIRE(runloop_add_source(runloop_current(), listener, MODE) == 0);
    use_up_descriptors(0);
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

TEST("a thread that ends in a refusal has closed the connection, and another one can be refused") {
    runloop_listener *listener = listen_with((runloop_listener_config){.refused = end_thread});
    runloop_remove_source(runloop_current(), listener, MODE);
    int listening = runloop_source_get_descriptor(listener), clients[2] = {make_client(), make_client()};
    // The first pthread_exit loads a library, which takes a descriptor.
    on_new_thread(end_at_once, NULL);
    for (int i = 0; i < 2; i++) {
        connect_client(clients[i], listening);
        on_new_thread(run_without_descriptors, listener);
        give_back_descriptors();
        char byte;
        EXPECT_EQ(recv(clients[i], &byte, 1, 0), 0);
    }
    EXPECT_EQ(accepted, 0);
    end_source(listener);
}

static bool ends_thread;

static void end_when_resumed(runloop_listener *listener, int error, void *info) {
    (void)info;
    if (error < 0)
        give_back_descriptors();
    else if (ends_thread)
        pthread_exit(NULL);
    else
        runloop_source_invalidate(listener);
}

TEST("a listener, or the thread, that ends in the call for the end of a shortage closes the connection it has "
     "accepted") {
    on_new_thread(end_at_once, NULL);
    for (int i = 0; i < 2; i++) {
        ends_thread = i;
        runloop_listener *listener = listen_with((runloop_listener_config){.paused = end_when_resumed});
        runloop_remove_source(runloop_current(), listener, MODE);
        int client = make_client();
        char byte;
        connect_client(client, runloop_source_get_descriptor(listener));
        on_new_thread(run_without_descriptors, listener);
        EXPECT_EQ(runloop_source_is_valid(listener), ends_thread);
        EXPECT_EQ(accepted, 0);
        EXPECT_EQ(poll(&(struct pollfd){.fd = client, .events = POLLIN}, 1, 30000), 1);
        EXPECT_EQ(recv(client, &byte, 1, MSG_DONTWAIT), 0);
        end_source(listener);
    }
}
