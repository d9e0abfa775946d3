// streams_refused.c — what is no stream is refused, and what can't be looked at is not called absent.
#include <sys/un.h>

#include "linux_items.h"

static size_t take_all(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    return count;
}

TEST("a socket of messages is no stream") {
    static const int types[] = {SOCK_DGRAM, SOCK_SEQPACKET};
    for (size_t i = 0; i < 2; i++) {
        int pair[2];
        REQUIRE(socketpair(AF_UNIX, types[i], 0, pair) == 0);
        runloop_input *input = NULL;
        runloop_output *output = NULL;
        EXPECT_EQ(runloop_input_create(
                      &(runloop_input_config){.descriptor = pair[0], .limit = 4096, .received = take_all}, &input),
                  -EPROTOTYPE);
        EXPECT_EQ(runloop_output_create(&(runloop_output_config){.descriptor = pair[0], .limit = 4096}, &output),
                  -EPROTOTYPE);
        close(pair[0]);
        close(pair[1]);
    }
}

static void limit_files(void) {
    const struct rlimit limit = {1 << 16, 1 << 16};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void send_large(void) {
    static char bytes[200000];
    int pair[2];
    limit_files();
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    runloop_channel_config config = {0};
    runloop_channel *channel = NULL;
    REQUIRE(runloop_channel_create(pair[0], &config, &channel) == 0);
    EXPECT_EQ(runloop_channel_send(channel, bytes, sizeof bytes, NULL, 0), -EFBIG);
    EXPECT_EQ(runloop_channel_send(channel, bytes, 1000, NULL, 0), 0);
    _exit(test_failures ? 1 : 0);
}

static void write_large(void) {
    static char bytes[200000];
    char path[] = "/tmp/runloop-test-XXXXXX";
    limit_files();
    int file = mkstemp(path);
    REQUIRE(file >= 0 && unlink(path) == 0);
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&(runloop_output_config){.descriptor = file, .limit = 1 << 20}, &output) == 0);
    ptrdiff_t written = 0;
    for (int i = 0; i < 3 && written >= 0; i++)
        written = runloop_output_write(output, bytes, sizeof bytes);
    EXPECT_EQ(written, -EFBIG);
    _exit(test_failures ? 1 : 0);
}

TEST("a limit of the size of files is an error, and does not end the process by SIGXFSZ") {
    EXPECT_EQ(status_of_child(send_large), 0);
    EXPECT_EQ(status_of_child(write_large), 0);
}

static char path[64];
static int available;

static void listen_without_descriptors(void) {
    use_up_descriptors(available);
    int result = runloop_listen_unix(path, 0, 1);
    _exit(result < 0 ? -result : 0);
}

TEST("a path that was left behind and can't be looked at for want of descriptors is not said to be in use") {
    snprintf(path, sizeof path, "/tmp/runloop-test-left-%d", (int)getpid());
    unlink(path);
    int left = runloop_listen_unix(path, 0, 1);
    REQUIRE(left >= 0);
    close(left);
    for (available = 1; available <= 3; available++) {
        int status = status_of_child(listen_without_descriptors);
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == EMFILE);
    }
    int listening = runloop_listen_unix(path, 0, 1);
    EXPECT(listening >= 0);
    close(listening);
    unlink(path);
}
