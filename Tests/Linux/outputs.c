// outputs.c — output that waits: limits, readers that are slow or gone, ends, files and pipes, threads, forks.
#include <sys/socket.h>
#include <sys/stat.h>

#include "broken_pipe.h"
#include "shown_clock.h"

/// Of the sockets or the pipe of a test: the output's, and the peer's.
static int ends[2];

struct drains {
    _Atomic int count;
    int last_error;
    bool exits;     ///< its thread
    bool is_shared; ///< other threads may have enqueued meanwhile
};

static void note_drain(runloop_output *output, int error, void *info) {
    struct drains *drains = info;
    drains->last_error = error;
    EXPECT(drains->is_shared || runloop_output_get_waiting(output) == 0);
    drains->count++;
    if (drains->exits)
        pthread_exit(NULL);
}

static runloop_output *add_output(int descriptor, bool owns, size_t limit, struct drains *drains) {
    runloop_output_config config = {
        .context.info = drains, .descriptor = descriptor, .owns = owns, .limit = limit, .drained = note_drain};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0 && output);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    return output;
}

/// Two connected sockets with small buffers; the second one does not block.
static void make_sockets(int ends[2]) {
    int size = 4096;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    REQUIRE(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size) == 0);
    REQUIRE(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
}

static unsigned char byte_at(size_t index) {
    return (unsigned char)(index * 31 + index / 251);
}

static void fill(char *bytes, size_t start, size_t count) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)byte_at(start + i);
}

/// Reads what there is, at most `most` bytes, and checks it. False at the end.
static bool read_some(int descriptor, size_t *received, size_t most) {
    char bytes[8192];
    ssize_t count = read(descriptor, bytes, most < sizeof bytes ? most : sizeof bytes);
    for (ssize_t i = 0; i < count; i++)
        REQUIRE((unsigned char)bytes[i] == byte_at(*received + (size_t)i));
    *received += count > 0 ? (size_t)count : 0;
    return count != 0;
}

/// Writes until output waits: the number of bytes that were taken.
static size_t write_until_full(runloop_output *output) {
    static char bytes[65536];
    size_t taken = 0;
    for (;;) {
        fill(bytes, taken, sizeof bytes);
        ptrdiff_t count = runloop_output_write(output, bytes, sizeof bytes);
        if (count == -EAGAIN)
            return taken;
        REQUIRE(count > 0);
        taken += (size_t)count;
    }
}

static void check_integrity(int ends[2], size_t limit, unsigned seed) {
    enum { TOTAL = 300000 };
    struct drains drains = {0};
    runloop_output *output = add_output(ends[0], true, limit, &drains);
    char bytes[10000];
    size_t sent = 0, received = 0;
    int64_t deadline = runloop_now_ns() + 30 * SECOND;
    srand(seed);
    while (sent < TOTAL) {
        size_t count = (size_t)rand() % sizeof bytes + 1;
        if (count > TOTAL - sent)
            count = TOTAL - sent;
        fill(bytes, sent, count);
        bool is_whole = rand() % 2;
        ptrdiff_t taken =
            is_whole ? runloop_output_enqueue(output, bytes, count) : runloop_output_write(output, bytes, count);
        if (is_whole && taken == -EMSGSIZE)
            EXPECT(count > limit);
        else if (taken == -EAGAIN || rand() % 3 == 0)
            read_some(ends[1], &received, (size_t)rand() % 5000 + 1);
        REQUIRE(taken >= 0 || taken == -EAGAIN || taken == -EMSGSIZE);
        sent += taken < 0 ? 0 : is_whole ? count : (size_t)taken;
        EXPECT(runloop_output_get_waiting(output) <= limit);
        poll_mode(MODE);
        REQUIRE(runloop_now_ns() < deadline);
    }
    int finished = runloop_output_finish(output);
    EXPECT(finished == 0 || finished == -EAGAIN);
    while (read_some(ends[1], &received, sizeof bytes)) {
        poll_mode(MODE);
        REQUIRE(runloop_now_ns() < deadline);
    }
    EXPECT_EQ(received, TOTAL);
    EXPECT_EQ(drains.last_error, 0);
    EXPECT_EQ(runloop_output_finish(output), 0);
    EXPECT_EQ(runloop_output_write(output, "x", 1), -EPIPE);
    end_source(output);
    close(ends[1]);
}

TEST("random pieces arrive whole and in order, through sockets and pipes, whatever the limit, which holds") {
    const size_t limits[] = {1, 7, 4096, 5000, 65536};
    for (unsigned i = 0; i < 5; i++) {
        int pipe_ends[2];
        make_sockets(ends);
        check_integrity(ends, limits[i], i);
        REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0); // the writing end blocks
        REQUIRE(fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK) == 0);
        int turned[2] = {pipe_ends[1], pipe_ends[0]};
        check_integrity(turned, limits[i], i);
    }
}

TEST("output that nothing holds up is sent at once, and asks for nothing") {
    struct drains drains = {0};
    make_sockets(ends);
    runloop_output *output = add_output(ends[0], false, 100, &drains);
    EXPECT_EQ(runloop_source_get_events(output), 0);
    EXPECT_EQ(runloop_output_write(output, "hello", 5), 5);
    char bytes[8];
    EXPECT_EQ(read(ends[1], bytes, sizeof bytes), 5);
    EXPECT_EQ(runloop_output_flush(output), 0);
    EXPECT_EQ(runloop_source_get_events(output), 0);
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(drains.count, 0);
    end_source(output);
}

TEST("what was enqueued is sent by the loop at once, and the source asks for writability no longer than that") {
    struct drains drains = {0};
    make_sockets(ends);
    runloop_output *output = add_output(ends[0], false, 10, &drains);
    EXPECT_EQ(runloop_output_enqueue(output, "abc", 3), 0);
    EXPECT_EQ(runloop_output_enqueue(output, "defg", 4), 0);
    EXPECT_EQ(runloop_output_enqueue(output, "01234567890", 11), -EMSGSIZE);
    EXPECT_EQ(runloop_source_get_events(output), RUNLOOP_WRITABLE);
    EXPECT_EQ(runloop_output_get_waiting(output), 7);
    char bytes[16];
    EXPECT_EQ(read(ends[1], bytes, sizeof bytes), -1);
    RUN_UNTIL(MODE, drains.count == 1);
    EXPECT_EQ(read(ends[1], bytes, sizeof bytes), 7);
    EXPECT_EQ(memcmp(bytes, "abcdefg", 7), 0);
    EXPECT_EQ(runloop_source_get_events(output), 0);
    end_source(output);
}

TEST("a reader that does not read holds the writer back at the limit, and the loop sleeps meanwhile") {
    struct drains drains = {0};
    make_sockets(ends);
    runloop_output *output = add_output(ends[0], false, 1000, &drains);
    size_t taken = write_until_full(output);
    EXPECT_EQ(runloop_output_get_waiting(output), 1000);
    EXPECT_EQ(runloop_output_enqueue(output, "x", 1), -EAGAIN);
    EXPECT_EQ(runloop_output_flush(output), -EAGAIN);
    EXPECT_EQ(run_for(MODE, 30 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(drains.count, 0);
    size_t received = 0;
    while (received < taken) {
        read_some(ends[1], &received, 8192);
        poll_mode(MODE);
    }
    EXPECT_EQ(drains.count, 1);
    EXPECT_EQ(runloop_output_flush(output), 0);
    end_source(output);
}

TEST("a producer that was refused bytes is called at the low-water mark, and again when all was sent") {
    struct drains drains = {.is_shared = true};
    make_sockets(ends);
    runloop_output *output = NULL;
    runloop_output_config config = {
        .context.info = &drains, .descriptor = ends[0], .limit = 65536, .low_water = 65536, .drained = note_drain};
    EXPECT_EQ(runloop_output_create(&config, &output), -EINVAL);
    config.low_water = 30000;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    size_t taken = write_until_full(output), received = 0, at_mark = 0;
    while (received < taken) {
        read_some(ends[1], &received, 1000);
        poll_mode(MODE);
        size_t waiting = runloop_output_get_waiting(output);
        EXPECT(drains.count == 0 ? waiting > 30000 : waiting <= 30000);
        if (drains.count == 1 && at_mark == 0)
            at_mark = waiting;
    }
    RUN_UNTIL(MODE, drains.count == 2);
    EXPECT(at_mark > 0 && drains.last_error == 0 && runloop_output_get_waiting(output) == 0);
    // Who was refused nothing waits for nothing but the end.
    static char bytes[60000];
    fill(bytes, taken, sizeof bytes);
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), (ptrdiff_t)sizeof bytes);
    for (taken += sizeof bytes; received < taken; poll_mode(MODE))
        read_some(ends[1], &received, 1000);
    RUN_UNTIL(MODE, drains.count > 2);
    EXPECT_EQ(drains.count, 3);
    end_source(output);
}

TEST("a peer that goes while output waits is an error of every call, reported once, without SIGPIPE") {
    for (int kind = 0; kind < 2; kind++) {
        struct drains drains = {0};
        if (kind == 0) {
            make_sockets(ends);
        } else {
            REQUIRE(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
            int reader = ends[0];
            ends[0] = ends[1], ends[1] = reader;
        }
        runloop_output *output = add_output(ends[0], false, 1000, &drains);
        write_until_full(output);
        close(ends[1]);
        RUN_UNTIL(MODE, drains.count == 1);
        EXPECT(drains.last_error == -EPIPE || drains.last_error == -ECONNRESET);
        EXPECT_EQ(runloop_output_write(output, "x", 1), drains.last_error);
        EXPECT_EQ(runloop_output_enqueue(output, "x", 1), drains.last_error);
        EXPECT_EQ(runloop_output_flush(output), drains.last_error);
        EXPECT_EQ(runloop_output_finish(output), drains.last_error);
        EXPECT_EQ(runloop_output_get_waiting(output), 0);
        EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(drains.count, 1);
        end_source(output);
        close(ends[0]);
    }
}

TEST("a broken pipe raises no signal, and one that was pending before stays") {
    expect_no_signal_of_broken_pipes();
}

TEST("a socket's sending half ends after what waits, and its other half goes on") {
    struct drains drains = {0};
    make_sockets(ends);
    runloop_output *output = add_output(ends[0], true, 5000, &drains);
    size_t taken = write_until_full(output), received = 0;
    EXPECT_EQ(runloop_output_finish(output), -EAGAIN);
    EXPECT_EQ(runloop_output_finish(output), -EAGAIN);
    EXPECT_EQ(runloop_output_write(output, "x", 1), -EPIPE);
    while (read_some(ends[1], &received, 8192))
        poll_mode(MODE);
    EXPECT_EQ(received, taken);
    EXPECT_EQ(drains.count, 1);
    EXPECT_EQ(write(ends[1], "answer", 6), 6);
    char bytes[8];
    EXPECT_EQ(read(ends[0], bytes, sizeof bytes), 6);
    EXPECT_EQ(runloop_output_finish(output), 0);
    EXPECT_EQ(runloop_output_flush(output), 0);
    end_source(output);
    EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
}

TEST("a pipe that is owned is closed after what waits, one that is not stays open") {
    for (int owns = 0; owns < 2; owns++) {
        struct drains drains = {0};
        REQUIRE(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
        runloop_output *output = add_output(ends[1], owns, 100, &drains);
        EXPECT_EQ(runloop_output_enqueue(output, "last", 4), 0);
        // The loop was asked to tell, and does so before the end.
        EXPECT_EQ(runloop_output_finish(output), -EAGAIN);
        RUN_UNTIL(MODE, drains.count == 1);
        char bytes[8];
        EXPECT_EQ(read(ends[0], bytes, sizeof bytes), 4);
        EXPECT_EQ(read(ends[0], bytes, sizeof bytes), owns ? 0 : -1);
        EXPECT_EQ(runloop_output_finish(output), 0);
        end_source(output);
        EXPECT_EQ(fcntl(ends[1], F_GETFD) >= 0, !owns);
    }
}

TEST("regular files and devices are written at once, however small the limit is") {
    char path[] = "/tmp/runloop-output-XXXXXX", bytes[10000];
    struct drains drains = {0};
    int file = mkstemp(path);
    REQUIRE(file >= 0 && unlink(path) == 0);
    runloop_output *output = add_output(file, false, 10, &drains);
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), sizeof bytes);
    EXPECT_EQ(runloop_output_enqueue(output, "0123456789", 10), 0);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    EXPECT_EQ(runloop_output_finish(output), 0);
    EXPECT_EQ(lseek(file, 0, SEEK_END), 10010);
    end_source(output);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    output = add_output(null, true, 10, &drains);
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), sizeof bytes);
    end_source(output);
    output = add_output(full, true, 10, &drains);
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), -ENOSPC);
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), -ENOSPC);
    end_source(output);
    EXPECT_EQ(drains.count, 0);
}

TEST("what waits is dropped with the object, and sent when the source comes to a mode that runs") {
    int others[2];
    struct drains drains = {0};
    make_sockets(ends);
    make_sockets(others);
    runloop_output_config config = {.context.info = &drains, .descriptor = ends[0], .limit = 10, .drained = note_drain};
    runloop_output *output;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    EXPECT_EQ(runloop_output_enqueue(output, "later", 5), 0);
    char bytes[8];
    EXPECT_EQ(read(ends[1], bytes, sizeof bytes), -1);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    RUN_UNTIL(MODE, drains.count == 1);
    EXPECT_EQ(read(ends[1], bytes, sizeof bytes), 5);
    end_source(output);
    config.descriptor = others[0], config.owns = true;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    EXPECT_EQ(runloop_output_enqueue(output, "never", 5), 0);
    runloop_source_release(output);
    EXPECT_EQ(read(others[1], bytes, sizeof bytes), 0);
}

struct sharing {
    runloop_output *output;
    _Atomic int begun;
};

static void *write_lines(void *info) {
    struct sharing *sharing = info;
    char line[32];
    memset(line, 'a' + sharing->begun++, sizeof line);
    line[31] = '\n';
    for (int i = 0; i < 2000;) {
        int result = runloop_output_enqueue(sharing->output, line, sizeof line);
        if (result == 0)
            i++;
        else if (result == -EAGAIN)
            sched_yield();
        else
            REQUIRE(result == 0);
    }
    return NULL;
}

TEST("pieces that several threads enqueue stay whole") {
    struct drains drains = {.is_shared = true};
    make_sockets(ends);
    struct sharing sharing = {.output = add_output(ends[0], true, 1000, &drains)};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, write_lines, &sharing) == 0);
    char line[32];
    size_t begun = 0, lines = 0;
    int64_t deadline = runloop_now_ns() + 30 * SECOND;
    while (lines < 3 * 2000) {
        ssize_t count = read(ends[1], line + begun, sizeof line - begun);
        begun += count > 0 ? (size_t)count : 0;
        if (begun == sizeof line) {
            for (int i = 1; i < 31; i++)
                REQUIRE(line[i] == line[0]);
            REQUIRE(line[31] == '\n');
            begun = 0, lines++;
        }
        if (count < 0)
            poll_mode(MODE);
        REQUIRE(runloop_now_ns() < deadline);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    end_source(sharing.output);
}

static runloop_output *inherited;

static void use_inherited(void) {
    EXPECT_EQ(runloop_output_write(inherited, "child", 5), -ECHILD);
    EXPECT_EQ(runloop_output_flush(inherited), -ECHILD);
    EXPECT_EQ(runloop_output_finish(inherited), -ECHILD);
    end_source(inherited);
}

TEST("a forked child sends nothing of its parent's output") {
    struct drains drains = {0};
    make_sockets(ends);
    inherited = add_output(ends[0], true, 100, &drains);
    EXPECT_EQ(runloop_output_enqueue(inherited, "parent", 6), 0);
    EXPECT_EQ(status_of_child(use_inherited), 0);
    RUN_UNTIL(MODE, drains.count == 1);
    char bytes[32];
    EXPECT_EQ(read(ends[1], bytes, sizeof bytes), 6);
    end_source(inherited);
}

static void *leave_loop(void *info) {
    runloop_output *output = info;
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    REQUIRE(runloop_output_enqueue(output, "kept", 4) == 0);
    return NULL;
}

TEST("the end of a loop leaves what waits to the next one") {
    struct drains drains = {0};
    make_sockets(ends);
    runloop_output_config config = {.context.info = &drains, .descriptor = ends[0], .limit = 10, .drained = note_drain};
    runloop_output *output;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    on_new_thread(leave_loop, output);
    EXPECT_EQ(runloop_output_get_waiting(output), 4);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    RUN_UNTIL(MODE, drains.count == 1);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    end_source(output);
}

TEST("an output whose thread ends in the call-out is notified once, and is idle in the next loop") {
    struct drains drains = {.exits = true};
    keep_mode(MODE);
    make_sockets(ends);
    runloop_output *output = add_output(ends[0], true, 10, &drains);
    REQUIRE(runloop_remove_source(runloop_current(), output, MODE) == 0);
    REQUIRE(runloop_output_enqueue(output, "a", 1) == 0);
    on_new_thread(run_source, output);
    EXPECT_EQ(drains.count, 1);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    poll_mode(MODE);
    EXPECT_EQ(runloop_source_get_events(output), 0);
    EXPECT_EQ(drains.count, 1);
    drains.exits = false;
    REQUIRE(runloop_output_enqueue(output, "b", 1) == 0);
    RUN_UNTIL(MODE, drains.count == 2);
    EXPECT_EQ(runloop_source_get_events(output), 0);
    end_source(output);
}

TEST("when bytes last moved is given by the clock of the loop") {
    make_sockets(ends);
    use_shown_clock();
    shown_ns = 5;
    runloop_output_config config = {.descriptor = ends[0], .limit = 10, .loop = runloop_current()};
    runloop_output *output;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    shown_ns = 7;
    EXPECT_EQ(runloop_output_get_moved_ns(output), 5);
    EXPECT_EQ(runloop_output_write(output, "x", 1), 1);
    shown_ns = 9;
    EXPECT_EQ(runloop_output_get_moved_ns(output), 7);
    end_source(output);
}

TEST("bad arguments are refused, and the descriptor remains the caller's") {
    make_pipe(ends);
    runloop_output *output = NULL;
    runloop_output_config config = {.descriptor = ends[1], .owns = true};
    EXPECT_EQ(runloop_output_create(&config, &output), -EINVAL);
    EXPECT_EQ(runloop_output_create(NULL, &output), -EINVAL);
    config.limit = 1, config.descriptor = ends[0];
    EXPECT_EQ(runloop_output_create(&config, &output), -EBADF);
    config.descriptor = -1;
    EXPECT_EQ(runloop_output_create(&config, &output), -EBADF);
    // What is neither a socket nor a pipe is shown to an epoll set for a moment.
    config.descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC);
    use_up_descriptors(0);
    EXPECT_EQ(runloop_output_create(&config, &output), -EMFILE);
    EXPECT(!output && fcntl(config.descriptor, F_GETFD) >= 0);
    config.descriptor = ends[1];
    give_back_descriptors();
    EXPECT_EQ(runloop_output_create(&config, &output), 0);
    EXPECT_EQ(runloop_output_write(output, NULL, 1), -EINVAL);
    EXPECT_EQ(runloop_output_write(output, NULL, 0), 0);
    end_source(output);
}
