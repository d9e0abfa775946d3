// channels.c — channels between ends that keep to the protocol, and where they are listened for.
#include "channels.h"

/// The two ends of one.
static runloop_channel *channels[2];

TEST("messages of any size arrive in order, once") {
    make_channels(channels, (runloop_channel_config){.max_bytes = 4 << 20});
    static char large[3 << 20];
    memset(large, 'x', sizeof large);
    EXPECT_EQ(tell(channels[0], "a"), 0);
    EXPECT_EQ(runloop_channel_send(channels[0], NULL, 0, NULL, 0), 0);
    EXPECT_EQ(runloop_channel_send(channels[0], large, 64 << 10, NULL, 0), 0);
    EXPECT_EQ(runloop_channel_send(channels[0], large, sizeof large, NULL, 0), 0);
    EXPECT_EQ(tell(channels[0], "b"), 0);
    RUN_UNTIL(MODE, received_count == 5);
    EXPECT_EQ(received_bytes, 2 + (64 << 10) + sizeof large);
    EXPECT_TRACE("a  b");
    end_channels(channels);
    EXPECT_EQ(ends, 0);
}

TEST("a message carries descriptors, which are closed unless they are taken") {
    make_channels(channels, (runloop_channel_config){.max_descriptors = 4});
    int pipe[2];
    make_pipe(pipe);
    int before = count_descriptors();
    EXPECT_EQ(runloop_channel_send(channels[0], "p", 1, (int[]){pipe[1], pipe[1], pipe[0]}, 3), 0);
    EXPECT_EQ(runloop_channel_send(channels[0], "p", 1, (int[]){0, 0, 0, 0, 0}, 5), -EMSGSIZE);
    EXPECT_EQ(runloop_channel_send(channels[0], "p", 1, (int[]){9999}, 1), -EBADF);
    RUN_UNTIL(MODE, taken >= 0);
    EXPECT_EQ(received_descriptors, 3);
    EXPECT_EQ(count_descriptors(), before + 1);
    EXPECT(fcntl(taken, F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(write(taken, "x", 1), 1);
    char byte;
    EXPECT_EQ(read(pipe[0], &byte, 1), 1);
    end_channels(channels);
}

TEST("a slow reader lets messages wait up to the limits, and then they are refused; later all arrive") {
    make_channels(channels, (runloop_channel_config){.max_messages = 8});
    runloop_remove_source(runloop_current(), channels[1], MODE);
    static char bytes[30000];
    int pipe[2];
    make_pipe(pipe);
    int before = count_descriptors();
    size_t sent = 0;
    while (runloop_channel_send(channels[0], bytes, sizeof bytes, &pipe[0], 1) == 0)
        sent++;
    EXPECT_EQ(runloop_channel_send(channels[0], bytes, 1, NULL, 0), -EAGAIN);
    // Those that wait have descriptors of their own.
    EXPECT_EQ(count_descriptors(), before + 8);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    runloop_add_source(runloop_current(), channels[1], MODE);
    RUN_UNTIL(MODE, received_count == sent);
    close(taken);
    EXPECT_EQ(count_descriptors(), before);
    end_channels(channels);
}

TEST("messages of all sizes pass through a socket with the smallest buffer, also if they wait") {
    enum { STEP = 8, MOST = 5000 };
    static char bytes[MOST];
    int sockets[2], size = 1;
    make_sockets(sockets);
    REQUIRE(setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size) == 0);
    for (int i = 0; i < 2; i++)
        channels[i] = add_channel_with(sockets[i], (runloop_channel_config){0});
    size_t sent = 0;
    for (size_t length = STEP; length <= MOST; length += STEP) {
        // The buffer has space for the first, and the loop sends the others.
        for (int i = 0; i < 3; i++)
            sent += runloop_channel_send(channels[0], bytes, length, NULL, 0) == 0;
        RUN_UNTIL(MODE, received_count == sent || ends);
        REQUIRE(!ends);
    }
    EXPECT_EQ(sent, 3 * MOST / STEP);
    end_channels(channels);
}

TEST("a request is replied to once, dropped, or times out") {
    make_channels(channels, (runloop_channel_config){0});
    struct outcome replied = {0}, dropped = {0}, late = {0}, early = {0};
    EXPECT_EQ(request(channels[0], "question", 0, &replied), 0);
    RUN_UNTIL(MODE, replied.replies);
    EXPECT_TEXT(replied.text, "question");
    EXPECT_EQ(replied.result, 0);
    keeps_calls = true;
    EXPECT_EQ(request(channels[0], "dropped", RUNLOOP_NEVER, &dropped), 0);
    RUN_UNTIL(MODE, kept_call);
    runloop_call_release(kept_call);
    RUN_UNTIL(MODE, dropped.replies);
    EXPECT_EQ(dropped.result, -ENOMSG);
    kept_call = NULL;
    int64_t now = runloop_get_now_ns(NULL);
    EXPECT_EQ(request(channels[0], "late", now + 50 * MS, &late), 0);
    runloop_call *first = NULL;
    RUN_UNTIL(MODE, (first = kept_call));
    EXPECT_EQ(request(channels[0], "early", now + 20 * MS, &early), 0);
    // On a slow machine the first may have timed out before the second is sent.
    RUN_UNTIL(MODE, late.replies && early.replies && kept_call != first);
    EXPECT(runloop_get_now_ns(NULL) >= now + 50 * MS);
    EXPECT(early.replies == 1 && late.replies == 1 && early.result == -ETIMEDOUT && late.result == -ETIMEDOUT);
    // A reply that comes too late is ignored.
    EXPECT_EQ(runloop_call_reply(first, "r", 1, NULL, 0), 0);
    EXPECT_EQ(runloop_call_reply(first, "r", 1, NULL, 0), -EALREADY);
    runloop_call_release(first);
    runloop_call_release(kept_call);
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(late.replies == 1 && ends == 0);
    end_channels(channels);
}

TEST("calls that are not answered are limited, and the others wait") {
    make_channels(channels, (runloop_channel_config){.max_calls = 1});
    keeps_calls = true;
    struct outcome outcomes[3] = {0};
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(request(channels[0], "q", 0, &outcomes[i]), 0);
    RUN_UNTIL(MODE, received_count > 0);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(received_count, 1);
    for (size_t i = 0; i < 3; i++) {
        RUN_UNTIL(MODE, received_count == i + 1);
        EXPECT_EQ(runloop_call_reply(kept_call, "r", 1, NULL, 0), 0);
        runloop_call_release(kept_call);
        RUN_UNTIL(MODE, outcomes[i].replies == 1);
    }
    end_channels(channels);
}

TEST("the end of one channel answers the requests of the other, which ends once, after what was sent") {
    make_channels(channels, (runloop_channel_config){0});
    keeps_calls = true;
    struct outcome asked = {0}, own = {0};
    EXPECT_EQ(request(channels[0], "asked", 0, &asked), 0);
    RUN_UNTIL(MODE, kept_call);
    runloop_call *first = kept_call;
    EXPECT_EQ(request(channels[1], "own", 0, &own), 0);
    EXPECT_EQ(tell(channels[1], "last"), 0);
    end_channel(channels[1]);
    EXPECT(own.discards == 1 && own.replies == 0);
    RUN_UNTIL(MODE, ends);
    EXPECT_TRACE("asked own last");
    EXPECT(asked.replies == 1 && asked.result == -EPIPE && asked.discards == 0);
    EXPECT_EQ(end_reason, -EPIPE);
    EXPECT_EQ(tell(channels[0], "after"), -EPIPE);
    EXPECT_EQ(request(channels[0], "after", 0, &own), -EPIPE);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_FINISHED);
    runloop_call_release(first);
    runloop_call_release(kept_call);
    end_channel(channels[0]);
    EXPECT_EQ(ends, 1);
}

static _Atomic int cancelled, not_found;

static void *cancel_all(void *argument) {
    for (uint64_t id = 1; id <= 1000; id++) {
        int result = runloop_channel_cancel(argument, id);
        EXPECT(result == 0 || result == -ENOENT);
        cancelled += result == 0;
        not_found += result == -ENOENT;
    }
    return NULL;
}

TEST("a cancelled request is discarded at once, and its reply is dropped; the others are answered") {
    make_channels(channels, (runloop_channel_config){0});
    keeps_calls = true;
    struct outcome untimed = {0}, timed = {0}, other = {0};
    uint64_t first = 0, second = 0;
    int64_t soon = runloop_get_now_ns(NULL) + 2 * SECOND;
    EXPECT_EQ(request_with_id(channels[0], "untimed", 0, &untimed, &first), 0);
    RUN_UNTIL(MODE, kept_call);
    runloop_call *call = kept_call;
    kept_call = NULL;
    EXPECT_EQ(request_with_id(channels[0], "timed", soon, &timed, &second), 0);
    RUN_UNTIL(MODE, kept_call);
    EXPECT_EQ(runloop_channel_cancel(channels[0], first), 0);
    EXPECT_EQ(runloop_channel_cancel(channels[0], second), 0);
    EXPECT(untimed.discards == 1 && timed.discards == 1);
    EXPECT_EQ(runloop_channel_cancel(channels[0], first), -ENOENT);
    EXPECT_EQ(runloop_channel_cancel(channels[0], 99), -ENOENT);
    EXPECT_EQ(runloop_call_reply(kept_call, "late", 4, NULL, 0), 0);
    runloop_call_release(kept_call);
    runloop_call_release(call);
    keeps_calls = false;
    // What comes after the replies that are dropped is answered.
    EXPECT_EQ(request(channels[0], "other", 0, &other), 0);
    RUN_UNTIL(MODE, other.replies == 1);
    run_for(MODE, 5 * MS);
    EXPECT(untimed.replies == 0 && timed.replies == 0);
    EXPECT_EQ(runloop_channel_cancel(channels[0], 3), -ENOENT);
    end_channels(channels);
    EXPECT(untimed.discards == 1 && timed.discards == 1 && other.discards == 0 && ends == 0);
}

static _Atomic int replied, discarded;

static void note_one_answer(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count, (void)info;
    EXPECT_EQ(reply->result, 0);
    replied++;
}

static void note_one_discarded(void *info) {
    (void)info;
    discarded++;
}

TEST("a request that a thread cancels while it is being answered has one outcome") {
    make_channels(channels, (runloop_channel_config){.max_messages = 2000, .max_calls = 2000});
    const runloop_channel_request_config config = {.replied = note_one_answer, .discard = note_one_discarded};
    pthread_t thread;
    for (int i = 0; i < 1000; i++)
        REQUIRE(runloop_channel_request(channels[0], "q", 1, NULL, 0, &config, NULL) == 0);
    REQUIRE(pthread_create(&thread, NULL, cancel_all, channels[0]) == 0);
    RUN_UNTIL(MODE, cancelled + not_found == 1000 && replied + discarded == 1000);
    pthread_join(thread, NULL);
    EXPECT_EQ(discarded, cancelled);
    end_channels(channels);
    EXPECT_EQ(replied + discarded, 1000);
}

static void *end_shared(void *argument) {
    end_channel(argument);
    return NULL;
}

static _Atomic int outcomes, accepted_requests;

static void count_answer(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)reply, (void)descriptors, (void)count, (void)info;
    outcomes++;
}

static void count_discarded(void *info) {
    (void)info;
    outcomes++;
}

static void *ask_until_end(void *argument) {
    const runloop_channel_request_config config = {.replied = count_answer, .discard = count_discarded};
    int result;
    while ((result = runloop_channel_request(argument, "q", 1, NULL, 0, &config, NULL)) != -EPIPE)
        accepted_requests += result == 0;
    return NULL;
}

TEST("threads ask while the channel is ended by another, and each request has one outcome") {
    for (int i = 0; i < 20; i++) {
        make_channels(channels, (runloop_channel_config){0});
        pthread_t threads[2];
        REQUIRE(pthread_create(&threads[0], NULL, ask_until_end, channels[0]) == 0);
        run_for(MODE, MS);
        runloop_source_retain(channels[0]);
        REQUIRE(pthread_create(&threads[1], NULL, end_shared, channels[0]) == 0);
        run_for(MODE, MS);
        for (int k = 0; k < 2; k++)
            REQUIRE(pthread_join(threads[k], NULL) == 0);
        runloop_source_release(channels[0]);
        end_channel(channels[1]);
        EXPECT_EQ(outcomes, accepted_requests);
    }
    EXPECT(outcomes > 0);
}

TEST("bad input is refused, and a refused socket remains the caller's") {
    runloop_channel *channel;
    runloop_channel_config config = {0};
    int sockets[2], streams[2], before = count_descriptors();
    make_sockets(sockets);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, streams) == 0);
    EXPECT_EQ(runloop_channel_create(streams[0], &config, &channel), -EINVAL);
    EXPECT_EQ(runloop_channel_create(0, &config, &channel), -EINVAL);
    EXPECT_EQ(runloop_channel_create(9999, &config, &channel), -EBADF);
    EXPECT_EQ(runloop_channel_create(sockets[0], NULL, &channel), -EINVAL);
    int unconnected = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT_EQ(runloop_channel_create(unconnected, &config, &channel), -ENOTCONN);
    config.max_descriptors = 251;
    EXPECT_EQ(runloop_channel_create(sockets[0], &config, &channel), -EINVAL);
    config.max_descriptors = 0;
    REQUIRE(runloop_channel_create(dup(sockets[0]), &config, &channel) == 0);
    uint64_t id;
    EXPECT_EQ(runloop_channel_send(channel, NULL, 1, NULL, 0), -EINVAL);
    EXPECT_EQ(runloop_channel_send(channel, "a", 1, NULL, 1), -EINVAL);
    EXPECT_EQ(runloop_channel_request(channel, "a", 1, NULL, 0, NULL, &id), -EINVAL);
    end_source(channel);
    EXPECT_EQ(runloop_call_reply(NULL, "a", 1, NULL, 0), -EINVAL);
    runloop_call_release(NULL);
    close(unconnected);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(close(sockets[i]), 0);
        EXPECT_EQ(close(streams[i]), 0);
    }
    EXPECT_EQ(count_descriptors(), before);
}

static bool is_other_user;
uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);
uid_t __wrap_geteuid(void) {
    return __real_geteuid() + is_other_user;
}

TEST("the process at the other end has the same user, unless any is allowed; without a descriptor for its pidfd there "
     "is no channel") {
    runloop_channel *channel = NULL;
    runloop_channel_config config = {0};
    int sockets[2];
    make_sockets(sockets);
    int before = count_descriptors();
    is_other_user = true;
    EXPECT_EQ(runloop_channel_create(sockets[0], &config, &channel), -EPERM);
    EXPECT_EQ(count_descriptors(), before);
    config.allows_any_user = true;
    use_up_descriptors(0);
    int result = runloop_channel_create(sockets[0], &config, &channel);
    give_back_descriptors();
    // Before Linux 6.5 it needs none.
    runloop_peer peer = {.pidfd = -1};
    if (result == 0)
        EXPECT_EQ(runloop_channel_get_peer(channel, &peer), 0);
    EXPECT(result == -EMFILE || (result == 0 && peer.pidfd < 0));
    if (result < 0)
        EXPECT_EQ(runloop_channel_create(sockets[0], &config, &channel), 0);
    end_channel(channel);
}

static void end_own_channel(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)info;
    received_count++;
    EXPECT_EQ(message->length, 4);
    end_source(channel);
    // The call is still there, and its other end is notified that it is not answered.
    EXPECT_EQ(runloop_call_reply(message->call, "r", 1, NULL, 0), -EPIPE);
}

TEST("a channel may be ended and released in its own call-out") {
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *other = add_channel_with(sockets[0], (runloop_channel_config){0});
    int before = count_descriptors();
    add_channel(sockets[1], &(runloop_channel_config){.receive = end_own_channel, .ended = note_end});
    struct outcome outcome = {0};
    EXPECT_EQ(request(other, "text", 0, &outcome), 0);
    RUN_UNTIL(MODE, outcome.replies == 1);
    EXPECT(outcome.result == -EPIPE && received_count == 1);
    RUN_UNTIL(MODE, ends == 1);
    EXPECT(count_descriptors() < before);
    runloop_source_release(other);
}

//===-- listeners ----------------------------------------------------------------------------------------------------===//

static runloop_channel *accepted_channel;

static void accept_channel(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    EXPECT(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
    if (accepted_channel)
        close(descriptor);
    else
        accepted_channel = add_channel_with(descriptor, (runloop_channel_config){0});
}

/// A listener in MODE. One reference.
static runloop_listener *listen_at(const char *path) {
    int descriptor = runloop_channel_listen(path, 0, 0);
    REQUIRE(descriptor >= 0);
    const runloop_listener_config config = {
        .descriptor = descriptor, .owns = true, .removes_path = true, .accepted = accept_channel};
    return add_listener(&config);
}

static void enter_runtime_directory(void) {
    char path[] = "/tmp/channels.XXXXXX";
    REQUIRE(mkdtemp(path) && setenv("XDG_RUNTIME_DIR", path, 1) == 0 && chdir(path) == 0);
}

static runloop_channel *connect_channel(const char *path) {
    const runloop_channel_config config = {.receive = note_received, .ended = note_end};
    runloop_channel *channel = NULL;
    EXPECT_EQ(runloop_channel_connect(path, &config, &channel), 0);
    if (channel)
        REQUIRE(runloop_add_source(runloop_current(), channel, MODE) == 0);
    return channel;
}

TEST("what listens has a socket for its user only, whatever the umask, and removes it") {
    enter_runtime_directory();
    umask(0);
    runloop_listener *listener = listen_at("service");
    struct stat status;
    EXPECT(stat("service", &status) == 0 && (status.st_mode & 0777) == 0600);
    runloop_channel *channel = connect_channel("service");
    REQUIRE(channel);
    EXPECT_EQ(tell(channel, "hello"), 0);
    RUN_UNTIL(MODE, trace_contains("hello"));
    runloop_peer peer;
    EXPECT_EQ(runloop_channel_get_peer(channel, &peer), 0);
    EXPECT(peer.pid == getpid() && peer.uid == geteuid() && peer.gid == getegid());
    end_channel(channel);
    RUN_UNTIL(MODE, ends);
    runloop_source_release(accepted_channel);
    EXPECT_EQ(runloop_channel_listen("service", 0, 0), -EADDRINUSE);
    runloop_source_invalidate(listener);
    EXPECT(stat("service", &status) < 0);
    runloop_source_release(listener);
    runloop_channel_config config = {0};
    EXPECT_EQ(runloop_channel_connect("service", &config, &channel), -ENOENT);
}

TEST("a socket that was left behind is replaced, and no other file; a socket of streams is no channel's") {
    enter_runtime_directory();
    int left = runloop_channel_listen("left", 0, 0);
    REQUIRE(left >= 0);
    close(left);
    runloop_channel_config config = {0};
    runloop_channel *channel;
    EXPECT_EQ(runloop_channel_connect("left", &config, &channel), -ECONNREFUSED);
    left = runloop_channel_listen("left", 0, 0);
    EXPECT(left >= 0);
    close(left);
    int file = open("file", O_CREAT | O_WRONLY, 0600);
    int before = count_descriptors();
    EXPECT_EQ(runloop_channel_listen("file", 0, 0), -EADDRINUSE);
    EXPECT_EQ(access("file", F_OK), 0);
    EXPECT_EQ(count_descriptors(), before);
    close(file);
    int streams = runloop_listen_unix("streams", 0, 0);
    EXPECT(streams >= 0);
    EXPECT_EQ(runloop_channel_listen("streams", 0, 0), -EADDRINUSE);
    EXPECT_EQ(runloop_channel_connect("streams", &config, &channel), -EPROTOTYPE);
}

TEST("names that are refused") {
    enter_runtime_directory();
    char longer[200];
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    runloop_channel_config config = {0};
    runloop_channel *channel;
    EXPECT_EQ(runloop_channel_listen(NULL, 0, 0), -EINVAL);
    EXPECT_EQ(runloop_channel_listen("", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_channel_listen("@abstract", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_channel_connect("@abstract", &config, &channel), -EINVAL);
    EXPECT_EQ(runloop_channel_listen(longer, 0, 0), -ENAMETOOLONG);
    EXPECT_EQ(runloop_channel_listen("/nowhere/service", 0, 0), -ENOENT);
    int listening = runloop_channel_listen("service", 0, 1), before = count_descriptors();
    config.max_descriptors = 251;
    EXPECT(listening >= 0);
    EXPECT_EQ(runloop_channel_connect("service", &config, &channel), -EINVAL);
    EXPECT_EQ(count_descriptors(), before);
    close(listening);
    unsetenv("XDG_RUNTIME_DIR");
    EXPECT_EQ(runloop_channel_listen("service", 0, 0), -ENOENT);
    EXPECT_EQ(runloop_channel_connect("service", &config, &channel), -ENOENT);
}

static runloop_channel *inherited;

static void use_in_child(void) {
    EXPECT_EQ(tell(inherited, "child"), -ECHILD);
    struct outcome outcome = {0};
    EXPECT_EQ(request(inherited, "child", 0, &outcome), -ECHILD);
    end_channel(inherited);
    runloop_call_release(kept_call);
}

TEST("a forked child changes nothing") {
    make_channels(channels, (runloop_channel_config){0});
    keeps_calls = true;
    struct outcome outcome = {0};
    EXPECT_EQ(request(channels[0], "q", 0, &outcome), 0);
    RUN_UNTIL(MODE, kept_call);
    inherited = channels[0];
    EXPECT_EQ(status_of_child(use_in_child), 0);
    EXPECT_EQ(runloop_call_reply(kept_call, "r", 1, NULL, 0), 0);
    runloop_call_release(kept_call);
    RUN_UNTIL(MODE, outcome.replies);
    EXPECT_EQ(outcome.result, 0);
    end_channels(channels);
    EXPECT_EQ(ends, 0);
}

static size_t answered;

static void note_answered(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count, (void)info;
    EXPECT_EQ(reply->result, 0);
    answered++;
}

TEST("two ends that ask each other more than fits between them wait for no replies for ever") {
    static char bytes[1000];
    make_channels(channels, (runloop_channel_config){.max_calls = 2});
    const runloop_channel_request_config config = {.replied = note_answered};
    size_t asked = 0;
    for (int i = 0; i < 2; i++)
        while (runloop_channel_request(channels[i], bytes, sizeof bytes, NULL, 0, &config, NULL) == 0)
            asked++;
    RUN_UNTIL(MODE, answered == asked);
    end_channels(channels);
}

TEST("two ends that have cancelled their requests still read one another's answers, behind which their messages are") {
    static char bytes[1000];
    make_channels(channels, (runloop_channel_config){.max_calls = 2});
    const runloop_channel_request_config config = {0};
    for (int i = 0; i < 2; i++)
        for (uint64_t id; runloop_channel_request(channels[i], bytes, sizeof bytes, NULL, 0, &config, &id) == 0;)
            EXPECT_EQ(runloop_channel_cancel(channels[i], id), 0);
    for (int i = 0; i < 2; i++)
        RUN_UNTIL(MODE, tell(channels[i], "m") == 0);
    RUN_UNTIL(MODE, strcmp(test_trace_text, "m m") == 0);
    end_channels(channels);
}
