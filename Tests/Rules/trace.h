// A trace: what happened in a program, one event a line, indented by the depth of nested runs.
#ifndef CONFORMANCE_TRACE_H
#define CONFORMANCE_TRACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct trace {
    // Held by a helper thread while it acts, so that its output precedes that of the loop's reaction.
    pthread_mutex_t turn;
    char *text;
    size_t length;
    size_t capacity;
    size_t lines;
    int depth;           // of nested runs; the loop's thread changes it
    const char *prefix;  // of each line, or NULL
    size_t sorted_start; // where the lines to be sorted begin
    int sorting;         // how many operations whose lines have no specified order are in progress
};

// What is printed if the process hangs.
extern struct trace *_Atomic trace_if_hung;

void trace_open(struct trace *trace);
void trace_close(struct trace *trace);

// Appends a line. The line begins with two blanks for each nested run.
void trace_line(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Waits until no helper is acting. Each call-out begins with this.
void trace_wait_for_turn(struct trace *trace);

// The lines between these two are sorted: the reference walks hashed sets when it calls schedule and cancel.
void trace_begin_sorted(struct trace *trace);
void trace_end_sorted(struct trace *trace);

// Is that thread asleep in the kernel? A thread that was merely interrupted isn't.
bool thread_is_asleep(pid_t thread);

#endif
