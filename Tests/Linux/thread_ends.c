// thread_ends.c — the thread is cancelled, or ends in the call-out of a channel with descriptors and a request: nothing is left over. Other
// call-outs: callouts.c, channels_callouts.c.
#include "callouts.h"
#include "channels.h"

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

//===-- cancellation -------------------------------------------------------------------------------------------------===//

static uint64_t reported;

static void cancel_thread(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    pthread_cancel(pthread_self());
}

static void note_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)info;
    reported += sum;
}

static void note_arrivals(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)info;
    reported += arrival->count;
}

/// A thread that is to be cancelled from when its loop has slept on.
static void *run_cancelled(void *source) {
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, cancel_thread, NULL);
    run_for(MODE, 30 * SECOND);
    return NULL;
}

TEST("a thread that is cancelled while the loop does not sleep reports what it reads, of a counter and a signal") {
    runloop_source *sources[2];
    REQUIRE(runloop_counter_create(&(runloop_counter_config){.counted = note_sum}, &sources[0]) == 0);
    const runloop_signal_config config = {.number = SIGUSR1, .receive = note_arrivals};
    REQUIRE(runloop_signal_create(&config, &sources[1]) == 0);
    for (int i = 0; i < 2; i++) {
        reported = 0;
        for (int k = 0; k < 200; k++)
            EXPECT_EQ(i == 0 ? runloop_counter_add(sources[0], 1) : raise(SIGUSR1), 0);
        // On a busy machine the timer that checks the signals may end the first sleep. The thread is cancelled then before it has read anything.
        for (int tries = 0; reported == 0 && tries < 100; tries++)
            on_new_thread(run_cancelled, sources[i]);
        EXPECT_EQ(reported, 200);
        end_source(sources[i]);
    }
}

static int reader;

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
