// trace_json.c — recorded events as slices of time, in the trace event format that Perfetto and chrome://tracing read.

#ifdef __linux__
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "recorder.h"
#include "runloop_diagnostics.h"

/// What a slice is of. A run contains iterations, these sleeps and call-outs, and a call-out runs.
enum slice { SLICE_RUN, SLICE_ITERATION, SLICE_SLEEP, SLICE_CALLOUT };

struct timeline {
    FILE *text;
    bool has_events; ///< written for some loop before
    pid_t thread;
    enum slice *open; ///< as many as there are events, since each begins one at most
    int depth;
};

static void write_event(struct timeline *line, char phase, int64_t time_ns, const char *name, const char *category) {
    fprintf(line->text, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRId64 ".%03d",
            line->has_events ? ",\n" : "\n", phase, getpid(), line->thread, time_ns / 1000, (int)(time_ns % 1000));
    line->has_events = true;
    if (name) {
        fputs(",\"name\":", line->text);
        json_write_string(line->text, name);
        fprintf(line->text, ",\"cat\":\"%s\"", category);
    }
    fputc('}', line->text);
}

static void begin(struct timeline *line, enum slice slice, const struct event *event, const char *name,
                  const char *category) {
    line->open[line->depth++] = slice;
    write_event(line, 'B', event->time_ns, name, category);
}

/// Ends the innermost slice of a kind, with all that is still open in it. The beginning may be older than the recording.
static void end(struct timeline *line, enum slice slice, const struct event *event) {
    int place = line->depth;
    while (place > 0 && line->open[place - 1] != slice)
        place--;
    for (; place > 0 && line->depth >= place; line->depth--)
        write_event(line, 'E', event->time_ns, NULL, NULL);
}

static void begin_callout(struct timeline *line, const struct event *event, const char *kind) {
    char name[256];
    Dl_info function;
    const void *address = (const void *)(uintptr_t)event->line_or_function;
    if (event->point == RUNLOOP_TRACE_TASK && dladdr(address, &function) && function.dli_sname)
        snprintf(name, sizeof name, "%s %s", kind, function.dli_sname);
    else if (event->name[0] && event->line_or_function)
        snprintf(name, sizeof name, "%s %s:%" PRIu64, kind, event->name, event->line_or_function);
    else if (event->name[0])
        snprintf(name, sizeof name, "%s %s", kind, event->name);
    else
        snprintf(name, sizeof name, "%s", kind);
    begin(line, SLICE_CALLOUT, event, name, kind);
}

static void write_slice(struct timeline *line, const struct event *event) {
    char name[64];
    switch ((runloop_trace_point)event->point) {
    case RUNLOOP_TRACE_RUN_BEGIN:
        snprintf(name, sizeof name, "run %s", event->name);
        begin(line, SLICE_RUN, event, name, "run");
        break;
    case RUNLOOP_TRACE_RUN_END: end(line, SLICE_RUN, event); break;
    case RUNLOOP_TRACE_ITERATION:
        if (line->depth > 0 && line->open[line->depth - 1] == SLICE_ITERATION)
            end(line, SLICE_ITERATION, event);
        begin(line, SLICE_ITERATION, event, "iteration", "iteration");
        break;
    case RUNLOOP_TRACE_SLEEP: begin(line, SLICE_SLEEP, event, "sleep", "sleep"); break;
    case RUNLOOP_TRACE_WAKE: end(line, SLICE_SLEEP, event); break;
    case RUNLOOP_TRACE_TASKS: break;
    case RUNLOOP_TRACE_RETURN: end(line, SLICE_CALLOUT, event); break;
    default: begin_callout(line, event, callout_kind_names[callout_kind((runloop_trace_point)event->point)]); break;
    }
}

static void write_thread_name(struct timeline *line, const char *name) {
    fprintf(line->text, "%s{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":",
            line->has_events ? ",\n" : "\n", getpid(), line->thread);
    line->has_events = true;
    json_write_string(line->text, name);
    fputs("}}", line->text);
}

/// False when memory ran out.
static bool write_loop(FILE *text, runloop *loop, bool *has_events) {
    struct followed *followed = loop ? followed_copy(loop) : NULL;
    struct recorder *recorder =
        followed ? (struct recorder *)atomic_load_explicit(&followed->followers[ROLE_RECORDER], memory_order_acquire)
                 : NULL;
    bool failed = false;
    uint32_t count = 0;
    struct recorded_thread thread;
    struct event *events = recorder ? recorder_copy(recorder, &count, &thread, &failed) : NULL;
    struct timeline line = {.text = text, .has_events = *has_events};
    line.open = events ? malloc((count + 1) * sizeof *line.open) : NULL;
    failed |= events && !line.open;
    if (line.open) {
        line.thread = thread.id;
        write_thread_name(&line, thread.name);
        for (uint32_t i = 0; i < count; i++)
            write_slice(&line, &events[i]);
    }
    *has_events = line.has_events;
    free(line.open);
    free(events);
    if (followed)
        followed_release(followed);
    return !failed;
}

char *runloop_copy_trace(runloop *const *loops, size_t count) {
    if (!loops || count == 0)
        return NULL;
    char *trace = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&trace, &size);
    if (!text)
        return NULL;
    bool has_events = false, is_complete = true;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", text);
    for (size_t i = 0; i < count; i++)
        is_complete &= write_loop(text, loops[i], &has_events);
    fputs("\n]}\n", text);
    if (fclose(text) != 0 || !is_complete) {
        free(trace);
        return NULL;
    }
    return trace;
}
#endif // __linux__
