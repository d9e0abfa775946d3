// faults.h — what scenarios in C are made of.
#ifndef RUNLOOP_FAULTS_H
#define RUNLOOP_FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runloop.h"
#include "runloop_host.h"

#include "../injector.h"

enum { MS = 1000000 };
#define SECOND INT64_C(1000000000)

extern const struct scenario core_scenarios[], linux_scenarios[], file_scenarios[], stream_scenarios[],
    message_scenarios[], diagnostic_scenarios[], cf_scenarios[], denied_scenarios[];

/// What the scenario does itself in between does not fail.
#define OWN(...) (pause_faults(), __VA_ARGS__, begin_faults())

/// The call that failed has told this error.
static inline enum outcome told_by_call(const char *call, int error) {
    return injector_fits(error) ? told_of(call, error) : LOST;
}

//===-- words of scenarios -------------------------------------------------------------------------------------------===//

#define MODE "faults"

/// A call that answers a negative errno value, or else succeeded.
#define TRY(call) TRY_OF(#call, call)
/// The same of an expression that does not name the function.
#define TRY_OF(function, call)                                                                                         \
    do {                                                                                                               \
        long try_result = (long)(call);                                                                                \
        if (try_result < 0)                                                                                            \
            return told_by_call(function, (int)try_result);                                                            \
    } while (0)

/// Runs the mode until the condition holds, for three seconds at most. A run may give an error.
#define RUN_UNTIL(condition)                                                                                           \
    do {                                                                                                               \
        int64_t run_end = runloop_now_ns() + 3 * SECOND;                                                               \
        while (!(condition) && runloop_now_ns() < run_end) {                                                           \
            int run_result = runloop_run_in_mode(MODE, 20 * MS, true);                                                 \
            if (run_result < 0)                                                                                        \
                return told_of("runloop_run_in_mode", run_result);                                                     \
            if (run_result == RUNLOOP_RESULT_FINISHED)                                                                 \
                usleep(1000);                                                                                          \
        }                                                                                                              \
    } while (0)

/// As expected, or told late by a call-out of the structure, or lost.
static inline enum outcome outcome_or(bool is_as_expected, const char *structure, int error) {
    return is_as_expected ? AS_EXPECTED : error ? told_of(structure, error) : LOST;
}
static inline enum outcome outcome_of(bool is_as_expected, int error) {
    return outcome_or(is_as_expected, "", error);
}

static inline void end_source(runloop_source **source) {
    runloop_source_invalidate(*source);
    runloop_source_release(*source);
}
static inline void end_timer(runloop_timer **timer) {
    runloop_timer_invalidate(*timer);
    runloop_timer_release(*timer);
}
static inline void end_observer(runloop_observer **observer) {
    runloop_observer_invalidate(*observer);
    runloop_observer_release(*observer);
}
static inline void end_descriptor(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
}
// Ended when the scenario is over, however it is.
#define SOURCE __attribute__((cleanup(end_source))) runloop_source *
#define TIMER __attribute__((cleanup(end_timer))) runloop_timer *
#define OBSERVER __attribute__((cleanup(end_observer))) runloop_observer *
#define DESCRIPTOR __attribute__((cleanup(end_descriptor))) int

/// The thread's loop. That there is none is told by NULL alone.
#define GET_LOOP(loop)                                                                                                 \
    runloop *loop = runloop_current();                                                                                 \
    if (!loop)                                                                                                         \
    return told_of("runloop_current", -ENOMEM)

static inline void count_call(void *count) {
    ++*(_Atomic int *)count;
}

static inline void note_fire(runloop_timer *timer, void *info) {
    (void)timer;
    *(bool *)info = true;
}

/// A timer fires, whatever came before; and a loop that had no descriptor for timers has one from now on.
static inline bool fires(void) {
    bool has_fired = false;
    runloop_timer *timer = NULL;
    runloop_timer_config config = {{.info = &has_fired}, .fire_ns = runloop_now_ns() + MS, .fire = note_fire};
    MUST(runloop_timer_create(&config, &timer) == 0 && runloop_add_timer(runloop_current(), timer, "after") == 0);
    runloop_run_in_mode("after", 10 * SECOND, false);
    end_timer(&timer);
    return has_fired;
}

/// Use whatever the core has.
enum outcome everything(void), everything_until_memory_runs_out(void);

#endif // RUNLOOP_FAULTS_H
