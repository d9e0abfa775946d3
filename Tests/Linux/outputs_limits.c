// outputs_limits.c — what an output does at its limits, exactly: the mark, a turn, a full file; and what it leaves of its connection.
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "linux_items.h"

struct drains {
    int count, last_error;
    size_t waiting;
};

static void note_drain(runloop_output *output, int error, void *info) {
    struct drains *drains = info;
    drains->count++;
    drains->last_error = error;
    drains->waiting = runloop_output_get_waiting(output);
}

static runloop_output *add_output(runloop_output_config config, struct drains *drains) {
    runloop_output *output = NULL;
    config.context.info = drains;
    config.drained = drains ? note_drain : NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    return output;
}

/// The bytes of a page, which is all that the pipe has space for.
enum { PAGE = 4096 };

static void make_small_pipe(int ends[2]) {
    REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    if (fcntl(ends[0], F_SETPIPE_SZ, PAGE) != PAGE)
        LEAVE_OUT("A pipe has more than a page here.");
}

TEST("a producer is called when exactly as many bytes wait as the mark says") {
    enum { MARK = 100, LIMIT = PAGE + MARK };
    static char bytes[PAGE + LIMIT + 1];
    int ends[2];
    struct drains drains = {0};
    make_small_pipe(ends);
    runloop_output *output =
        add_output((runloop_output_config){.descriptor = ends[1], .limit = LIMIT, .low_water = MARK}, &drains);
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), PAGE + LIMIT);
    poll_mode(MODE);
    EXPECT_EQ(drains.count, 0);
    EXPECT_EQ(read(ends[0], bytes, PAGE), PAGE);
    poll_mode(MODE);
    EXPECT_EQ(drains.count, 1);
    EXPECT_EQ(drains.waiting, MARK);
    EXPECT_EQ(drains.last_error, 0);
    end_source(output);
}

TEST("in one turn of the loop so much is written, and the rest in the next, though the reader takes more") {
    enum { SPACE = 1 << 20, COUNT = 300000, MOST = 16 * PAGE };
    static char bytes[COUNT];
    int ends[2], there = 0;
    struct drains drains = {0};
    // Each write of one that may block is of a page at most.
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    if (fcntl(ends[0], F_SETPIPE_SZ, SPACE) != SPACE)
        LEAVE_OUT("A pipe has no such space here.");
    runloop_output *output = add_output((runloop_output_config){.descriptor = ends[1], .limit = COUNT}, &drains);
    EXPECT_EQ(runloop_output_enqueue(output, bytes, COUNT), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    REQUIRE(ioctl(ends[0], FIONREAD, &there) == 0);
    EXPECT_EQ(there, MOST);
    RUN_UNTIL(MODE, drains.count == 1);
    REQUIRE(ioctl(ends[0], FIONREAD, &there) == 0);
    EXPECT_EQ(there, COUNT);
    end_source(output);
}

TEST("an output that has told that it has drained watches for nothing") {
    int ends[2];
    struct drains drains = {0};
    make_small_pipe(ends);
    runloop_output *output = add_output((runloop_output_config){.descriptor = ends[1], .limit = 10}, &drains);
    EXPECT_EQ(runloop_output_enqueue(output, "hello", 5), 0);
    RUN_UNTIL(MODE, drains.count == 1);
    EXPECT_EQ(runloop_source_get_events(output), 0);
    EXPECT_EQ(runloop_run_in_mode(MODE, MS, true), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(drains.count, 1);
    end_source(output);
}

//===-- a full file --------------------------------------------------------------------------------------------------===//

static void fill_file(void) {
    enum { SPACE = 1 << 16 };
    static char bytes[SPACE + 1000];
    const struct rlimit limit = {SPACE, SPACE};
    char path[] = "/tmp/runloop-test-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0 && unlink(path) == 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0);
    runloop_output *output = add_output((runloop_output_config){.descriptor = file, .limit = 1 << 20}, NULL);
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), SPACE);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    EXPECT_EQ(runloop_output_write(output, bytes, 1), -EFBIG);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    EXPECT(!sigismember(&blocked, SIGXFSZ));
    end_source(output);
}

TEST("what a file has taken before its limit is reported, and the error with the next call") {
    EXPECT_EQ(status_of_child(fill_file), 0);
}

//===-- its connection -----------------------------------------------------------------------------------------------===//

static bool is_to_be_reset(int connection) {
    struct linger linger = {.l_onoff = 0};
    socklen_t size = sizeof linger;
    REQUIRE(getsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, &size) == 0);
    return linger.l_onoff;
}

static int connections[2];
static runloop_output *resetting;

static void make_connection(void) {
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    REQUIRE(listening >= 0);
    connections[1] = connect_to(listening);
    connections[0] = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    REQUIRE(connections[0] >= 0);
    close(listening);
    resetting = add_output((runloop_output_config){.descriptor = connections[0], .limit = 10, .resets = true}, NULL);
}

static void end_inherited(void) {
    // The loop's reference, too, whose thread is not here.
    runloop_source_release(resetting);
    runloop_source_release(resetting);
}

TEST("a forked child that frees an output which resets leaves the connection as it is") {
    make_connection();
    EXPECT_EQ(status_of_child(end_inherited), 0);
    EXPECT(!is_to_be_reset(connections[0]));
    end_source(resetting);
    EXPECT(is_to_be_reset(connections[0]));
}

TEST("an output that has finished does not reset its connection, from which the peer reads all and then the end") {
    char text[8];
    make_connection();
    EXPECT_EQ(runloop_output_write(resetting, "hello", 5), 5);
    EXPECT_EQ(runloop_output_finish(resetting), 0);
    end_source(resetting);
    EXPECT(!is_to_be_reset(connections[0]));
    close(connections[0]);
    EXPECT_EQ(recv(connections[1], text, 5, MSG_WAITALL), 5);
    EXPECT_EQ(read(connections[1], text, 1), 0);
}
