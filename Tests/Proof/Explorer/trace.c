// trace.c — what the threads of an execution did last, to be read by whoever looks for the reason of a fault.

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

enum { EVENTS = 160, TEXT = 120 };

struct event {
    unsigned thread;
    const void *code;
    char text[TEXT];
};

KEPT static struct {
    bool is_wanted;
    unsigned count;
    struct event events[EVENTS];
} traced;

void trace_begin(bool is_wanted) {
    traced.is_wanted = is_wanted;
    traced.count = 0;
}

void trace(const void *code, const char *format, ...) {
    if (!traced.is_wanted)
        return;
    struct event *event = &traced.events[traced.count++ % EVENTS];
    event->thread = thread_number();
    event->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event->text, sizeof event->text, format, arguments);
    va_end(arguments);
}

/// The function and the line of each, if there is addr2line. The program is not relocated.
static void print_place(const void *code) {
    char command[128], function[64] = "", line[256] = "";
    snprintf(command, sizeof command, "addr2line -i -f -s -e /proc/%d/exe %#" PRIxPTR " 2> /dev/null", getpid(),
             (uintptr_t)code - 1);
    FILE *output = popen(command, "r");
    if (!output)
        return;
    if (fgets(function, sizeof function, output) && fgets(line, sizeof line, output)) {
        function[strcspn(function, "\n")] = line[strcspn(line, "\n")] = 0;
        printf("  %s %s", line, function);
    }
    while (fgets(line, sizeof line, output))
        ;
    pclose(output);
}

void trace_print(void) {
    unsigned first = traced.count > EVENTS ? traced.count - EVENTS : 0;
    for (unsigned i = first; i < traced.count; i++) {
        const struct event *event = &traced.events[i % EVENTS];
        printf("%*s%u %-40s", (int)event->thread * 2, "", event->thread, event->text);
        if (event->code)
            print_place(event->code);
        putchar('\n');
    }
}
