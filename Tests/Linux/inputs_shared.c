// inputs_shared.c — an input whose source is in the loops of two threads, or in that of another thread than its maker's.
#include <sched.h>
#include <stdlib.h>

#include "linux_items.h"

enum { LINES = 20000 };

static _Atomic int lines, inside, is_done;

static void take_number(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)info;
    char text[20] = "";
    REQUIRE(error == 0 && count < sizeof text);
    memcpy(text, line, count);
    EXPECT_EQ(inside++, 0);
    EXPECT_EQ(atoi(text), lines);
    lines++;
    inside--;
}

TEST("of two loops one calls at a time, and lines keep their order") {
    int ends[2];
    make_pipe(ends);
    runloop_input_config config = {.descriptor = ends[0], .limit = 20, .received_line = take_number};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    struct worker workers[2];
    shared = input;
    start_sharing(workers);
    for (int i = 0; i < LINES; i++) {
        char text[20];
        int count = snprintf(text, sizeof text, "%d\n", i);
        // The pipe does not block. So little is written as a whole or not at all.
        while (write(ends[1], text, (size_t)count) != count)
            sched_yield();
    }
    WAIT_UNTIL(lines == LINES);
    stop_sharing(workers);
    end_source(input);
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)count, (void)info;
    EXPECT_EQ(error, 0);
    is_done = 1;
}

TEST("a loop that sleeps reads at once a file that another thread adds") {
    struct worker worker = {0};
    start_worker(&worker);
    const runloop_input_config config = {.descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC),
                                         .owns = true,
                                         .limit = 20,
                                         .received_line = take_number,
                                         .ended = note_end};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    wait_for_sleep(&worker);
    REQUIRE(runloop_add_source(worker.loop, input, MODE) == 0);
    WAIT_UNTIL(is_done);
    stop_worker(&worker);
    runloop_source_release(input);
}
