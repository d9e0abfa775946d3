// descriptor.c — descriptor sources: which events they get and when they are members (R68–R73).
#include "items.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

static runloop_readiness last_events;
static int calls;

static void note_events(runloop_source *source, runloop_readiness events, void *info) {
    (void)source;
    last_events = events;
    calls++;
    if (info)
        trace(info);
}

static void read_some(runloop_source *source, runloop_readiness events, void *info) {
    char bytes[8];
    note_events(source, events, info);
    EXPECT(read(runloop_source_get_descriptor(source), bytes, sizeof bytes) > 0);
}

static int make_a_file(void) {
    char path[] = "/tmp/runloop-test-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    unlink(path);
    return file;
}

TEST("R69 a timerfd is a counter, called once per batch of expirations") {
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    runloop_source *source = make_counter(descriptor, note_events, NULL);
    runloop_add_source(runloop_current(), source, MODE);
    struct itimerspec often = {.it_value = {.tv_nsec = 1}, .it_interval = {.tv_nsec = MS}};
    timerfd_settime(descriptor, 0, &often, NULL);
    pass_time(20 * MS);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 1);
    uint64_t left = take(descriptor);
    EXPECT(left < 20); // The expirations since the loop read it.
    while (calls < 5)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    runloop_source_release(source);
}

TEST("R69 a counter that is still ready after its callback is served again") {
    int descriptor = eventfd(3, EFD_NONBLOCK | EFD_SEMAPHORE | EFD_CLOEXEC);
    runloop_source *source = make_counter(descriptor, note_events, "call");
    runloop_add_source(runloop_current(), source, MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, trace_activity, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("A call A call A call A");
    runloop_source_release(source);
}

TEST("R69 without counter semantics the loop reads nothing, and calls the source as long as the descriptor is ready") {
    int ends[2];
    make_pipe(ends);
    add_descriptor(MODE, ends[0], RUNLOOP_READABLE, read_some, NULL);
    REQUIRE(write(ends[1], "12345678123456781234", 20) == 20);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 3); // 8, 8 and 4 bytes: the loop read none.
    int descriptor = make_eventfd(7);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, note_events, NULL);
    calls = 0;
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(take(descriptor), 7);
}

static int create_counter(int descriptor) {
    runloop_descriptor_config config = {.descriptor = descriptor, .events = RUNLOOP_READABLE, .counter = true};
    runloop_source *source = NULL;
    int result = runloop_descriptor_source_create(&config, &source);
    if (result == 0)
        runloop_source_release(source);
    return result;
}

TEST("R70 only a non-blocking eventfd, timerfd or similar object can be a counter") {
    int ends[2], sockets[2];
    make_pipe(ends);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
    EXPECT_EQ(create_counter(make_eventfd(0)), 0);
    EXPECT_EQ(create_counter(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)), 0);
    EXPECT_EQ(create_counter(eventfd(0, 0)), -EINVAL);
    EXPECT_EQ(create_counter(timerfd_create(CLOCK_MONOTONIC, 0)), -EINVAL);
    EXPECT_EQ(create_counter(ends[0]), -EINVAL);
    EXPECT_EQ(create_counter(sockets[0]), -EINVAL);
    EXPECT_EQ(create_counter(make_a_file()), -EINVAL);
    EXPECT_EQ(create_counter(open("/dev/null", O_RDONLY | O_NONBLOCK)), -EINVAL);
}

static void bump_once(runloop_source *source, runloop_readiness events, void *info) {
    note_events(source, events, info);
    if (calls == 1)
        bump(runloop_source_get_descriptor(source));
}

TEST("R71 a counter written in its own callback is called again in the next iteration") {
    runloop_source *source = make_counter(make_eventfd(1), bump_once, "call");
    runloop_add_source(runloop_current(), source, MODE);
    runloop_source_release(source);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, trace_activity, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T call T call T");
}

static void note_reasons(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)info;
    trace(reasons == RUNLOOP_SIGNALLED ? "signalled" : reasons == RUNLOOP_READABLE ? "readable" : "both");
}

TEST("R72 a signalled descriptor source is called once, with this reason, in its modes, also while paused") {
    int descriptor = make_eventfd(0);
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, note_reasons, NULL);
    EXPECT(!runloop_source_is_signalled(source));
    EXPECT_EQ(runloop_source_signal(source), 0);
    EXPECT_EQ(runloop_source_signal(source), 0);
    EXPECT(runloop_source_is_signalled(source));
    add_timer("other", RUNLOOP_NEVER, 0, NULL, NULL);
    EXPECT_EQ(run_a_while("other"), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(!runloop_source_is_signalled(source));
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("signalled");
    EXPECT_EQ(runloop_source_set_events(source, 0), 0);
    bump(descriptor);
    EXPECT_EQ(runloop_source_signal(source), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("signalled");
}

TEST("R72 one that is invalid is neither signalled nor called") {
    runloop_source *source = add_descriptor(MODE, make_eventfd(0), RUNLOOP_READABLE, note_reasons, NULL);
    add_timer(MODE, RUNLOOP_NEVER, 0, NULL, NULL);
    EXPECT_EQ(runloop_source_signal(source), 0);
    runloop_source_retain(source);
    runloop_source_invalidate(source);
    EXPECT(!runloop_source_is_signalled(source));
    EXPECT_EQ(runloop_source_signal(source), 0);
    EXPECT(!runloop_source_is_signalled(source));
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    runloop_source_release(source);
}

TEST("R72 sources of one descriptor are called by order, then in the order of their addition") {
    int descriptor = make_eventfd(1);
    const char *names[] = {"c", "a", "b", "d"};
    int orders[] = {5, -7, 5, 9};
    for (int i = 0; i < 4; i++) {
        runloop_descriptor_config config = {.context = {.info = (void *)names[i]},
                                            .order = orders[i],
                                            .descriptor = descriptor,
                                            .events = RUNLOOP_READABLE,
                                            .ready = trace_ready};
        runloop_source *source = NULL;
        REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
        EXPECT_EQ(runloop_source_get_order(source), orders[i]);
        REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
        runloop_source_release(source);
    }
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("a c b d");
}

TEST("R73 the loop never closes a descriptor") {
    int descriptor = make_eventfd(1);
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    runloop_source_invalidate(source);
    EXPECT_EQ(take(descriptor), 1);
}

TEST("R73 removing one of two sources of a descriptor leaves the other") {
    int descriptor = make_eventfd(1);
    runloop_source *first = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "first");
    runloop_source *second = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "second");
    handle_one(MODE);
    EXPECT_TRACE("first second");
    runloop_remove_source(runloop_current(), second, MODE);
    handle_one(MODE);
    EXPECT_TRACE("first");
    second = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "second");
    runloop_source_invalidate(first);
    handle_one(MODE);
    EXPECT_TRACE("second");
    runloop_source_invalidate(second);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
}

static runloop_source *several[4];

static void add_several(int descriptor) {
    const char *names[] = {"1", "2", "3", "4"};
    for (int i = 0; i < 4; i++) {
        if (!several[i])
            several[i] = make_descriptor(descriptor, RUNLOOP_READABLE, trace_ready, (void *)names[i]);
        EXPECT_EQ(runloop_add_source(runloop_current(), several[i], MODE), 0);
    }
}

static void remove_several_one_by_one(void) {
    handle_one(MODE);
    EXPECT_TRACE("1 2 3 4");
    const int order[] = {1, 3, 0, 2};
    const char *left[] = {"1 3 4", "1 3", "3"};
    for (int i = 0; i < 3; i++) {
        runloop_remove_source(runloop_current(), several[order[i]], MODE);
        handle_one(MODE);
        EXPECT_TRACE(left[i]);
    }
    EXPECT_EQ(runloop_add_source(runloop_current(), several[0], MODE), 0);
    handle_one(MODE);
    EXPECT_TRACE("3 1");
    runloop_remove_source(runloop_current(), several[2], MODE);
    runloop_remove_source(runloop_current(), several[0], MODE);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
}

static void *use_several(void *descriptor) {
    add_several(*(int *)descriptor);
    remove_several_one_by_one();
    return NULL;
}

TEST("R73 the sources of one descriptor can be removed in any order, from each of their loops") {
    int descriptor = make_eventfd(1);
    add_several(descriptor);
    on_new_thread(use_several, &descriptor);
    remove_several_one_by_one();
    for (int i = 0; i < 4; i++)
        runloop_source_release(several[i]);
}

TEST("R73 removed and invalidated sources are no longer called") {
    int descriptor = make_eventfd(1);
    keep_mode(MODE);
    runloop_source *source = make_descriptor(descriptor, RUNLOOP_READABLE, note_events, NULL);
    for (int i = 0; i < 3; i++) {
        runloop_add_source(runloop_current(), source, MODE);
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        runloop_remove_source(runloop_current(), source, MODE);
        EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    }
    EXPECT_EQ(calls, 3);
    runloop_add_source(runloop_current(), source, MODE);
    runloop_source_invalidate(source);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), -EINVAL);
    EXPECT_EQ(calls, 3);
    runloop_source_release(source);
}

static runloop_source *shared_source;

static void *run_shared_source(void *unused) {
    (void)unused;
    runloop_add_source(runloop_current(), shared_source, MODE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    return NULL;
}

TEST("R73 a source can be in loops of several threads; the first one to read gets the event") {
    int descriptor = make_eventfd(0);
    shared_source = make_counter(descriptor, note_events, NULL);
    runloop_add_source(runloop_current(), shared_source, MODE);
    bump(descriptor);
    on_new_thread(run_shared_source, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 1);
    bump(descriptor);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    runloop_source_release(shared_source);
}

TEST("R73 a regular file and a directory are refused with -EPERM, and nothing changes") {
    int refused[] = {make_a_file(), open("/tmp", O_RDONLY | O_DIRECTORY)};
    for (int i = 0; i < 2; i++) {
        runloop_source *source = make_descriptor(refused[i], RUNLOOP_READABLE, note_events, NULL);
        EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), -EPERM);
        EXPECT(!runloop_contains_source(runloop_current(), source, MODE));
        EXPECT_EQ(runloop_get_modes(runloop_current(), NULL, 0), 1); // Only the default mode, not MODE.
        EXPECT_EQ(runloop_add_source(runloop_current(), source, RUNLOOP_COMMON_MODES), -EPERM);
        EXPECT(!runloop_contains_source(runloop_current(), source, RUNLOOP_COMMON_MODES));
        EXPECT(!runloop_contains_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE));
        runloop_source_release(source);
    }
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
}

TEST("R73 a closed descriptor is refused with -EBADF, and nothing changes") {
    REQUIRE(runloop_current()); // Otherwise its own descriptors would get the number.
    int descriptor = make_eventfd(0);
    runloop_source *source = make_descriptor(descriptor, RUNLOOP_READABLE, read_some, NULL);
    close(descriptor);
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), -EBADF);
    EXPECT(!runloop_contains_source(runloop_current(), source, MODE));
    EXPECT_EQ(runloop_get_modes(runloop_current(), NULL, 0), 1);
    REQUIRE(dup2(make_eventfd(1), descriptor) == descriptor);
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    runloop_source_release(source);
}

TEST("R73 a descriptor closed while it is in a mode is not called, and its source can be removed") {
    int descriptor = make_eventfd(1);
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 1);
    close(descriptor);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(runloop_remove_source(runloop_current(), source, MODE), 0);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
}

TEST("R73 a source whose descriptor was closed gets no more events, even if a duplicate keeps the file open") {
    REQUIRE(runloop_current());
    int descriptor = make_eventfd(1);
    REQUIRE(dup(descriptor) >= 0);
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, note_events, NULL);
    close(descriptor);
    // The loop looks into each 64th report. On a busy machine those may take several runs.
    int before;
    do {
        before = calls;
        EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    } while (calls > before && calls <= 64);
    EXPECT(calls <= 64);
    before = calls;
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, before);
    EXPECT_EQ(runloop_remove_source(runloop_current(), source, MODE), 0);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, read_some, "other");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("other");
}

TEST("R73 the number of a closed descriptor can be reused, with or without removing the old source") {
    int number = make_eventfd(1);
    for (int i = 0; i < 4; i++) {
        runloop_source *old = runloop_source_retain(add_descriptor(MODE, number, RUNLOOP_READABLE, NULL, NULL));
        poll_mode(MODE);
        close(number);
        if (i % 2)
            runloop_remove_source(runloop_current(), old, MODE);
        int fresh = make_eventfd(1);
        if (fresh != number) {
            REQUIRE(dup2(fresh, number) == number);
            close(fresh);
        }
        runloop_source *source = add_descriptor(MODE, number, RUNLOOP_READABLE, read_some, "fresh");
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_TRACE("fresh");
        runloop_source_invalidate(source);
        runloop_source_invalidate(old);
        runloop_source_release(old);
    }
}

TEST("R73 a source whose descriptor was closed can be removed, and added again when the number is open again") {
    int number = make_eventfd(0);
    runloop_source *source = make_descriptor(number, RUNLOOP_READABLE, read_some, "call");
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
        close(number);
        EXPECT_EQ(runloop_remove_source(runloop_current(), source, MODE), 0);
        REQUIRE(make_eventfd(1) == number); // The lowest free number.
        EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(runloop_remove_source(runloop_current(), source, MODE), 0);
    }
    EXPECT_TRACE("call call call");
    runloop_source_release(source);
}

//===-- conditions ---------------------------------------------------------------------------------------------------===//

TEST("R69 only the sources that asked for the condition are called") {
    int sockets[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
    runloop_source *writer = add_descriptor(MODE, sockets[0], RUNLOOP_WRITABLE, trace_ready, "writable");
    add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, trace_ready, "readable");
    add_descriptor(MODE, sockets[0], RUNLOOP_READABLE | RUNLOOP_WRITABLE, note_events, "both");
    handle_one(MODE);
    EXPECT_TRACE("writable both");
    EXPECT_EQ(last_events, RUNLOOP_WRITABLE);
    runloop_source_invalidate(writer);
    REQUIRE(write(sockets[1], "x", 1) == 1);
    handle_one(MODE);
    EXPECT_TRACE("readable both");
    EXPECT_EQ(last_events, RUNLOOP_READABLE | RUNLOOP_WRITABLE);
}

TEST("R69 a full pipe is not writable until it is read") {
    int ends[2];
    char bytes[65536] = {0};
    make_pipe(ends);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    add_descriptor(MODE, ends[1], RUNLOOP_WRITABLE, note_events, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    while (read(ends[0], bytes, sizeof bytes) > 0)
        ;
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_WRITABLE);
}

TEST("R69 a hang-up is reported to every source of the descriptor, whether or not it asked for it") {
    int sockets[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
    add_descriptor(MODE, sockets[0], RUNLOOP_PRIORITY, note_events, "priority");
    add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, trace_ready, "readable");
    close(sockets[1]);
    handle_one(MODE);
    EXPECT_TRACE("priority readable");
    EXPECT(last_events & RUNLOOP_HANG_UP);
}

TEST("R69 an error is reported to every source of the descriptor, whether or not it asked for it") {
    int ends[2];
    char bytes[65536] = {0};
    make_pipe(ends);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    add_descriptor(MODE, ends[1], RUNLOOP_PRIORITY, note_events, "priority");
    close(ends[0]);
    handle_one(MODE);
    EXPECT_TRACE("priority");
    EXPECT(last_events & RUNLOOP_ERROR);
}

TEST("R69 a peer's half-close is reported only to sources that asked for hang-up") {
    int sockets[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
    add_descriptor(MODE, sockets[0], RUNLOOP_PRIORITY, trace_ready, "priority");
    shutdown(sockets[1], SHUT_WR);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    add_descriptor(MODE, sockets[0], RUNLOOP_HANG_UP, note_events, "hang-up");
    handle_one(MODE);
    EXPECT_TRACE("hang-up");
    EXPECT_EQ(last_events, RUNLOOP_HANG_UP);
}

TEST("R69 urgent data of a TCP socket is a priority condition") {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(bind(server, (struct sockaddr *)&address, length) == 0 && listen(server, 1) == 0);
    REQUIRE(getsockname(server, (struct sockaddr *)&address, &length) == 0);
    REQUIRE(connect(client, (struct sockaddr *)&address, length) == 0);
    int accepted = accept(server, NULL, NULL);
    add_descriptor(MODE, accepted, RUNLOOP_PRIORITY, note_events, NULL);
    REQUIRE(send(client, "x", 1, 0) == 1);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    REQUIRE(send(client, "!", 1, MSG_OOB) == 1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_PRIORITY);
}

TEST("R111 the getters of a descriptor source return what it was created with, even after invalidation") {
    int descriptor = make_eventfd(0);
    runloop_descriptor_config config = {.context = {.info = &calls},
                                        .order = -3,
                                        .descriptor = descriptor,
                                        .events = RUNLOOP_READABLE | RUNLOOP_HANG_UP};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(runloop_source_get_descriptor(source), descriptor);
        EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_READABLE | RUNLOOP_HANG_UP);
        EXPECT_EQ(runloop_source_get_order(source), -3);
        EXPECT(runloop_source_get_info(source) == &calls);
        EXPECT_EQ(runloop_source_is_valid(source), i == 0);
        runloop_source_invalidate(source);
    }
    runloop_source_signal(source);
    EXPECT(!runloop_source_is_signalled(source));
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), -EINVAL);
    runloop_source_release(source);
}
