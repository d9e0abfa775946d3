// sequences_no_memory.c — without memory for the date of the next step, it is tried again.
#include "children.h"
#include "failing_memory.h"

static bool is_over;

/// On a thread whose loop has had no date before, so that there is no memory for one yet.
static void *end_without_memory(void *allocation) {
    struct ends ends = {0};
    const runloop_child_step steps[] = {{SIGCONT, MS}, {SIGKILL, 0}};
    runloop_child *child = start((runloop_child_start_config){.arguments = WORDS("sleep", "1000")}, &ends);
    EXPECT_EQ(runloop_child_end_by(child, steps, 2, false), 0);
    failing = *(long *)allocation;
    RUN_UNTIL(MODE, ends.count == 1);
    is_over = failing > 0;
    failing = 0;
    EXPECT_EQ(ends.last.status, SIGKILL);
    runloop_source_release(child);
    return NULL;
}

TEST("a child gets its next signal, whichever allocation fails") {
    for (long allocation = 1; !is_over; allocation++)
        on_new_thread(end_without_memory, &allocation);
}

static void *time_out_without_memory(void *allocation) {
    runloop_command *command = NULL;
    const runloop_command_config config = {
        .start = {.arguments = WORDS("sleep", "1000"), .searches = true}, .timeout_ns = MS, .limit = 1};
    need_starts();
    REQUIRE(runloop_command_create(&config, &command) == 0);
    REQUIRE(runloop_add_source(runloop_current(), command, MODE) == 0);
    failing = *(long *)allocation;
    RUN_UNTIL(MODE, !runloop_source_is_valid(command));
    is_over = failing > 0;
    failing = 0;
    runloop_source_release(command);
    return NULL;
}

TEST("a command is ended at its timeout, whichever allocation fails") {
    for (long allocation = 1; !is_over; allocation++)
        on_new_thread(time_out_without_memory, &allocation);
}
