// interruptions.c — half of the system calls of streams, channels, watches and counters are interrupted, and nothing is lost; files that
// have nothing, or take nothing, for now.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/uio.h>

#include "channels.h"
#include "files.h"

enum { LENGTH = 1 << 20 };

//===-- calls that are interrupted -----------------------------------------------------------------------------------===//

/// A signal that has a handler without SA_RESTART makes these fail once in a while; here half of them do.
static bool is_stormy;
static long interruptions;

static bool is_interrupted(void) {
    static unsigned seed = 1;
    bool is_now = is_stormy && rand_r(&seed) % 2;
    interruptions += is_now;
    if (is_now)
        errno = EINTR;
    return is_now;
}

#define INTERRUPTED(result, name, parameters, arguments)                                                               \
    result __real_##name parameters;                                                                                   \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters {                                                                                  \
        return is_interrupted() ? -1 : __real_##name arguments;                                                        \
    }

/// The error of the next read or write of pieces; 0: none.
static int refusal;

static bool is_refused(void) {
    errno = refusal;
    refusal = 0;
    return errno != 0;
}

ssize_t __real_read(int file, void *bytes, size_t count);
ssize_t __wrap_read(int file, void *bytes, size_t count);

ssize_t __wrap_read(int file, void *bytes, size_t count) {
    return is_refused() || is_interrupted() ? -1 : __real_read(file, bytes, count);
}

ssize_t __real_writev(int file, const struct iovec *parts, int count);
ssize_t __wrap_writev(int file, const struct iovec *parts, int count);

ssize_t __wrap_writev(int file, const struct iovec *parts, int count) {
    return is_refused() || is_interrupted() ? -1 : __real_writev(file, parts, count);
}

INTERRUPTED(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count))
INTERRUPTED(ssize_t, recv, (int file, void *bytes, size_t count, int flags), (file, bytes, count, flags))
INTERRUPTED(ssize_t, send, (int file, const void *bytes, size_t count, int flags), (file, bytes, count, flags))
INTERRUPTED(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags))
INTERRUPTED(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
INTERRUPTED(int, accept4, (int file, struct sockaddr *address, socklen_t *size, int flags),
            (file, address, size, flags))
INTERRUPTED(int, poll, (struct pollfd * queries, nfds_t count, int limit_ms), (queries, count, limit_ms))
INTERRUPTED(int, epoll_wait, (int set, struct epoll_event *events, int count, int limit_ms),
            (set, events, count, limit_ms))
INTERRUPTED(int, flock, (int file, int operation), (file, operation))

static void begin_storm(void) {
    is_stormy = true;
}

static void end_storm(void) {
    is_stormy = false;
    EXPECT(interruptions > 10);
}

//===-- streams ------------------------------------------------------------------------------------------------------===//

static size_t written, read_back;
static bool is_wrong;
static int input_error = 1;

static char byte_at(size_t place) {
    return (char)('a' + place % 23);
}

static size_t compare(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)info;
    for (size_t i = 0; i < count; i++)
        is_wrong |= bytes[i] != byte_at(read_back + i);
    read_back += count;
    return count;
}

static void note_input_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)info;
    EXPECT_EQ(count, 0);
    input_error = error;
}

static void write_more(runloop_output *output, int error, void *text) {
    EXPECT_EQ(error, 0);
    ptrdiff_t count = 0;
    while (written < LENGTH && (count = runloop_output_write(output, (char *)text + written, LENGTH - written)) > 0)
        written += (size_t)count;
    EXPECT(count >= 0 || count == -EAGAIN);
    if (written == LENGTH) {
        int result = runloop_output_finish(output);
        EXPECT(result == 0 || result == -EAGAIN || result == -EPIPE);
    }
}

static void carry(int from, int to) {
    static char text[LENGTH];
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = byte_at(i);
    const runloop_input_config reading = {
        .descriptor = from, .owns = true, .limit = 5000, .received = compare, .ended = note_input_end};
    const runloop_output_config writing = {
        .context.info = text, .descriptor = to, .owns = true, .limit = 7000, .drained = write_more};
    runloop_input *input = NULL;
    runloop_output *output = NULL;
    REQUIRE(runloop_input_create(&reading, &input) == 0 && runloop_output_create(&writing, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    begin_storm();
    write_more(output, 0, text);
    RUN_UNTIL(MODE, input_error <= 0);
    end_storm();
    EXPECT_EQ(input_error, 0);
    EXPECT_EQ(read_back, LENGTH);
    EXPECT(!is_wrong);
    runloop_source_release(input);
    runloop_source_release(output);
}

TEST("input and output of a socket") {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    carry(ends[0], ends[1]);
}

TEST("input and output of a pipe that is not non-blocking") {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    carry(ends[0], ends[1]);
}

TEST("an input of a file that has nothing for now ends with that, since the kernel would not report when it has") {
    char path[] = "/tmp/runloop-interruptions-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0 && unlink(path) == 0 && write(file, "text", 4) == 4 && lseek(file, 0, SEEK_SET) == 0);
    const runloop_input_config config = {
        .descriptor = file, .owns = true, .limit = 10, .received = compare, .ended = note_input_end};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    refusal = EAGAIN;
    RUN_UNTIL(MODE, input_error <= 0);
    EXPECT_EQ(input_error, -EAGAIN);
    EXPECT_EQ(read_back, 0);
    runloop_source_release(input);
}

TEST("an output to a file that takes nothing for now has failed, and promises no call, since the kernel would not "
     "tell") {
    char path[] = "/tmp/runloop-interruptions-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0 && unlink(path) == 0);
    const runloop_output_config config = {.descriptor = file, .owns = true, .limit = 10};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    refusal = EAGAIN;
    EXPECT_EQ(runloop_output_write(output, "text", 4), -EIO);
    EXPECT_EQ(runloop_output_write(output, "text", 4), -EIO);
    runloop_source_release(output);
}

static int accepted;

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    accepted++;
    close(descriptor);
}

TEST("a listener") {
    const runloop_listener_config config = {
        .descriptor = runloop_listen_abstract(own_name(), 0), .owns = true, .accepted = note_accepted};
    runloop_listener *listener = add_listener(&config);
    begin_storm();
    for (int i = 1; i <= 100; i++) {
        int client = connect_to(config.descriptor);
        if (i % 5 == 0)
            RUN_UNTIL(MODE, accepted == i);
        close(client);
    }
    end_storm();
    runloop_source_release(listener);
}

//===-- channels, counters, watches ----------------------------------------------------------------------------------===//

TEST("requests and replies of channels, small and large, with deadlines") {
    runloop_channel *channels[2];
    struct outcome outcome = {0};
    static char large[200000];
    make_channels(channels, (runloop_channel_config){0});
    begin_storm();
    for (int i = 1; i <= 60; i++) {
        const runloop_channel_request_config config = {
            .deadline_ns = runloop_get_now_ns(NULL) + 30 * SECOND, .replied = note_answer, .info = &outcome};
        size_t length = i % 10 == 0 ? sizeof large : 100;
        EXPECT_EQ(runloop_channel_request(channels[i % 2], large, length, NULL, 0, &config, NULL), 0);
        RUN_UNTIL(MODE, outcome.replies == i);
        EXPECT(outcome.result == 0 && outcome.length == length);
    }
    end_storm();
    end_channels(channels);
    EXPECT_EQ(ends, 0);
}

static void add_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter;
    *(uint64_t *)info += sum;
}

TEST("a counter") {
    uint64_t sum = 0;
    const runloop_counter_config config = {.context.info = &sum, .counted = add_sum};
    runloop_counter *counter = NULL;
    REQUIRE(runloop_counter_create(&config, &counter) == 0);
    REQUIRE(runloop_add_source(runloop_current(), counter, MODE) == 0);
    begin_storm();
    for (uint64_t i = 1; i <= 100; i++) {
        EXPECT_EQ(runloop_counter_add(counter, 2), 0);
        if (i % 5 == 0)
            RUN_UNTIL(MODE, sum == 2 * i);
    }
    end_storm();
    runloop_source_release(counter);
}

static int created;
static bool is_complete;

static void note_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    for (size_t i = 0; i < count; i++) {
        EXPECT(changes[i].kind != RUNLOOP_CHANGE_FAILED && changes[i].kind != RUNLOOP_CHANGE_OVERFLOW);
        bool is_last = strcmp(changes[i].path, "t/last") == 0;
        created += changes[i].kind == RUNLOOP_CHANGE_CREATED && !changes[i].is_directory && !is_last;
        is_complete |= is_last;
    }
}

TEST("a watch of a tree, each of whose files is reported once") {
    enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
    const runloop_watch_config config = {
        .path = "t", .scope = RUNLOOP_WATCH_TREE, .settle_ns = MS, .changed = note_changes};
    runloop_watch *watch = add_watch_with(&config, MODE);
    begin_storm();
    for (int i = 0; i < 40; i++) {
        char path[40];
        snprintf(path, sizeof path, "t/%d", i);
        REQUIRE(mkdir(path, 0777) == 0);
        for (int k = 0; k < 5; k++) {
            snprintf(path, sizeof path, "t/%d/%d", i, k);
            int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
            REQUIRE(file >= 0);
            close(file);
            poll_mode(MODE);
        }
    }
    close(open("t/last", O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    RUN_UNTIL(MODE, is_complete);
    end_storm();
    EXPECT_EQ(created, 200);
    end_watch(watch);
}
