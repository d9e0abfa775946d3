// broken_pipe.h — an output whose pipe nobody reads any more, on kernels with and without RWF_NOSIGNAL.
#ifndef RUNLOOP_TEST_BROKEN_PIPE_H
#define RUNLOOP_TEST_BROKEN_PIPE_H

#include "linux_items.h"

static inline void trace_signal(int number) {
    (void)number;
    trace("SIGPIPE");
}

/// Writes to one, without and with a signal that is pending before.
static inline void expect_no_signal_of_broken_pipes(void) {
    struct sigaction action = {.sa_handler = trace_signal};
    sigaction(SIGPIPE, &action, NULL);
    sigset_t broken, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    for (int was_pending = 0; was_pending < 2; was_pending++) {
        int ends[2];
        REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
        const runloop_output_config config = {.descriptor = ends[1], .limit = 100};
        runloop_output *output = NULL;
        REQUIRE(runloop_output_create(&config, &output) == 0);
        close(ends[0]);
        if (was_pending) {
            pthread_sigmask(SIG_BLOCK, &broken, NULL);
            raise(SIGPIPE);
        }
        EXPECT_EQ(runloop_output_write(output, "x", 1), -EPIPE);
        EXPECT_TRACE("");
        sigpending(&pending);
        EXPECT_EQ(sigismember(&pending, SIGPIPE), was_pending);
        runloop_source_release(output);
        close(ends[1]);
    }
    pthread_sigmask(SIG_UNBLOCK, &broken, NULL);
    EXPECT_TRACE("SIGPIPE");
}

#endif
