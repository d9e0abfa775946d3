// children_sequences.c — the corners of the signals that end a child: which are taken, when each is due, and what is left of a sequence.
#include "children.h"
#include "shown_clock.h"

#define STEPS(...) ((const runloop_child_step[]){__VA_ARGS__})
#define COUNT(steps) (sizeof(steps) / sizeof(runloop_child_step))
#define END(child, of_group, ...) runloop_child_end_by(child, STEPS(__VA_ARGS__), COUNT(STEPS(__VA_ARGS__)), of_group)

static runloop_child *start_sleep(struct ends *ends) {
    return start((runloop_child_start_config){.arguments = WORDS("sleep", "1000")}, ends);
}

static void kill_and_release(runloop_child *child, struct ends *ends) {
    EXPECT_EQ(runloop_child_send_signal(child, SIGKILL), 0);
    LOOK_UNTIL(ends->count == 1);
    runloop_source_release(child);
}

TEST("a step is not early, whatever the child is called for before its pause has passed") {
    use_shown_clock();
    struct ends ends = {0};
    runloop_child *child = start_sleep(&ends);
    EXPECT_EQ(END(child, false, {SIGCONT, LIMIT}, {SIGTERM, LIMIT}, {SIGKILL, 0}), 0);
    poll_mode(MODE);
    shown_ns = LIMIT - 1;
    EXPECT_EQ(runloop_source_signal(child), 0);
    look_a_while(MODE);
    EXPECT_EQ(ends.count, 0);
    shown_ns = LIMIT;
    LOOK_UNTIL(ends.count == 1);
    EXPECT_EQ(ends.last.status, SIGTERM);
    runloop_source_release(child);
}

TEST("a sequence of one signal takes the place of another, and leaves the loop no date of that") {
    use_shown_clock();
    struct ends ends = {0};
    runloop_child *child = start_sleep(&ends);
    EXPECT_EQ(END(child, false, {SIGCONT, LIMIT}, {SIGKILL, 0}), 0);
    poll_mode(MODE);
    EXPECT_EQ(runloop_source_get_deadline(child), LIMIT);
    EXPECT_EQ(END(child, false, {SIGCONT, 0}), 0);
    EXPECT_EQ(runloop_source_get_deadline(child), RUNLOOP_NEVER);
    shown_ns = 2 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(ends.count, 0);
    kill_and_release(child, &ends);
}

TEST("a sequence has up to eight steps, and signals up to the last that there is") {
    use_shown_clock();
    struct ends ends = {0};
    runloop_child *child = start_sleep(&ends);
    EXPECT_EQ(END(child, false, {65, 0}), -EINVAL);
    EXPECT_EQ(END(child, false, {SIGCONT, 0}, {SIGCONT, 0}, {SIGCONT, 0}, {SIGCONT, 0}, {SIGCONT, 0}, {SIGCONT, 0},
                  {SIGCONT, 0}, {SIGRTMAX, 0}),
              0);
    LOOK_UNTIL(ends.count == 1);
    EXPECT_EQ(ends.last.status, SIGRTMAX);
    runloop_source_release(child);
}

static runloop_child *watch_only(pid_t pid, struct ends *ends) {
    runloop_child *child = NULL;
    const runloop_child_config config = {.context.info = ends, .pid = pid, .exited = note_end};
    REQUIRE(runloop_child_create(&config, &child) == 0 && runloop_add_source(runloop_current(), child, MODE) == 0);
    return child;
}

TEST("of a process that is only watched no group is signalled, since somebody else may reap it at any time") {
    use_shown_clock();
    struct ends ends = {0};
    pid_t pid = fork_child();
    REQUIRE(setpgid(pid, pid) == 0);
    runloop_child *child = watch_only(pid, &ends);
    EXPECT_EQ(END(child, true, {SIGKILL, 0}), -EINVAL);
    EXPECT_EQ(END(child, false, {SIGKILL, 0}), 0);
    LOOK_UNTIL(ends.count == 1);
    // It can still be signalled, as long as nobody has reaped it, but there is nothing to end.
    EXPECT_EQ(END(child, false, {SIGKILL, 0}), -ESRCH);
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
    runloop_source_release(child);
}
