// report_text.c — a report for people.

#ifdef __linux__
#include <inttypes.h>
#include <string.h>

#include "report.h"

static double seconds(int64_t duration_ns) {
    return (double)duration_ns / 1e9;
}

static void write_date(FILE *text, const struct finding *finding) {
    if (finding->interval_ns)
        fprintf(text, ", every %.6g s", seconds(finding->interval_ns));
    if (finding->wait_ns == RUNLOOP_NEVER)
        fprintf(text, ", due never");
    else if (finding->standing == STANDING_CALLED)
        return;
    else if (finding->is_due)
        fprintf(text, ", overdue for %.6f s", -seconds(finding->wait_ns));
    else if (finding->wait_ns <= 0)
        fprintf(text, ", due for %.6f s, within its tolerance", -seconds(finding->wait_ns));
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

static const char *const standings[] = {
    [STANDING_IDLE] = "",
    [STANDING_CALLED] = "  <- is being called",
    [STANDING_AWAKE] = "  <- keeps the loop from sleeping",
    [STANDING_BEHIND] = "  <- waits for the call-out that runs now",
    [STANDING_UNKNOWN] = "  <- waits to be called, or is being called",
    [STANDING_ELSEWHERE] = "  <- waits for a run in this mode",
    [STANDING_OUTSIDE] = "  <- waits for the end of the run inside",
    [STANDING_LOST] = "  <- is never called: its descriptor was closed, or stands for another file",
};

static void write_name(FILE *text, const struct finding *finding) {
    if (finding->name[0])
        fprintf(text, "“%s”", finding->name);
    else
        fprintf(text, "%p", finding->item);
}

static void write_item(FILE *text, const struct finding *finding) {
    fprintf(text, "    %s ", item_kind_names[finding->kind]);
    write_name(text, finding);
    if (finding->kind == RUNLOOP_ITEM_TIMER)
        write_date(text, finding);
    if (finding->descriptor >= 0)
        write_readiness(text, finding);
    if (finding->kind == RUNLOOP_ITEM_SIGNALLED_SOURCE && finding->is_due)
        fprintf(text, ", signalled");
    fprintf(text, "%s\n", standings[finding->standing]);
}

static void write_count(FILE *text, uint32_t count, const char *what, const char *separator) {
    fprintf(text, "%" PRIu32 " %s%s%s", count, what, count == 1 ? "" : "s", separator);
}

static void write_mode(FILE *text, const struct mode_findings *mode) {
    static const char *const roles[] = {
        [MODE_WITHOUT_LOOP] = "",
        [MODE_CURRENT] = ", the current one",
        [MODE_OUTER] = ", whose run waits for the one inside it",
        [MODE_OTHER] = ", in which nobody runs the loop",
    };
    fprintf(text, "  mode %s%s%s: ", mode->name, mode->is_common ? " (common)" : "", roles[mode->role]);
    if (mode->sources + mode->timers == 0 && !mode->serves_queue) {
        fprintf(text, "a run in it would end, unless there are tasks for it; ");
    } else {
        fprintf(text, "a run in it goes on because of %s", mode->serves_queue ? "the main dispatch queue, " : "");
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

static void write_statistics(FILE *text, const runloop_statistics *statistics) {
    double busy = statistics->elapsed_ns > 0
                      ? 100 * (double)(statistics->running_ns - statistics->asleep_ns) / (double)statistics->elapsed_ns
                      : 0;
    fprintf(text, "  in %.3f s: busy for %.1f%%, %" PRIu64 " iterations with %" PRIu64 " sleeps, call-outs:",
            seconds(statistics->elapsed_ns), busy, statistics->iterations, statistics->sleeps);
    for (int kind = 0; kind < RUNLOOP_CALLOUT_KINDS; kind++)
        fprintf(text, "%s %" PRIu64 " of %s", kind ? "," : "", statistics->callouts[kind], callout_kind_names[kind]);
    fprintf(text, "\n");
    write_histogram(text, "sleep", &statistics->sleep);
    write_histogram(text, "iteration", &statistics->iteration);
    write_histogram(text, "call-out", &statistics->callout);
    write_histogram(text, "lateness", &statistics->lateness);
    write_histogram(text, "post to run", &statistics->post_to_run);
    if (statistics->callout.count > 0)
        fprintf(text, "    the longest call-out was of a %s %s\n", callout_kind_names[statistics->longest_kind],
                statistics->longest_name);
}

//===-- what the loop does now ---------------------------------------------------------------------------------------===//

static void write_state(FILE *text, const struct findings *findings) {
    fprintf(text, "run loop %p%s: %s", (void *)findings->loop, findings->is_main ? " of the main thread" : "",
            findings->state_name);
    if (findings->mode)
        fprintf(text, " in mode %s", findings->mode);
    if (findings->state == STATE_SPINNING)
        fprintf(text, ", %" PRIu64 " iterations without a sleep", findings->awake_iterations);
    if (findings->mode && findings->state_ns)
        fprintf(text, ", for %.6f s", seconds(findings->state_ns));
    fputc('\n', text);
}

/// The innermost first.
static void write_callouts(FILE *text, const struct findings *findings) {
    for (int i = findings->callout_count - 1; i >= 0; i--) {
        const struct callout *callout = &findings->callouts[i];
        bool is_innermost = i == findings->callout_count - 1, is_now = is_innermost && callout->mode == findings->mode;
        char words[160];
        callout_write(callout, words, sizeof words);
        fprintf(text, "  %s %s in mode %s, for %.6f s\n", is_now ? "now in" : "inside", words,
                callout->mode ? callout->mode : "-", seconds(findings->now_ns - callout->begin_ns));
        if (is_innermost && findings->stack)
            fputs(findings->stack, text);
    }
}

static void write_queue(FILE *text, enum queue_state state) {
    static const char *const reasons[] = {
        [QUEUE_HAS_WORK] = "",
        [QUEUE_IS_INSIDE] = ", which waits: the loop runs inside such work, and serves it only when that has returned",
        [QUEUE_IS_ELSEWHERE] = ", which waits: only runs in common modes serve it",
    };
    if (state == QUEUE_IS_BEHIND)
        fputs("  the main dispatch queue performs several pieces of work: what is behind the one that the loop runs "
              "inside waits until it has returned\n",
              text);
    else if (state >= QUEUE_HAS_WORK)
        fprintf(text, "  the main dispatch queue has work%s\n", reasons[state]);
}

static void write_tasks(FILE *text, const char *tasks) {
    fputs("  tasks:\n", text);
    for (const char *line = tasks; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(text, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void report_write_text(FILE *text, const struct findings *findings) {
    write_state(text, findings);
    write_callouts(text, findings);
    write_queue(text, findings->queue);
    for (size_t i = 0; i < findings->mode_count; i++)
        write_mode(text, &findings->modes[i]);
    if (findings->longest) {
        fprintf(text, "  waits longest: the timer ");
        write_name(text, findings->longest);
        fprintf(text, " in mode %s, for %.6f s\n", findings->longest_mode->name, -seconds(findings->longest->wait_ns));
    }
    if (findings->tasks)
        write_tasks(text, findings->tasks);
    if (findings->has_statistics)
        write_statistics(text, &findings->statistics);
}
#endif // __linux__
