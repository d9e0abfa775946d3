// diagnostic_scenarios.c — statistics, recordings, reports, a watchdog, a published process.
#include "faults.h"

#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "runloop_diagnostics.h"

static _Atomic int calls;

static void sleep_a_little(void *info) {
    (void)info;
    usleep(3000);
    calls++;
}

static enum outcome some_statistics(void) {
    static runloop_statistics statistics;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_statistics_start());
    int error = runloop_post(loop, MODE, sleep_a_little, NULL, NULL);
    int result = error ? error : runloop_run_in_mode(MODE, 0, false);
    if (result >= 0)
        error = runloop_statistics_copy(loop, &statistics);
    runloop_statistics_stop();
    TRY_OF("runloop_run_in_mode", result);
    TRY_OF("runloop_statistics_copy", error);
    return outcome_of(statistics.callouts[RUNLOOP_CALLOUT_TASK] >= 1, 0);
}

static enum outcome a_recording(void) {
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_recorder_start(1000));
    int error = runloop_post(loop, MODE, sleep_a_little, NULL, NULL);
    int result = error ? error : runloop_run_in_mode(MODE, 0, false);
    const char *function = "runloop_copy_trace";
    char *trace = runloop_copy_trace(&loop, 1);
    runloop_recorder_stop();
    bool is_whole = trace && strstr(trace, "\"ph\"");
    bool is_there = trace;
    free(trace);
    TRY_OF("runloop_run_in_mode", result);
    return is_there ? outcome_of(is_whole, 0) : told_of(function, -ENOMEM);
}

static enum outcome a_report(void) {
    SOURCE source = NULL;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_source_create(&(runloop_source_config){.perform = NULL}, &source));
    runloop_source_set_name(source, "faults.c", 1);
    TRY(runloop_add_source(loop, source, MODE));
    const char *function = "runloop_copy_report";
    char *text = runloop_copy_report(loop, RUNLOOP_REPORT_TEXT);
    bool is_there = text, is_whole = text && strstr(text, "faults.c");
    free(text);
    return is_there ? outcome_of(is_whole, 0) : told_of(function, -ENOMEM);
}

static void count_hang(void *context, const runloop_diagnosis *diagnosis) {
    (void)context;
    calls += diagnosis->kind == RUNLOOP_DIAGNOSIS_HANG;
}

static void hang(void *info) {
    (void)info;
    int64_t end_ns = runloop_now_ns() + 3 * SECOND;
    while (calls == 0 && runloop_now_ns() < end_ns)
        usleep(1000);
}

static enum outcome a_watchdog(void) {
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    runloop_watchdog_config config = {.limit_ns = 20 * MS, .handler.report = count_hang};
    TRY(runloop_watchdog_start(&config));
    int error = runloop_post(loop, MODE, hang, NULL, NULL);
    int result = error ? error : runloop_run_in_mode(MODE, 0, false);
    runloop_watchdog_stop();
    TRY_OF("runloop_run_in_mode", result);
    return outcome_of(calls == 1, 0);
}

static enum outcome a_publication(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/runloop-faults-%d", (int)getpid());
    unlink(address.sun_path);
    begin_faults();
    GET_LOOP(loop);
    (void)loop;
    TRY(runloop_publish(address.sun_path));
    pause_faults();
    DESCRIPTOR client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_connected = connect(client, (struct sockaddr *)&address, sizeof address) == 0;
    begin_faults();
    // As runloop-top says of a process that does not answer.
    OWN(MUST(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 1}, sizeof(struct timeval)) == 0));
    char bytes[100];
    struct iovec whole = {bytes, sizeof bytes};
    ssize_t count = is_connected ? readv(client, &whole, 1) : -1;
    runloop_unpublish();
    unlink(address.sun_path);
    // A client that gets no answer sees the end of the connection, and asks again.
    if (count < 0)
        return told_of("client", -EAGAIN);
    return count == 0 ? told_of("client", -ECONNRESET) : outcome_of(count > 0, 0);
}

const struct scenario diagnostic_scenarios[] = {
    {"statistics", some_statistics}, {"a recording", a_recording},     {"a report", a_report},
    {"a watchdog", a_watchdog},      {"a publication", a_publication}, {0},
};
