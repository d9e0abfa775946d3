// signals_refused.c — a handler that the kernel does not want to install. Link with -Wl,--wrap=sigaction.
#include "linux_items.h"

/// Of this signal; 0: of none.
static int refused;

int __real_sigaction(int number, const struct sigaction *action, struct sigaction *former);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *former);

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *former) {
    if (action && number == refused) {
        errno = EPERM;
        return -1;
    }
    return __real_sigaction(number, action, former);
}

TEST("a signal whose handler can't be installed is an error that leaves nothing, and later it is caught") {
    struct tally tally = {0};
    runloop_current();
    int before = count_descriptors();
    runloop_signal *signal = NULL;
    refused = SIGUSR1;
    const runloop_signal_config config = {.context.info = &tally, .number = SIGUSR1, .receive = tally_arrival};
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(runloop_signal_create(&config, &signal), -EPERM);
    EXPECT_EQ(count_descriptors(), before);
    refused = 0;
    signal = add_signal(MODE, SIGUSR1, &tally);
    raise(SIGUSR1);
    RUN_UNTIL(MODE, tally.calls > 0);
    EXPECT_EQ(tally.arrivals, 1);
    end_source(signal);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
}

TEST("a shutdown that can't have the last of its signals gives the others back") {
    const int32_t numbers[] = {SIGHUP, SIGINT, SIGTERM};
    const runloop_shutdown_config config = {.numbers = numbers, .count = 3, .limit_ns = SECOND};
    runloop_shutdown *shutdown = NULL;
    // Under nohup, SIGHUP is ignored, and stays so.
    void (*former[3])(int);
    for (int i = 0; i < 3; i++)
        former[i] = action_of(numbers[i]).sa_handler;
    runloop_current();
    int before = count_descriptors();
    refused = SIGTERM;
    EXPECT_EQ(runloop_shutdown_create(&config, &shutdown), -EPERM);
    EXPECT_EQ(count_descriptors(), before);
    for (int i = 0; i < 3; i++)
        EXPECT(action_of(numbers[i]).sa_handler == former[i]);
    // One that somebody else has is still theirs.
    struct tally tally = {0};
    runloop_signal *other = add_signal(MODE, SIGINT, &tally);
    EXPECT_EQ(runloop_shutdown_create(&config, &shutdown), -EPERM);
    raise(SIGINT);
    RUN_UNTIL(MODE, tally.calls > 0);
    EXPECT_EQ(tally.arrivals, 1);
    end_source(other);
    EXPECT(action_of(SIGINT).sa_handler == SIG_DFL);
}
