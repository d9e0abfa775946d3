// source_events.c — a descriptor source changes the conditions it asks for (R149).
#include "items.h"

#include <sys/socket.h>
#include <sys/wait.h>

static runloop_source *subject;
static runloop_readiness last_events;
static int calls, sockets[2];

static void note_events(runloop_source *source, runloop_readiness events, void *info) {
    (void)source;
    __atomic_store_n(&last_events, events, __ATOMIC_RELEASE);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELEASE);
    if (info)
        trace(info);
}

static void make_sockets(void) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
}

static void fill(int descriptor) {
    char bytes[4096] = {0};
    while (write(descriptor, bytes, sizeof bytes) > 0)
        ;
}

static void drain(int descriptor) {
    char bytes[4096];
    while (read(descriptor, bytes, sizeof bytes) > 0)
        ;
}

//===-- which conditions are reported --------------------------------------------------------------------------------===//

TEST("R149 a source that asks for more conditions receives them from the next wait on") {
    make_sockets();
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE | RUNLOOP_WRITABLE), 0);
    EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_READABLE | RUNLOOP_WRITABLE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_WRITABLE);
    REQUIRE(write(sockets[1], "x", 1) == 1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_READABLE | RUNLOOP_WRITABLE);
}

TEST("R149 a source that asks for fewer conditions lets the loop sleep") {
    make_sockets();
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE | RUNLOOP_WRITABLE, note_events, NULL);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    calls = 0;
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    REQUIRE(write(sockets[1], "x", 1) == 1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_READABLE);
}

static void write_until_full(runloop_source *source, runloop_readiness events, void *info) {
    note_events(source, events, info);
    EXPECT_EQ(runloop_source_set_events(source, events == RUNLOOP_READABLE ? RUNLOOP_WRITABLE : RUNLOOP_READABLE), 0);
}

TEST("R149 in its own callback a source can ask for different conditions each time") {
    make_sockets();
    REQUIRE(write(sockets[1], "x", 1) == 1);
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, write_until_full, NULL);
    for (int i = 0; i < 6; i++) {
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(last_events, i % 2 ? RUNLOOP_WRITABLE : RUNLOOP_READABLE);
    }
    drain(sockets[0]);
    EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_READABLE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 6);
}

TEST("R149 other sources of the descriptor keep their conditions and their positions") {
    make_sockets();
    add_descriptor(MODE, sockets[0], RUNLOOP_WRITABLE, trace_ready, "first");
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, trace_ready, "second");
    add_descriptor(MODE, sockets[0], RUNLOOP_WRITABLE, trace_ready, "third");
    handle_one(MODE);
    EXPECT_TRACE("first third");
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    handle_one(MODE);
    EXPECT_TRACE("first second third");
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    handle_one(MODE);
    EXPECT_TRACE("first third");
}

static void silence_subject(runloop_source *source, runloop_readiness events, void *info) {
    note_events(source, events, info);
    EXPECT_EQ(runloop_source_set_events(subject, RUNLOOP_READABLE), 0);
}

TEST("R149 a source that asks for less while the sources of its descriptor are called is checked again") {
    make_sockets();
    add_descriptor(MODE, sockets[0], RUNLOOP_WRITABLE, silence_subject, "first");
    subject = add_descriptor(MODE, sockets[0], RUNLOOP_WRITABLE, trace_ready, "second");
    handle_one(MODE);
    EXPECT_TRACE("first");
}

static void silence_at_wait(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    EXPECT_EQ(runloop_source_set_events(subject, RUNLOOP_READABLE), 0);
}

TEST("R149 R45 a selected descriptor whose source asks for less is not called") {
    make_sockets();
    subject = add_descriptor(MODE, sockets[0], RUNLOOP_WRITABLE, trace_ready, "subject");
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, silence_at_wait, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    REQUIRE(write(sockets[1], "x", 1) == 1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("subject");
}

TEST("R149 a reported condition that has ended is not passed to a source that asks for it again") {
    int first = make_eventfd(1);
    make_sockets();
    // Reported together, served one after the other.
    add_descriptor(MODE, first, RUNLOOP_READABLE, trace_ready, "first");
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_WRITABLE, note_events, NULL);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("first");
    take(first);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    fill(sockets[0]);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    drain(sockets[1]);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_WRITABLE);
}

TEST("R149 errors and hang-ups are reported whatever a source asks for") {
    make_sockets();
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_PRIORITY), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    close(sockets[1]);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(last_events & RUNLOOP_HANG_UP);
    EXPECT(!(last_events & RUNLOOP_READABLE));
}

TEST("R149 a source that asks for nothing is paused: it keeps its mode, and what it missed comes when it goes on") {
    make_sockets();
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(write(sockets[1], "x", 1), 1);
    EXPECT_EQ(runloop_source_set_events(source, 0), 0);
    EXPECT_EQ(runloop_source_get_events(source), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    close(sockets[1]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    // Added to another mode meanwhile, it is paused there, too.
    EXPECT_EQ(runloop_add_source(runloop_current(), source, OTHER_MODE), 0);
    EXPECT_EQ(run_a_while(OTHER_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_READABLE | RUNLOOP_HANG_UP);
}

static runloop_source *paused;

static void pause_other(runloop_source *source, runloop_readiness events, void *info) {
    note_events(source, events, info);
    EXPECT_EQ(runloop_source_set_events(paused, 0), 0);
}

TEST("R149 a source can pause another one of its descriptor, and one that was reported already") {
    make_sockets();
    add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, pause_other, NULL);
    paused = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, trace_ready, "paused");
    EXPECT_EQ(write(sockets[1], "x", 1), 1);
    for (int i = 1; i <= 3; i++) {
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(calls, i);
    }
    EXPECT_TRACE("");
    EXPECT_EQ(runloop_source_set_events(paused, RUNLOOP_READABLE), 0);
    EXPECT(runloop_has_work(MODE)); // reported
    EXPECT_EQ(runloop_source_set_events(paused, 0), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(calls, 4);
    EXPECT_TRACE("");
}

TEST("R149 a source that is added paused goes on later, and can be invalidated while it is paused") {
    make_sockets();
    runloop_source *source = make_descriptor(sockets[0], RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(runloop_source_set_events(source, 0), 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
    close(sockets[1]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(runloop_source_set_events(source, 0), 0);
    runloop_source_invalidate(source);
    runloop_source_release(source);
    close(sockets[0]);
}

TEST("R149 a source that asks for hang-ups is also notified of a peer's half-close") {
    make_sockets();
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_PRIORITY, note_events, NULL);
    shutdown(sockets[1], SHUT_WR);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_HANG_UP), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_HANG_UP);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_PRIORITY), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
}

//===-- where a change applies ---------------------------------------------------------------------------------------===//

TEST("R149 a change applies in every mode the source is in, and in those it is added to later") {
    make_sockets();
    runloop_source *source = make_descriptor(sockets[0], RUNLOOP_READABLE, note_events, NULL);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, OTHER_MODE) == 0);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    REQUIRE(runloop_remove_source(runloop_current(), source, MODE) == 0);
    REQUIRE(runloop_remove_source(runloop_current(), source, OTHER_MODE) == 0);
    REQUIRE(write(sockets[1], "x", 1) == 1);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    REQUIRE(runloop_add_source(runloop_current(), source, "third") == 0);
    EXPECT_EQ(handle_one("third"), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_READABLE);
    runloop_source_release(source);
}

TEST("R149 a masked registration is restored for a source that asks for more") {
    make_sockets();
    // Only the other mode wants the condition that holds: this mode must mask the registration, or it could not sleep.
    runloop_source *other = make_descriptor(sockets[0], RUNLOOP_WRITABLE, note_events, NULL);
    REQUIRE(runloop_add_source(runloop_current(), other, OTHER_MODE) == 0);
    keep_mode(MODE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_WRITABLE);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
}

TEST("R149 a change by another thread ends the sleep of each loop that the source is in") {
    make_sockets();
    fill(sockets[0]);
    runloop_source *source = make_descriptor(sockets[0], RUNLOOP_READABLE, note_events, NULL);
    struct worker workers[2] = {0};
    for (int i = 0; i < 2; i++) {
        start_worker(&workers[i]);
        REQUIRE(runloop_add_source(workers[i].loop, source, MODE) == 0);
        wait_for_sleep(&workers[i]);
    }
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    EXPECT_EQ(__atomic_load_n(&calls, __ATOMIC_ACQUIRE), 0);
    drain(sockets[1]);
    // Level-triggered, so both loops call the source until one changes its conditions.
    WAIT_UNTIL(__atomic_load_n(&calls, __ATOMIC_ACQUIRE) > 10);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    for (int i = 0; i < 2; i++)
        wait_for_sleep(&workers[i]);
    int before = __atomic_load_n(&calls, __ATOMIC_ACQUIRE);
    EXPECT_EQ(__atomic_load_n(&last_events, __ATOMIC_ACQUIRE), RUNLOOP_WRITABLE);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    WAIT_UNTIL(__atomic_load_n(&calls, __ATOMIC_ACQUIRE) > before);
    runloop_source_invalidate(source);
    for (int i = 0; i < 2; i++)
        stop_worker(&workers[i]);
    runloop_source_release(source);
}

static void *change_often(void *descriptor_source) {
    for (int i = 0; i < 2000; i++)
        EXPECT_EQ(runloop_source_set_events(descriptor_source, i % 2 ? RUNLOOP_READABLE : RUNLOOP_WRITABLE), 0);
    return NULL;
}

TEST("R149 several threads can change the conditions at once, and the last change counts") {
    make_sockets();
    runloop_source *source = make_descriptor(sockets[0], RUNLOOP_READABLE, note_events, NULL);
    struct worker worker = {0};
    start_worker(&worker);
    REQUIRE(runloop_add_source(worker.loop, source, MODE) == 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, change_often, source) == 0);
    for (int i = 0; i < 200; i++) {
        REQUIRE(runloop_remove_source(worker.loop, source, MODE) == 0);
        REQUIRE(runloop_add_source(worker.loop, source, MODE) == 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE), 0);
    wait_for_sleep(&worker);
    int before = __atomic_load_n(&calls, __ATOMIC_ACQUIRE);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    WAIT_UNTIL(__atomic_load_n(&calls, __ATOMIC_ACQUIRE) > before);
    runloop_source_invalidate(source);
    stop_worker(&worker);
    runloop_source_release(source);
}

TEST("R149 a forked child changes nothing for its parent") {
    make_sockets();
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, note_events, NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(runloop_source_set_events(source, RUNLOOP_WRITABLE) == 0 ? 0 : 1);
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);
    REQUIRE(write(sockets[1], "x", 1) == 1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
}

//===-- what is refused ----------------------------------------------------------------------------------------------===//

TEST("R149 a signalled source, a counter, an invalid source and conditions that do not exist are refused") {
    runloop_source *signalled = add_source(MODE, trace_perform, "signalled");
    runloop_source *counter = make_counter(make_eventfd(0), note_events, NULL);
    runloop_source *source = make_descriptor(make_eventfd(0), RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(runloop_source_set_events(NULL, RUNLOOP_READABLE), -EINVAL);
    EXPECT_EQ(runloop_source_set_events(signalled, RUNLOOP_READABLE), -EINVAL);
    EXPECT_EQ(runloop_source_set_events(counter, RUNLOOP_READABLE), -EINVAL);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE | 0x40000000U), -EINVAL);
    EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_READABLE);
    runloop_source_invalidate(source);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), -EINVAL);
    EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_READABLE);
    runloop_source_release(counter);
    runloop_source_release(source);
}

/// Does any epoll set of the process have the descriptor?
static bool is_watched(int descriptor) {
    bool is_found = false;
    need_proc();
    char path[64], line[128];
    for (int set = 0; set < 64; set++) {
        snprintf(path, sizeof path, "/proc/self/fdinfo/%d", set);
        FILE *file = fopen(path, "r");
        int watched;
        while (file && fgets(line, sizeof line, file))
            is_found |= sscanf(line, "tfd: %d", &watched) == 1 && watched == descriptor;
        if (file)
            fclose(file);
    }
    return is_found;
}

static void pause_and_close(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)loop, (void)mode, (void)info;
    int descriptor = runloop_source_get_descriptor(source);
    if (calls++ > 0)
        return;
    EXPECT(is_watched(descriptor)); // It is in the other mode.
    EXPECT_EQ(runloop_source_set_events(source, 0), 0);
    EXPECT(!is_watched(descriptor));
    close(descriptor);
    // Another file now.
    EXPECT_EQ(dup2(make_eventfd(1), descriptor), descriptor);
}

TEST("R149 an invalid source that is paused leaves its descriptor alone, also before it has left all modes") {
    int descriptor = make_eventfd(0);
    runloop_descriptor_config config = {
        .descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = note_events, .cancel = pause_and_close};
    runloop_source *source;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, OTHER_MODE) == 0);
    calls = 0;
    runloop_source_invalidate(source);
    EXPECT_EQ(calls, 2);
    EXPECT(!is_watched(descriptor));
    runloop_source_release(source);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
}

TEST("R149 in no loop, and with descriptor -1, the conditions are only stored") {
    runloop_source *source = make_descriptor(-1, RUNLOOP_READABLE, note_events, NULL);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_WRITABLE);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_PRIORITY), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_PRIORITY);
    runloop_source_release(source);
}

TEST("R149 if the system refuses, the source keeps its former conditions") {
    make_sockets();
    int kept = dup(sockets[0]);
    runloop_source *source = add_descriptor(MODE, sockets[0], RUNLOOP_READABLE, note_events, NULL);
    close(sockets[0]);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), -EBADF);
    EXPECT_EQ(runloop_source_get_events(source), RUNLOOP_READABLE);
    // The number refers to the same file again, which epoll still has.
    REQUIRE(dup2(kept, sockets[0]) == sockets[0]);
    REQUIRE(write(sockets[1], "x", 1) == 1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_READABLE);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_WRITABLE), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(last_events, RUNLOOP_WRITABLE);
}
