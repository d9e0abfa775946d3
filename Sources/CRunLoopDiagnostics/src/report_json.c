// report_json.c — a report for programs: one object on one line.

#ifdef __linux__
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "report.h"

static const char *json_bool(bool value) {
    return value ? "true" : "false";
}

static void write_item(FILE *text, const struct finding *finding) {
    fprintf(text, "{\"kind\":\"%s\",\"name\":", item_kind_names[finding->kind]);
    json_write_string(text, finding->name);
    fprintf(text, ",\"isDue\":%s,\"isCalled\":%s", json_bool(finding->is_due),
            json_bool(finding->standing == STANDING_CALLED));
    if (finding->kind == RUNLOOP_ITEM_TIMER && finding->wait_ns != RUNLOOP_NEVER)
        fprintf(text, ",\"dueInNs\":%" PRId64, finding->wait_ns);
    if (finding->kind == RUNLOOP_ITEM_TIMER)
        fprintf(text, ",\"intervalNs\":%" PRId64, finding->interval_ns);
    if (finding->descriptor >= 0)
        fprintf(text, ",\"descriptor\":%d,\"events\":%" PRIu32 ",\"ready\":%" PRIu32, finding->descriptor,
                finding->events, finding->ready);
    if (finding->is_lost)
        fputs(",\"isLost\":true", text);
    fputc('}', text);
}

static void write_mode(FILE *text, const struct mode_findings *mode) {
    fputs("{\"name\":", text);
    json_write_string(text, mode->name);
    fprintf(text, ",\"isCommon\":%s,\"isCurrent\":%s,\"items\":[", json_bool(mode->is_common),
            json_bool(mode->role == MODE_CURRENT));
    for (uint32_t i = 0; i < mode->count; i++) {
        if (i > 0)
            fputc(',', text);
        write_item(text, &mode->items[i]);
    }
    fputs("]}", text);
}

static void write_histogram(FILE *text, const char *name, const runloop_histogram *histogram) {
    fprintf(text,
            ",\"%s\":{\"count\":%" PRIu64 ",\"sumNs\":%" PRId64 ",\"p50Ns\":%" PRId64 ",\"p99Ns\":%" PRId64
            ",\"maxNs\":%" PRId64 "}",
            name, histogram->count, histogram->sum_ns, runloop_histogram_quantile_ns(histogram, 0.5),
            runloop_histogram_quantile_ns(histogram, 0.99), histogram->max_ns);
}

static void write_statistics(FILE *text, const runloop_statistics *statistics) {
    fprintf(text,
            ",\"statistics\":{\"elapsedNs\":%" PRId64 ",\"runningNs\":%" PRId64 ",\"asleepNs\":%" PRId64
            ",\"runs\":%" PRIu64 ",\"iterations\":%" PRIu64 ",\"sleeps\":%" PRIu64 ",\"awakeIterations\":%" PRIu64
            ",\"callouts\":{",
            statistics->elapsed_ns, statistics->running_ns, statistics->asleep_ns, statistics->runs,
            statistics->iterations, statistics->sleeps, statistics->awake_iterations);
    for (int kind = 0; kind < RUNLOOP_CALLOUT_KINDS; kind++)
        fprintf(text, "%s\"%s\":%" PRIu64, kind ? "," : "", callout_kind_names[kind], statistics->callouts[kind]);
    fputc('}', text);
    write_histogram(text, "sleep", &statistics->sleep);
    write_histogram(text, "iteration", &statistics->iteration);
    write_histogram(text, "callout", &statistics->callout);
    write_histogram(text, "lateness", &statistics->lateness);
    write_histogram(text, "postToRun", &statistics->post_to_run);
    fputs(",\"longest\":", text);
    json_write_string(text, statistics->longest_name);
    fputc('}', text);
}

static void write_callouts(FILE *text, const struct findings *findings) {
    fputs(",\"callouts\":[", text);
    for (int i = 0; i < findings->callout_count; i++) {
        const struct callout *callout = &findings->callouts[i];
        char name[96];
        callout_write_name(callout, name, sizeof name);
        fprintf(text, "%s{\"kind\":\"%s\",\"name\":", i > 0 ? "," : "", callout_kind_names[callout->kind]);
        json_write_string(text, name);
        fputs(",\"mode\":", text);
        json_write_string(text, callout->mode ? callout->mode : "");
        fprintf(text, ",\"forNs\":%" PRId64 "}", findings->now_ns - callout->begin_ns);
    }
    fputc(']', text);
}

static void write_tasks(FILE *text, const char *tasks) {
    fputs(",\"tasks\":[", text);
    for (const char *next = tasks; *next;) {
        size_t length = strcspn(next, "\n");
        fputs(next == tasks ? "" : ",", text);
        json_write_text(text, next, length);
        next += length + (next[length] == '\n');
    }
    fputc(']', text);
}

void report_write_json(FILE *text, const struct findings *findings) {
    static const char *const queue_states[] = {"none",        "idle", "has work", "waits inside", "waits elsewhere",
                                               "waits behind"};
    fprintf(text, "{\"loop\":\"%p\",\"isMain\":%s,\"state\":\"%s\",\"forNs\":%" PRId64 ",\"awakeIterations\":%" PRIu64,
            (void *)findings->loop, json_bool(findings->is_main), findings->state_name, findings->state_ns,
            findings->awake_iterations);
    if (findings->mode) {
        fputs(",\"mode\":", text);
        json_write_string(text, findings->mode);
    }
    write_callouts(text, findings);
    if (findings->queue != QUEUE_NONE)
        fprintf(text, ",\"mainQueue\":\"%s\"", queue_states[findings->queue]);
    fputs(",\"modes\":[", text);
    for (size_t i = 0; i < findings->mode_count; i++) {
        if (i > 0)
            fputc(',', text);
        write_mode(text, &findings->modes[i]);
    }
    fputc(']', text);
    if (findings->longest) {
        fputs(",\"waitsLongest\":", text);
        write_item(text, findings->longest);
    }
    if (findings->tasks)
        write_tasks(text, findings->tasks);
    if (findings->has_statistics)
        write_statistics(text, &findings->statistics);
    fputc('}', text);
}
#endif // __linux__
