// thread_ends.c — the thread ends in a call-out of a child, an alarm, a listener, an output, a counter, a channel: nothing is left over.
#include "channels.h"

/// Contexts that are retained, and calls in which a thread has ended.
static _Atomic int contexts, calls;

static void *retain_context(void *info) {
    contexts++;
    return info;
}

static void release_context(void *info) {
    (void)info;
    contexts--;
}

#define COUNTED                                                                                                        \
    { .retain = retain_context, .release = release_context }

static void end_thread(void) {
    calls++;
    pthread_exit(NULL);
}

/// On a thread that is to end in a call-out.
static void run_until_end(runloop_source *source) {
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    runloop_source_release(source);
    run_for(MODE, 30 * SECOND);
    REQUIRE(!"the thread should have ended in the call-out");
}

static void expect_nothing_left(void *(*body)(void *)) {
    // What the first thread costs for ever is not a leak.
    on_new_thread(body, NULL);
    int before = count_descriptors();
    on_new_thread(body, NULL);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(contexts, 0);
    EXPECT_EQ(count_descriptors(), before);
}

static void end_in_exit(runloop_child *child, const runloop_child_exit *exit, void *info) {
    (void)child, (void)info;
    EXPECT_EQ(exit->status, 3);
    end_thread();
}

static void *run_child(void *unused) {
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0)
        _exit(3);
    const runloop_child_config config = {.context = COUNTED, .pid = pid, .reaps = true, .exited = end_in_exit};
    runloop_child *child = NULL;
    REQUIRE(runloop_child_create(&config, &child) == 0);
    run_until_end(child);
    return unused;
}

TEST("a child, which is reaped all the same") {
    expect_nothing_left(run_child);
    EXPECT_EQ(waitpid(-1, NULL, 0), -1);
    EXPECT_EQ(errno, ECHILD);
}

static void end_in_alarm(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    (void)alarm, (void)date_ns, (void)missed, (void)info;
    end_thread();
}

static void *run_alarm(void *unused) {
    const runloop_alarm_config config = {.context = COUNTED, .date_ns = 1, .interval_ns = MS, .fire = end_in_alarm};
    runloop_alarm *alarm = NULL;
    REQUIRE(runloop_alarm_create(&config, &alarm) == 0);
    run_until_end(alarm);
    return unused;
}

TEST("an alarm") {
    expect_nothing_left(run_alarm);
}

static void end_in_accept(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
    end_thread();
}

static void *run_listener(void *unused) {
    const char *name = own_name();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const runloop_listener_config config = {
        .context = COUNTED, .descriptor = runloop_listen_abstract(name, 0), .owns = true, .accepted = end_in_accept};
    runloop_listener *listener = NULL;
    REQUIRE(runloop_listener_create(&config, &listener) == 0);
    memcpy(address.sun_path + 1, name, strlen(name));
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    REQUIRE(connect(client, (struct sockaddr *)&address, size) == 0);
    // The connection stays in the queue.
    close(client);
    run_until_end(listener);
    return unused;
}

TEST("a listener") {
    expect_nothing_left(run_listener);
}

static int reader;

static void end_in_drain(runloop_output *output, int error, void *info) {
    (void)info;
    EXPECT_EQ(error, 0);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    close(reader);
    end_thread();
}

static void *run_output(void *unused) {
    int ends[2];
    make_pipe(ends);
    reader = ends[0];
    const runloop_output_config config = {
        .context = COUNTED, .descriptor = ends[1], .owns = true, .limit = 10, .drained = end_in_drain};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    EXPECT_EQ(runloop_output_enqueue(output, "text", 4), 0);
    run_until_end(output);
    return unused;
}

TEST("an output") {
    expect_nothing_left(run_output);
}

static void end_in_count(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)info;
    EXPECT_EQ(sum, 7);
    end_thread();
}

static void *run_counter(void *unused) {
    const runloop_counter_config config = {.context = COUNTED, .counted = end_in_count};
    runloop_counter *counter = NULL;
    REQUIRE(runloop_counter_create(&config, &counter) == 0);
    EXPECT_EQ(runloop_counter_add(counter, 7), 0);
    run_until_end(counter);
    return unused;
}

TEST("a counter") {
    expect_nothing_left(run_counter);
}

//===-- cancellation -------------------------------------------------------------------------------------------------===//

static uint64_t told;

static void cancel_thread(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    pthread_cancel(pthread_self());
}

static void note_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)info;
    told += sum;
}

static void note_arrivals(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)info;
    told += arrival->count;
}

/// A thread that is to be cancelled from when its loop has slept on.
static void *run_cancelled(void *source) {
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, cancel_thread, NULL);
    run_for(MODE, 30 * SECOND);
    return NULL;
}

TEST("a thread that is cancelled while the loop does not sleep tells what it reads, of a counter and a signal, before "
     "it "
     "ends") {
    runloop_source *sources[2];
    REQUIRE(runloop_counter_create(&(runloop_counter_config){.counted = note_sum}, &sources[0]) == 0);
    const runloop_signal_config config = {.number = SIGUSR1, .receive = note_arrivals};
    REQUIRE(runloop_signal_create(&config, &sources[1]) == 0);
    for (int i = 0; i < 2; i++) {
        told = 0;
        for (int k = 0; k < 200; k++)
            EXPECT_EQ(i == 0 ? runloop_counter_add(sources[0], 1) : raise(SIGUSR1), 0);
        on_new_thread(run_cancelled, sources[i]);
        EXPECT_EQ(told, 200);
        runloop_source_invalidate(sources[i]);
        runloop_source_release(sources[i]);
    }
}

static size_t take_nothing(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)count, (void)info;
    return 0;
}

static void *release_cancelled(void *unused) {
    runloop_source *sources[4];
    REQUIRE(runloop_counter_create(&(runloop_counter_config){.context = COUNTED}, &sources[0]) == 0);
    REQUIRE(runloop_clock_watch_create(&(runloop_clock_watch_config){.context = COUNTED}, &sources[1]) == 0);
    const runloop_input_config input = {
        .context = COUNTED, .descriptor = dup(reader), .owns = true, .limit = 10, .received = take_nothing};
    REQUIRE(runloop_input_create(&input, &sources[2]) == 0);
    REQUIRE(runloop_child_create(&(runloop_child_config){.context = COUNTED, .pid = getpid()}, &sources[3]) == 0);
    pthread_cancel(pthread_self());
    for (int i = 0; i < 4; i++)
        runloop_source_release(sources[i]);
    return unused;
}

TEST("a thread that is cancelled frees the objects that it has released, and closes their descriptors") {
    int ends[2];
    make_pipe(ends);
    reader = ends[0];
    int before = count_descriptors();
    on_new_thread(release_cancelled, NULL);
    EXPECT_EQ(contexts, 0);
    EXPECT_EQ(count_descriptors(), before);
}

//===-- channels -----------------------------------------------------------------------------------------------------===//

static runloop_channel *other_end;

static void end_in_receive(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    EXPECT(message->call && message->descriptor_count == 1);
    end_thread();
}

/// A channel of this thread, and `other_end`, which is in no loop yet.
static runloop_channel *make_pair(const runloop_channel_config *config) {
    int sockets[2];
    make_sockets(sockets);
    const runloop_channel_config others = {.receive = note_received, .ended = note_end};
    runloop_channel *channel = NULL;
    REQUIRE(runloop_channel_create(sockets[0], config, &channel) == 0);
    REQUIRE(runloop_channel_create(sockets[1], &others, &other_end) == 0);
    return channel;
}

static struct outcome asked;

static void *run_receiver(void *unused) {
    const runloop_channel_config config = {.context = COUNTED, .receive = end_in_receive};
    runloop_channel *channel = make_pair(&config);
    int standard_error = STDERR_FILENO;
    const runloop_channel_request_config request = {.replied = note_answer, .info = &asked};
    EXPECT_EQ(runloop_channel_request(other_end, "q", 1, &standard_error, 1, &request, NULL), 0);
    run_until_end(channel);
    return unused;
}

/// The request of the thread that has ended.
static void expect_answer(int result) {
    REQUIRE(runloop_add_source(runloop_current(), other_end, MODE) == 0);
    RUN_UNTIL(MODE, ends);
    EXPECT(asked.replies == 1 && asked.result == result);
    runloop_source_release(other_end);
    ends = 0;
}

TEST("a channel that receives: the descriptors are closed, and the other end learns of the drop and of the end") {
    runloop_current();
    int before = count_descriptors();
    for (int i = 0; i < 3; i++) {
        asked = (struct outcome){0};
        on_new_thread(run_receiver, NULL);
        expect_answer(-ENOMSG);
        // What a loop costs for ever is not a leak.
        if (i == 0)
            before = count_descriptors();
    }
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(contexts, 0);
    EXPECT_EQ(count_descriptors(), before);
}
