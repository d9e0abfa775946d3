// table.c — a sample as lines for people.

#include "table.h"

#include <stdarg.h>
#include <string.h>

#include "terminal.h"

static const struct loop_sample none;

/// What the loop had done by the last sample; nothing, if its statistics have been started since.
static const struct loop_sample *find(const struct sample *before, const struct loop_sample *loop) {
    for (int i = 0; i < before->count; i++) {
        const struct loop_sample *found = &before->loops[i];
        if (strcmp(found->address, loop->address) == 0 && found->elapsed_ns < loop->elapsed_ns &&
            found->iterations <= loop->iterations)
            return found;
    }
    return &none;
}

static void write_line(FILE *out, const char *line, int width, const char *end) {
    int length = (int)strnlen(line, (size_t)width);
    // No character of several bytes is cut in two.
    while (length > 0 && ((unsigned char)line[length] & 0xC0) == 0x80)
        length--;
    terminal_write(out, line, (size_t)length);
    fputs(end, out);
}

static void append(char *line, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// As much of it as fits: the numbers are what another process says, and may have three hundred digits.
static void append(char *line, size_t size, const char *format, ...) {
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, size - used, format, arguments);
    va_end(arguments);
}

static void write_loop(char *line, size_t size, const struct loop_sample *loop, const struct loop_sample *before) {
    *line = 0;
    append(line, size, "%-18s %-11s %-24.24s", loop->is_main ? "main" : loop->address, loop->state,
           *loop->mode ? loop->mode : "-");
    if (!loop->has_statistics) {
        append(line, size, " (no statistics)");
        return;
    }
    double elapsed_ns = loop->elapsed_ns - before->elapsed_ns, seconds = elapsed_ns / 1e9;
    double busy_ns = loop->running_ns - before->running_ns - (loop->asleep_ns - before->asleep_ns);
    double share = elapsed_ns > 0 ? busy_ns / elapsed_ns * 100 : 0;
    seconds = seconds > 0 ? seconds : 1;
    share = share < 0 ? 0 : share > 100 ? 100 : share;
    append(line, size, " %6.1f %9.1f %9.1f", share, (loop->iterations - before->iterations) / seconds,
           (loop->sleeps - before->sleeps) / seconds);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        append(line, size, " %9.1f", (loop->callouts[kind] - before->callouts[kind]) / seconds);
    append(line, size, " %9.3f  %s", loop->lateness_p99_ns / 1e6, loop->longest);
}

void table_write(FILE *out, const struct sample *sample, const struct sample *before, int width, int height,
                 const char *end) {
    char line[1024];
    snprintf(line, sizeof line, "%-18s %-11s %-24s %6s %9s %9s %9s %9s %9s %9s %9s %9s %9s  %s", "LOOP", "STATE",
             "MODE", "BUSY%", "ITER/S", "SLEEPS/S", "OBSERV/S", "TIMERS/S", "SIGNAL/S", "DESCR/S", "TASKS/S", "QUEUE/S",
             "LATE99/MS", "LONGEST");
    if (height > 0)
        write_line(out, line, width, end);
    for (int i = 0; i < sample->count && i + 1 < height; i++) {
        const struct loop_sample *loop = &sample->loops[i];
        write_loop(line, sizeof line, loop, find(before, loop));
        write_line(out, line, width, end);
    }
}
