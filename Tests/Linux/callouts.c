// callouts.c — in the call-out of each kind of object it is released, the process forked, and the thread ended: others are still told, a child
// is not, and nothing is left over. Channels and ports, which call out in several ways: channels_callouts.c, ports_source.c.
#include "callouts.h"
#include "clocks.h"

/// In each call-out. Who invalidates an object there releases it, too.
static void act_on(runloop_source *object) {
    int before = contexts;
    act(object);
    if (action == INVALIDATE) {
        runloop_source_release(object);
        EXPECT_EQ(contexts, before); // It is freed after the call-out.
    }
}

//===-- kinds of objects: two that have something to tell ------------------------------------------------------------===//

/// What belongs to the two objects, for `check`.
static int descriptors[2];

static void note_exit(runloop_child *ended, const runloop_child_exit *exit, void *info) {
    (void)info;
    EXPECT(exit->end == RUNLOOP_CHILD_EXITED && exit->status == 3);
    act_on(ended);
}

static void make_children(runloop_source *made[2]) {
    for (int i = 0; i < 2; i++) {
        const runloop_child_config config = {
            .context = COUNTED, .pid = fork_child_that_exits(3), .reaps = true, .exited = note_exit};
        REQUIRE(runloop_child_create(&config, &made[i]) == 0);
    }
}

/// All that were reported are reaped, also if the thread has ended meanwhile.
static void check_children(void) {
    EXPECT(action != EXIT || waitpid(-1, NULL, 0) > 0);
    EXPECT(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
}

static void note_alarm(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    (void)date_ns, (void)missed, (void)info;
    act_on(alarm);
}

static void make_alarms(runloop_source *made[2]) {
    // One that repeats, but not during this test.
    const runloop_alarm_config config = {
        .context = COUNTED, .date_ns = 1, .interval_ns = INT64_MAX / 2, .fire = note_alarm};
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_alarm_create(&config, &made[i]) == 0);
}

static void note_clock_change(runloop_clock_watch *watch, const runloop_clock_change *change, void *info) {
    (void)info;
    EXPECT(change->step_ns > 0);
    act_on(watch);
}

static void make_clock_watches(runloop_source *made[2]) {
    const runloop_clock_watch_config config = {.context = COUNTED, .changed = note_clock_change};
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_clock_watch_create(&config, &made[i]) == 0);
    step(HOUR);
}

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)info;
    close(descriptor);
    act_on(listener);
}

static void make_listeners(runloop_source *made[2]) {
    for (int i = 0; i < 2; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s-%d", own_name(), i);
        const runloop_listener_config config = {.context = COUNTED,
                                                .descriptor = runloop_listen_abstract(name, 0),
                                                .owns = true,
                                                .accepted = note_accepted};
        REQUIRE(runloop_listener_create(&config, &made[i]) == 0);
        // The connection stays in the queue.
        close(connect_to(config.descriptor));
    }
}

static void note_failure(runloop_listener *listener, int error, void *info) {
    (void)info;
    EXPECT_EQ(error, -EINVAL);
    act_on(listener);
}

static void make_failed_listeners(runloop_source *made[2]) {
    for (int i = 0; i < 2; i++) {
        int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
        const runloop_listener_config config = {.context = COUNTED,
                                                .descriptor = listening,
                                                .owns = true,
                                                .accepted = note_accepted,
                                                .paused = note_failure};
        REQUIRE(runloop_listener_create(&config, &made[i]) == 0);
        REQUIRE(shutdown(listening, SHUT_RDWR) == 0);
    }
}

static void note_connection(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)info;
    EXPECT_EQ(error, 0);
    descriptors[calls] = descriptor;
    act_on(connect);
}

static int listening;

static void make_connects(runloop_source *made[2]) {
    listening = runloop_listen_abstract(own_name(), 0);
    const runloop_connect_config config = {
        .context = COUNTED, .abstract_name = own_name(), .connected = note_connection};
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_connect_create(&config, &made[i]) == 0);
}

/// What was connected is the client's, whatever became of the object and the thread.
static void check_connects(void) {
    for (int i = 0; i < calls; i++) {
        EXPECT_EQ(send(descriptors[i], "text", 4, 0), 4);
        close(descriptors[i]);
    }
    close(listening);
}

static void note_drain(runloop_output *output, int error, void *info) {
    (void)info;
    EXPECT_EQ(error, 0);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    act_on(output);
}

static void make_outputs(runloop_source *made[2]) {
    for (int i = 0; i < 2; i++) {
        int ends[2];
        make_pipe(ends);
        descriptors[i] = ends[0];
        const runloop_output_config config = {
            .context = COUNTED, .descriptor = ends[1], .owns = true, .limit = 10, .drained = note_drain};
        REQUIRE(runloop_output_create(&config, &made[i]) == 0);
        EXPECT_EQ(runloop_output_enqueue(made[i], "text", 4), 0);
    }
}

/// Each was sent once, by the parent.
static void check_outputs(void) {
    char bytes[10];
    for (int i = 0; i < 2 && action != EXIT; i++)
        EXPECT_EQ(read(descriptors[i], bytes, sizeof bytes), 4);
    close(descriptors[0]);
    close(descriptors[1]);
}

static size_t take_all(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    return count;
}

static void note_end_of_input(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)rest, (void)count, (void)info;
    EXPECT_EQ(error, 0);
    act_on(input);
}

static void make_ended_inputs(runloop_source *made[2]) {
    for (int i = 0; i < 2; i++) {
        int ends[2];
        make_pipe(ends);
        close(ends[1]);
        const runloop_input_config config = {.context = COUNTED,
                                             .descriptor = ends[0],
                                             .owns = true,
                                             .limit = 10,
                                             .received = take_all,
                                             .ended = note_end_of_input};
        REQUIRE(runloop_input_create(&config, &made[i]) == 0);
    }
}

static void note_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)info;
    EXPECT_EQ(sum, 7);
    act_on(counter);
}

static void make_counters(runloop_source *made[2]) {
    for (int i = 0; i < 2; i++) {
        REQUIRE(runloop_counter_create(&(runloop_counter_config){.context = COUNTED, .counted = note_sum}, &made[i]) ==
                0);
        EXPECT_EQ(runloop_counter_add(made[i], 7), 0);
    }
}

static void note_signal(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)info;
    EXPECT_EQ(arrival->count, 1);
    act_on(signal);
    EXPECT(action != INVALIDATE || calls == 1 || action_of(SIGUSR1).sa_handler == SIG_DFL); // It is given back at once.
}

static void make_signals(runloop_source *made[2]) {
    const runloop_signal_config config = {.context = COUNTED, .number = SIGUSR1, .receive = note_signal};
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_signal_create(&config, &made[i]) == 0);
    raise(SIGUSR1);
}

static void check_signals(void) {
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
}

static void note_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)changes, (void)info;
    EXPECT(count > 0);
    act_on(watch);
}

static char path[32];

static void make_watches(runloop_source *made[2]) {
    strcpy(path, "/tmp/runloop-callouts-XXXXXX");
    descriptors[0] = mkstemp(path);
    const runloop_watch_config config = {.context = COUNTED, .path = path, .changed = note_changes};
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_watch_create(&config, &made[i]) == 0);
    REQUIRE(write(descriptors[0], "x", 1) == 1);
}

static void remove_file(void) {
    close(descriptors[0]);
    unlink(path);
}

static struct kind {
    const char *name;
    void (*make)(runloop_source *made[2]);
    void (*check)(void); ///< NULL: there is nothing else to be seen, or to be closed
} kinds[] = {{"children", make_children, check_children},
             {"alarms", make_alarms, NULL},
             {"clock watches", make_clock_watches, NULL},
             {"listeners", make_listeners, NULL},
             {"listeners that have failed", make_failed_listeners, NULL},
             {"connects", make_connects, check_connects},
             {"outputs", make_outputs, check_outputs},
             {"inputs that have ended", make_ended_inputs, NULL},
             {"counters", make_counters, NULL},
             {"signals", make_signals, check_signals},
             {"watches", make_watches, remove_file}};

//===-- what happens in the first call-out ---------------------------------------------------------------------------===//

static void *run_two(void *kind) {
    runloop_source *two[2];
    ((struct kind *)kind)->make(two);
    for (int i = 0; i < 2; i++) {
        REQUIRE(runloop_add_source(runloop_current(), two[i], MODE) == 0);
        if (action == EXIT)
            runloop_source_release(two[i]);
    }
    int result = run_through(2);
    EXPECT(action != EXIT);
    EXPECT(action != INVALIDATE || result == RUNLOOP_RESULT_FINISHED);
    for (int i = 0; i < 2 && action == FORK; i++) {
        end_source(two[i]);
    }
    return NULL;
}

static void play(struct kind *kind) {
    begin_calls();
    on_new_thread(run_two, kind);
    EXPECT_EQ(calls, action == EXIT ? 1 : 2);
    EXPECT_EQ(contexts, 0);
    if (action == FORK)
        EXPECT_EQ(child_status, 0);
    if (kind->check)
        kind->check();
}

static void play_all(enum action what) {
    action = what;
    need_proc();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int failures = test_failures;
        // What the first one costs for ever is not a leak.
        play(&kinds[i]);
        int before = count_descriptors();
        play(&kinds[i]);
        EXPECT_EQ(count_descriptors(), before);
        if (test_failures > failures)
            fprintf(stderr, "    with %s\n", kinds[i].name);
    }
}

TEST("an object that is invalidated and released in its own call-out is freed after it, and another one is called") {
    play_all(INVALIDATE);
}

TEST("R123 a child that is forked in a call-out gets no call of another object, and its parent does") {
    play_all(FORK);
}

TEST("a thread that ends in a call-out leaves nothing over") {
    play_all(EXIT);
}
