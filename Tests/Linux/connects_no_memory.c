// connects_no_memory.c — connecting without memory: nothing is made, or the outcome says so, and nothing is left.
#include "failing_memory.h"

// That of getaddrinfo is its own.
#define ALLOCATE(size) __real_calloc(1, size)
#include "fake_names.h"

static struct outcome outcome;

static int create(const char *host) {
    runloop_connect_config config = {
        .context = {.info = &outcome, .retain = retain_outcome, .release = release_outcome},
        .host = host,
        .port = 1,
        .connected = note_outcome};
    runloop_connect *connect = NULL;
    int result = runloop_connect_create(&config, &connect);
    runloop_source_release(connect);
    EXPECT_EQ(outcome.contexts, 0);
    return result;
}

static int create_with_number(void) {
    return create("127.0.0.1");
}

static int create_with_name(void) {
    return create("127.0.0.1,127.0.0.2");
}

TEST("to an address") {
    expect_failures_without_traces(create_with_number);
}

TEST("to a name") {
    expect_failures_without_traces(create_with_name);
    WAIT_UNTIL(lookups_now == 0 && results == 0);
}

TEST("to a name or an address, with a descriptor and without") {
    runloop_current();
    use_up_descriptors(1);
    EXPECT_EQ(create_with_name(), 0);
    EXPECT_EQ(create_with_number(), 0);
    give_back_descriptors();
    use_up_descriptors(0);
    EXPECT_EQ(create_with_name(), -EMFILE);
    EXPECT_EQ(create_with_number(), -EMFILE);
    give_back_descriptors();
    WAIT_UNTIL(lookups_now == 0 && results == 0);
}

TEST("memory that runs out after the look-up is an outcome, and the rest goes on") {
    int reserved, failures = 0;
    uint16_t port = dead_port(&reserved);
    make_loop();
    int before = count_descriptors();
    // The loop's own memory is made once; from then on only the attempts need any.
    for (int round = 0; round < 6; round++) {
        outcome = (struct outcome){0};
        runloop_connect *connect =
            add_connect((runloop_connect_config){.host = "127.0.0.1,127.0.0.2", .port = port}, &outcome);
        WAIT_UNTIL(results == 1);
        failing = 1 + round % 2;
        RUN_UNTIL(MODE, outcome.calls == 1);
        failing = 0;
        EXPECT(outcome.error == -ENOMEM || outcome.error == -ECONNREFUSED);
        failures += outcome.error == -ENOMEM;
        runloop_source_release(connect);
        EXPECT_EQ(outcome.contexts, 0);
        WAIT_UNTIL(results == 0 && lookups_now == 0);
        EXPECT_EQ(count_descriptors(), before);
    }
    EXPECT(failures > 0);
    close(reserved);
}

static struct black_hole hole;
static bool is_over;

/// On a thread whose loop has had no date before.
static void *time_out(void *allocation) {
    struct outcome timed = {0};
    const runloop_connect_config config = {.context.info = &timed,
                                           .host = "127.0.0.2",
                                           .port = port_of(hole.listening),
                                           .deadline_ns = runloop_now_ns() + 5 * MS,
                                           .connected = note_outcome};
    runloop_connect *connect = NULL;
    runloop_current();
    REQUIRE(runloop_connect_create(&config, &connect) == 0);
    failing = *(long *)allocation;
    // Without memory to add it, it is added again.
    while (runloop_add_source(runloop_current(), connect, MODE) < 0)
        continue;
    RUN_UNTIL(MODE, timed.calls == 1);
    is_over = failing > 0;
    failing = 0;
    EXPECT_EQ(timed.error, -ETIMEDOUT);
    runloop_source_release(connect);
    return NULL;
}

TEST("a deadline is kept, whichever allocation fails") {
    hole = make_black_hole("127.0.0.2", 0);
    for (long allocation = 1; !is_over; allocation++)
        on_new_thread(time_out, &allocation);
    end_black_hole(hole);
}
