// signals_handler.c — what the handler of a signal receives and leaves as it was, and a source that is called for something else than an arrival.
#include <time.h>

#include "linux_items.h"

TEST("a signal leaves errno as it was, also one that finds the pipe full") {
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &tally);
    // More than a pipe has space for, of which the rest is counted.
    enum { MANY = 5000, SOME_ERROR = 77 };
    for (int i = 0; i < MANY; i++) {
        errno = SOME_ERROR;
        REQUIRE(raise(SIGUSR1) == 0);
        EXPECT_EQ(errno, SOME_ERROR);
    }
    RUN_UNTIL(MODE, tally.arrivals >= MANY);
    EXPECT_EQ(tally.arrivals, MANY);
    end_source(signal);
}

TEST("a source that is signalled or woken by hand has no arrival to tell") {
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &tally);
    EXPECT_EQ(runloop_source_signal(signal), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(runloop_source_wake(signal), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(tally.calls, 0);
    end_source(signal);
}

/// A timer of the kernel's that sends the signal with a value.
static timer_t start_timer(int number, int value) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number, .sigev_value = {.sival_int = value}};
    timer_t timer;
    const struct itimerspec soon = {.it_value.tv_nsec = MS};
    REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
    return timer;
}

TEST("an arrival has the value of a timer and no sender, and the sender where a thread has sent it to another") {
    struct tally timed = {0}, sent = {0};
    runloop_signal *signals[] = {add_signal(MODE, SIGRTMIN, &timed), add_signal(MODE, SIGUSR1, &sent)};
    // The number of the timer, which the kernel has in the place of a sender, is not 0 for each of them.
    timer_t timers[2];
    for (int i = 0; i < 2; i++) {
        timers[i] = start_timer(SIGRTMIN, 42);
        RUN_UNTIL(MODE, timed.calls == (uint64_t)i + 1);
    }
    EXPECT_EQ((int)timed.last.value, 42);
    EXPECT_EQ(timed.last.code, SI_TIMER);
    EXPECT_EQ(timed.last.pid, 0);
    REQUIRE(pthread_kill(pthread_self(), SIGUSR1) == 0);
    RUN_UNTIL(MODE, sent.calls == 1);
    EXPECT_EQ(sent.last.code, SI_TKILL);
    EXPECT_EQ(sent.last.pid, getpid());
    for (int i = 0; i < 2; i++) {
        timer_delete(timers[i]);
        end_source(signals[i]);
    }
}

TEST("the last signal that there is can be caught") {
    need_no_emulator("The emulator keeps the last signal for itself.");
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGRTMAX, &tally);
    EXPECT_EQ(SIGRTMAX, 64);
    raise(SIGRTMAX);
    RUN_UNTIL(MODE, tally.calls > 0);
    EXPECT_EQ(tally.arrivals, 1);
    end_source(signal);
}

static void end_by_harmless_signals(void) {
    static const int harmless[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, 0, -1, 65};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        EXPECT_EQ(runloop_end_process_by_signal(harmless[i]), -EINVAL);
    runloop_end_process_by_signal(64);
}

TEST("a process does not end by a signal that stops it or does nothing by default, and does by the last one that there "
     "is") {
    need_no_emulator("The emulator keeps the last signal for itself.");
    int status = status_of_child(end_by_harmless_signals);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == 64);
}
