// report_text.c — a report for people.

#include <inttypes.h>

#include "kind_names.h"
#include "report.h"

static double seconds(int64_t duration_ns) {
    return (double)duration_ns / 1e9;
}

static void write_date(FILE *text, const struct finding *finding) {
    if (finding->interval_ns)
        fprintf(text, ", every %.6g s", seconds(finding->interval_ns));
    if (finding->wait_ns == RUNLOOP_NEVER)
        fprintf(text, ", due never");
    else if (finding->is_due)
        fprintf(text, ", overdue for %.6f s", seconds(-finding->wait_ns));
    else
        fprintf(text, ", due in %.6f s", seconds(finding->wait_ns));
}

static void write_readiness(FILE *text, const struct finding *finding) {
    static const struct {
        runloop_readiness bit;
        const char *name;
    } names[] = {{RUNLOOP_READABLE, "readable"},
                 {RUNLOOP_PRIORITY, "urgent"},
                 {RUNLOOP_WRITABLE, "writable"},
                 {RUNLOOP_ERROR, "in error"},
                 {RUNLOOP_HANG_UP, "hung up"}};
    fprintf(text, ", descriptor %d", finding->descriptor);
    if (!finding->events)
        fprintf(text, ", paused");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (finding->ready & names[i].bit)
            fprintf(text, ", %s", names[i].name);
    }
}

static void write_item(FILE *text, const struct finding *finding) {
    fprintf(text, "    %s ", item_kind_names[finding->kind]);
    if (finding->name[0])
        fprintf(text, "“%s”", finding->name);
    else
        fprintf(text, "%p", finding->item);
    if (finding->kind == RUNLOOP_ITEM_TIMER)
        write_date(text, finding);
    if (finding->descriptor >= 0)
        write_readiness(text, finding);
    if (finding->kind == RUNLOOP_ITEM_SIGNALLED_SOURCE && finding->is_due)
        fprintf(text, ", signalled");
    fprintf(text, "%s\n", finding->is_due ? "  <- keeps the loop from sleeping" : "");
}

static void write_count(FILE *text, uint32_t count, const char *what, const char *separator) {
    fprintf(text, "%" PRIu32 " %s%s%s", count, what, count == 1 ? "" : "s", separator);
}

static void write_mode(FILE *text, const struct mode_findings *mode) {
    fprintf(text, "  mode %s%s%s: ", mode->name, mode->is_common ? " (common)" : "",
            mode->is_current ? ", the current one" : "");
    if (mode->sources + mode->timers == 0) {
        fprintf(text, "a run in it would end, unless there are tasks for it; ");
    } else {
        fprintf(text, "alive because of ");
        write_count(text, mode->sources, "source", " and ");
        write_count(text, mode->timers, "timer", "; ");
    }
    write_count(text, mode->observers, "observer", "\n");
    for (uint32_t i = 0; i < mode->count; i++) {
        if (mode->items[i].kind != RUNLOOP_ITEM_OBSERVER)
            write_item(text, &mode->items[i]);
    }
}

static void write_histogram(FILE *text, const char *name, const runloop_histogram *histogram) {
    if (histogram->count == 0)
        return;
    fprintf(text, "    %-12s %8" PRIu64 ": half at most %.6f s, 99%% at most %.6f s, longest %.6f s\n", name,
            histogram->count, seconds(runloop_histogram_quantile_ns(histogram, 0.5)),
            seconds(runloop_histogram_quantile_ns(histogram, 0.99)), seconds(histogram->max_ns));
}

static void write_statistics(FILE *text, const runloop_statistics *counted) {
    double busy = counted->elapsed_ns > 0
                      ? 100 * (double)(counted->running_ns - counted->asleep_ns) / (double)counted->elapsed_ns
                      : 0;
    fprintf(text, "  in %.3f s: busy for %.1f%%, %" PRIu64 " iterations, %" PRIu64 " sleeps, call-outs:",
            seconds(counted->elapsed_ns), busy, counted->iterations, counted->sleeps);
    for (int kind = 0; kind < RUNLOOP_CALLOUT_KINDS; kind++)
        fprintf(text, "%s %" PRIu64 " of %s", kind ? "," : "", counted->callouts[kind], callout_kind_names[kind]);
    fprintf(text, "\n");
    write_histogram(text, "sleep", &counted->sleep);
    write_histogram(text, "iteration", &counted->iteration);
    write_histogram(text, "call-out", &counted->callout);
    write_histogram(text, "lateness", &counted->lateness);
    write_histogram(text, "post to run", &counted->post_to_run);
    if (counted->callout.count > 0)
        fprintf(text, "    the longest call-out was of a %s %s\n", callout_kind_names[counted->longest_kind],
                counted->longest_name);
}

void report_write_text(FILE *text, const struct findings *findings) {
    fprintf(text, "run loop %p%s: %s\n", (void *)findings->loop, findings->is_main ? " of the main thread" : "",
            findings->is_waiting ? "asleep" : "awake, or not running");
    for (size_t i = 0; i < findings->mode_count; i++)
        write_mode(text, &findings->modes[i]);
    if (findings->longest)
        fprintf(text, "  waits longest: the timer “%s”, for %.6f s\n", findings->longest->name,
                seconds(-findings->longest->wait_ns));
    if (findings->has_statistics)
        write_statistics(text, &findings->statistics);
}
