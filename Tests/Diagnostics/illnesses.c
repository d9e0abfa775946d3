// illnesses.c — programs that hang, spin, or wait for a timer in a mode that nobody runs: what is said of them, word by word. The article
// Troubleshooting has these texts.
#include <fcntl.h>
#include <poll.h>

#include "illnesses.h"

#define DEFAULT_MODE_IS_EMPTY                                                                                          \
    "  mode kCFRunLoopDefaultMode (common), in which nobody runs the loop: a run in it would end, unless there are "   \
    "tasks for it; # observers\n"

static void hang(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    WAIT_UNTIL(diagnoses == 1);
}

TEST("a hang: the report and the watchdog name what hangs, and not who waits for it") {
    watch_for_illness(
        "run loop 0x# of the main thread: busy in mode test, for # s\n"
        "  now in the timer “save documents” in mode test, for # s\n" DEFAULT_MODE_IS_EMPTY
        "  mode test, the current one: a run in it goes on because of # sources and # timers; # observers\n"
        "    timer “heartbeat”, every # s, overdue for # s  <- waits for the call-out that runs now\n"
        "    timer “save documents”, every # s  <- is being called\n"
        "  waits longest: the timer “heartbeat” in mode test, for # s\n");
    add_named_timer("heartbeat", MODE, 16 * MS, do_nothing);
    add_named_timer("save documents", MODE, 100 * MS, hang);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TEXT(sentence, "run loop 0x# of the main thread has not come back for # s: it is in the timer “save "
                          "documents”.");
}

static void leave_it(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
}

TEST("a spin: the report says that the loop spins and why, the watchdog whose calls it makes, beside a timer") {
    watch_for_illness(
        "run loop 0x# of the main thread: spinning in mode test, # iterations without a sleep, for # "
        "s\n" DEFAULT_MODE_IS_EMPTY
        "  mode test, the current one: a run in it goes on because of # source and # timer; # observers\n"
        "    descriptor source “control socket”, descriptor #, readable  <- keeps the loop from sleeping\n"
        "    timer “heartbeat”, every # s, due in # s\n");
    runloop_source *source = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, leave_it, NULL);
    runloop_source_set_name(source, "control socket", 0);
    add_named_timer("heartbeat", MODE, 16 * MS, do_nothing);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TEXT(sentence, "run loop 0x# of the main thread has made # iterations in # s without a sleep: # % of its "
                          "calls were of the descriptor source “control socket”, whose descriptor # is ready again "
                          "and again.");
}

TEST("a timer in a mode that nobody runs: the report says so, and does not blame it; to a watchdog nothing is wrong") {
    watch_for_illness(NULL);
    add_named_timer("heartbeat", MODE, 100 * MS, do_nothing);
    add_named_timer("poll server", "network", 100 * MS, do_nothing);
    run_for_report(
        MODE, "run loop 0x# of the main thread: asleep in mode test, for # s\n" DEFAULT_MODE_IS_EMPTY
              "  mode test, the current one: a run in it goes on because of # sources and # timer; # observers\n"
              "    timer “heartbeat”, every # s, due in # s\n"
              "  mode network, in which nobody runs the loop: a run in it goes on because of # sources and # timer; # "
              "observers\n"
              "    timer “poll server”, every # s, overdue for # s  <- waits for a run in this mode\n"
              "  waits longest: the timer “poll server” in mode network, for # s\n");
}

static void *stop_when_noted(void *descriptor) {
    struct pollfd note = {.fd = *(int *)descriptor, .events = POLLIN};
    EXPECT_EQ(poll(&note, 1, 60000), 1);
    runloop_stop(runloop_main());
    return NULL;
}

TEST("a descriptor that was closed under its source: the report says so, and the watchdog has the line written") {
    int ends[2], saved = dup(STDERR_FILENO), number = make_eventfd(0);
    watch_for_illness(NULL);
    runloop_source *source = add_descriptor(MODE, number, RUNLOOP_READABLE, leave_it, NULL);
    runloop_source_set_name(source, "modem", 0);
    REQUIRE(close(number) == 0 && open("/dev/zero", O_RDONLY | O_CLOEXEC) == number);
    make_pipe(ends);
    REQUIRE(dup2(ends[1], STDERR_FILENO) >= 0);
    pthread_t stopper;
    REQUIRE(pthread_create(&stopper, NULL, stop_when_noted, &ends[0]) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    pthread_join(stopper, NULL);
    REQUIRE(dup2(saved, STDERR_FILENO) >= 0);
    char text[1024];
    ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    EXPECT(strstr(text, "was closed while the source “modem” watched it"));
    run_for_report(
        MODE,
        "run loop 0x# of the main thread: asleep in mode test, for # s\n" DEFAULT_MODE_IS_EMPTY
        "  mode test, the current one: a run in it goes on because of # source and # timers; # observers\n"
        "    descriptor source “modem”, descriptor #  <- is never called: its descriptor was closed, or stands for "
        "another file\n");
}
