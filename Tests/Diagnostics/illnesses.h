// illnesses.h — what a watchdog and a report say of a loop, word by word, with # for each number.
#ifndef RUNLOOP_TEST_ILLNESSES_H
#define RUNLOOP_TEST_ILLNESSES_H

#include <ctype.h>

#include "../Core/items.h"
#include "runloop_diagnostics.h"

/// In place, and of each address what comes behind 0x. A point between digits belongs to the number.
static inline char *mask_numbers(char *text) {
    char *to = text;
    for (const char *from = text; *from;) {
        bool is_address = from[0] == '0' && from[1] == 'x';
        if (!isdigit((unsigned char)*from)) {
            *to++ = *from++;
            continue;
        }
        from += is_address ? 2 : 0;
        while (is_address ? isxdigit((unsigned char)*from)
                          : isdigit((unsigned char)from[0]) || (from[0] == '.' && isdigit((unsigned char)from[1])))
            from++;
        if (is_address) {
            *to++ = '0';
            *to++ = 'x';
        }
        *to++ = '#';
    }
    *to = 0;
    return text;
}

/// Waits until the report is this text, which it may not be at each moment.
static inline void expect_report(runloop *loop, const char *expected) {
    char *report = NULL;
    int64_t begin_ns = runloop_get_now_ns(NULL);
    do {
        free(report);
        report = runloop_copy_report(loop, RUNLOOP_REPORT_TEXT);
        REQUIRE(report);
    } while (strcmp(mask_numbers(report), expected) != 0 && runloop_get_now_ns(NULL) - begin_ns < 10 * SECOND &&
             usleep(1000) == 0);
    EXPECT_TEXT(report, expected);
    free(report);
}

/// What the watchdog has said, and what the report on the loop has to be when it says so.
static char sentence[1024];
static _Atomic int diagnoses;
static const char *expected_report;

static inline void keep_diagnosis(void *context, const runloop_diagnosis *diagnosis) {
    (void)context;
    if (diagnosis->kind == RUNLOOP_DIAGNOSIS_HANG_ENDED)
        return;
    expect_report(diagnosis->loop, expected_report);
    snprintf(sentence, sizeof sentence, "%s", diagnosis->sentence);
    mask_numbers(sentence);
    diagnoses++;
    runloop_stop(diagnosis->loop);
}

static inline void watch_for_illness(const char *report) {
    expected_report = report;
    runloop_watchdog_config config = {
        .limit_ns = 500 * MS, .spin_limit = 5000, .signal = -1, .handler.report = keep_diagnosis};
    REQUIRE(runloop_watchdog_start(&config) == 0);
}

static inline runloop_timer *add_named_timer(const char *name, const char *mode, int64_t interval_ns,
                                             void (*fire)(runloop_timer *, void *)) {
    runloop_timer *timer = make_timer(runloop_now_ns() + interval_ns, interval_ns, fire, "");
    runloop_timer_set_name(timer, name, 0);
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer, mode), 0);
    return timer;
}

static inline void do_nothing(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
}

/// For an illness that the watchdog does not notice: a thread that asks for the report.
static inline void *report_and_stop(void *loop) {
    expect_report(loop, expected_report);
    // Twice as long as it would take the watchdog.
    pass_time(SECOND);
    runloop_stop(loop);
    return NULL;
}

static inline void run_for_report(const char *mode, const char *report) {
    pthread_t reporter;
    expected_report = report;
    REQUIRE(pthread_create(&reporter, NULL, report_and_stop, runloop_current()) == 0);
    EXPECT_EQ(run_for(mode, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    pthread_join(reporter, NULL);
    EXPECT_EQ(diagnoses, 0);
}

#endif // RUNLOOP_TEST_ILLNESSES_H
