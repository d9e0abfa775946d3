// reused_numbers.c — a descriptor that was closed before its source was removed, and whose number stands for another file: the source is left
// alone, and who comes for the new file has it (R69, R73). So it is if the loop's own set is closed that way.
#include <sys/epoll.h>

#include "items.h"

/// What standard error is notified of is in diagnostics.c.
__attribute__((constructor)) static void disable_diagnostics(void) {
    runloop_set_diagnostics_enabled(false);
}

/// Counts each call for the descriptor, also one that finds nothing.
static void take_byte(runloop_source *source, runloop_readiness reasons, void *count) {
    char byte;
    if (!(reasons & RUNLOOP_READABLE))
        return;
    ++*(int *)count;
    EXPECT(read(runloop_source_get_descriptor(source), &byte, 1) == 1 || errno == EAGAIN);
}

static runloop_source *add_reader(int descriptor, int *count) {
    const runloop_descriptor_config config = {
        .descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = take_byte, .context.info = count};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    return source;
}

/// What a pipe with the descriptor's number gets from now on goes to the new source alone.
static void expect_new_alone(const int *old, const int *new, int writer) {
    int old_before = *old, new_before = *new;
    for (int i = 0; i < 100; i++) {
        REQUIRE(write(writer, "x", 1) == 1);
        handle_one(MODE);
    }
    EXPECT_EQ(*old - old_before, 0);
    EXPECT_EQ(*new - new_before, 100);
}

/// The second pipe's end gets the number of the first one's. false: a duplicate of that stays open.
static void reuse_number(int first[2], int second[2], bool closes_it) {
    make_pipe(second);
    if (!closes_it)
        REQUIRE(dup(first[0]) >= 0);
    REQUIRE(dup2(second[0], first[0]) == first[0]);
    close(second[0]);
}

TEST("R73 a source whose descriptor was closed is not called for another file with the same number") {
    for (int i = 0; i < 2; i++) {
        int first[2], second[2], old = 0, new = 0;
        make_pipe(first);
        runloop_source *older = add_reader(first[0], &old);
        REQUIRE(write(first[1], "x", 1) == 1);
        handle_one(MODE);
        EXPECT_EQ(old, 1);
        reuse_number(first, second, i == 0);
        runloop_source *newer = add_reader(first[0], &new);
        expect_new_alone(&old, &new, second[1]);
        // The first file, if it is still open, has nobody by its former number.
        REQUIRE(i == 0 || write(first[1], "x", 1) == 1);
        poll_mode(MODE);
        EXPECT_EQ(old, 1);
        // What the older one has of its own still comes.
        EXPECT_EQ(runloop_source_signal(older), 0);
        poll_mode(MODE);
        runloop_source_invalidate(older);
        expect_new_alone(&old, &new, second[1]);
        runloop_source_invalidate(newer);
        EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
        runloop_source_release(older);
        runloop_source_release(newer);
        close(first[0]);
        close(first[1]);
        close(second[1]);
    }
}

TEST("R73 a source whose descriptor was closed is not called after it was paused or masked, nor by a new set") {
    int first[2], second[2], old = 0, new = 0;
    make_pipe(first);
    runloop_source *older = add_reader(first[0], &old);
    poll_mode(MODE);
    reuse_number(first, second, true);
    REQUIRE(write(second[1], "x", 1) == 1);
    EXPECT_EQ(runloop_source_set_events(older, RUNLOOP_WRITABLE), -EBADF);
    EXPECT_EQ(runloop_source_set_events(older, RUNLOOP_READABLE), -EBADF);
    EXPECT_EQ(runloop_source_set_events(older, 0), 0);
    EXPECT_EQ(runloop_source_set_events(older, RUNLOOP_READABLE), -EBADF);
    for (int i = 0; i < 70; i++)
        poll_mode(MODE);
    EXPECT_EQ(old, 0);
    runloop_source *newer = add_reader(first[0], &new);
    handle_one(MODE);
    EXPECT_EQ(new, 1);
    expect_new_alone(&old, &new, second[1]);
    runloop_source_release(newer);
    runloop_source_release(older);
}

TEST("R73 two sources of a number that was used again twice are both left alone by the third file") {
    int pipes[3][2], counts[3] = {0};
    make_pipe(pipes[0]);
    runloop_source *sources[3] = {add_reader(pipes[0][0], &counts[0])};
    for (int i = 1; i < 3; i++) {
        reuse_number(pipes[0], pipes[i], true);
        sources[i] = add_reader(pipes[0][0], &counts[i]);
        expect_new_alone(&counts[i - 1], &counts[i], pipes[i][1]);
    }
    EXPECT_EQ(counts[0], 0);
    runloop_source_invalidate(sources[2]);
    runloop_source_invalidate(sources[0]);
    runloop_source_invalidate(sources[1]);
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
    for (int i = 0; i < 3; i++)
        runloop_source_release(sources[i]);
}

TEST("R73 a paused source joins a number that was used again, and reads the file when it goes on") {
    int first[2], second[2], old = 0, new = 0;
    make_pipe(first);
    runloop_source *older = add_reader(first[0], &old);
    poll_mode(MODE);
    reuse_number(first, second, true);
    runloop_source *newer = NULL;
    const runloop_descriptor_config config = {
        .descriptor = first[0], .events = RUNLOOP_READABLE, .ready = take_byte, .context.info = &new};
    REQUIRE(runloop_descriptor_source_create(&config, &newer) == 0 && runloop_source_set_events(newer, 0) == 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), newer, MODE), 0);
    REQUIRE(write(second[1], "x", 1) == 1);
    poll_mode(MODE);
    EXPECT_EQ(new, 0);
    EXPECT_EQ(runloop_source_set_events(newer, RUNLOOP_READABLE), 0);
    poll_mode(MODE);
    EXPECT_EQ(new, 1);
    expect_new_alone(&old, &new, second[1]);
    runloop_source_release(newer);
    runloop_source_release(older);
}

TEST("R69 R73 a source of a pipe joins the number that a masked counter had, and the counter reads no byte of it") {
    keep_mode(OTHER_MODE);
    int counter = make_eventfd(0), ends[2], new = 0;
    runloop_source *older = make_counter(counter, trace_ready, "counter");
    REQUIRE(runloop_add_source(runloop_current(), older, MODE) == 0);
    bump(counter);
    // Taken out of the set.
    EXPECT_EQ(run_for(OTHER_MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    make_pipe(ends);
    REQUIRE(dup2(ends[0], counter) == counter);
    close(ends[0]);
    runloop_source *newer = add_reader(counter, &new);
    REQUIRE(write(ends[1], "12345678", 8) == 8);
    for (int i = 0; i < 20; i++)
        poll_mode(MODE);
    EXPECT_EQ(new, 8);
    EXPECT_TRACE("");
    runloop_source_invalidate(older);
    runloop_source_invalidate(newer);
    runloop_source_release(older);
    runloop_source_release(newer);
}

/// The number of the loop's set, the only one that the process has.
static int number_of_set(void) {
    int found = -1;
    char path[64], target[64];
    for (int number = 3; number < 256; number++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        found = strcmp(target, "anon_inode:[eventpoll]") ? found : number;
    }
    return found;
}

TEST("R73 R120 sources go on when the number of the loop's set is that of another set, which knows none of them") {
    need_proc();
    int pipes[2][2], counts[2] = {0};
    runloop_source *sources[2];
    for (int i = 0; i < 2; i++) {
        make_pipe(pipes[i]);
        sources[i] = add_reader(pipes[i][0], &counts[i]);
    }
    poll_mode(MODE);
    for (int round = 0; round < 2; round++) {
        int number = number_of_set(), other = epoll_create1(EPOLL_CLOEXEC);
        REQUIRE(number > 0 && other > 0 && dup2(other, number) == number);
        close(other);
        // It is noticed when the first source asks for more, or for nothing.
        EXPECT_EQ(runloop_source_set_events(sources[0], round ? 0 : RUNLOOP_READABLE | RUNLOOP_WRITABLE), 0);
        EXPECT_EQ(runloop_source_set_events(sources[0], RUNLOOP_READABLE), 0);
        for (int i = 0; i < 2; i++)
            REQUIRE(write(pipes[i][1], "x", 1) == 1);
        for (int i = 0; i < 4; i++)
            poll_mode(MODE);
        EXPECT_EQ(counts[0], round + 1);
        EXPECT_EQ(counts[1], round + 1);
    }
    for (int i = 0; i < 2; i++) {
        runloop_source_invalidate(sources[i]);
        runloop_source_release(sources[i]);
    }
}
