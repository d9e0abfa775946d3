// Traces, and whether a thread is asleep.
#include "trace.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trace *_Atomic trace_if_hung;

void trace_open(struct trace *trace) {
    memset(trace, 0, sizeof *trace);
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&trace->turn, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

void trace_close(struct trace *trace) {
    pthread_mutex_destroy(&trace->turn);
    free(trace->text);
}

void trace_line(struct trace *trace, const char *format, ...) {
    char line[512];
    pthread_mutex_lock(&trace->turn);
    int used = snprintf(line, sizeof line, "%*s%s", 2 * (trace->depth < 60 ? trace->depth : 60), "",
                        trace->prefix ? trace->prefix : "");
    va_list arguments;
    va_start(arguments, format);
    used += vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    va_end(arguments);
    size_t length = (size_t)used < sizeof line - 1 ? (size_t)used : sizeof line - 2;
    line[length++] = '\n';
    if (trace->length + length + 1 > trace->capacity) {
        trace->capacity = 2 * trace->capacity + 4096;
        trace->text = realloc(trace->text, trace->capacity);
        if (trace->text == NULL)
            abort();
    }
    memcpy(trace->text + trace->length, line, length);
    trace->length += length;
    trace->text[trace->length] = 0;
    trace->lines++;
    pthread_mutex_unlock(&trace->turn);
}

void trace_wait_for_turn(struct trace *trace) {
    pthread_mutex_lock(&trace->turn);
    pthread_mutex_unlock(&trace->turn);
}

void trace_begin_sorted(struct trace *trace) {
    pthread_mutex_lock(&trace->turn);
    if (trace->sorting++ == 0)
        trace->sorted_start = trace->length;
    pthread_mutex_unlock(&trace->turn);
}

static int compare_lines(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void sort_lines(char *text) {
    char *copy = strdup(text);
    char *lines[256];
    size_t count = 0;
    char *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line && count < 256; line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++)
        text += sprintf(text, "%s\n", lines[i]);
    free(copy);
}

void trace_end_sorted(struct trace *trace) {
    pthread_mutex_lock(&trace->turn);
    if (--trace->sorting == 0 && trace->text != NULL && trace->length > trace->sorted_start)
        sort_lines(trace->text + trace->sorted_start);
    pthread_mutex_unlock(&trace->turn);
}

bool thread_is_asleep(pid_t thread) {
    char path[64];
    char text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return false;
    text[length] = 0;
    // The state follows the name, which is in parentheses and may contain anything.
    const char *state = strrchr(text, ')');
    return state != NULL && state[1] == ' ' && state[2] == 'S';
}
