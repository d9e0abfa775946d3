// runtime.c — what the Swift runtime says on a thread of a simulation, and the references that a thread which stays where it is has to its objects.

#ifdef __linux__
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "joined.h"

/// Where there is one.
extern void swift_reportError(uint32_t flags, const char *message) __attribute__((weak));

//===-- what the runtime says ----------------------------------------------------------------------------------------===//

/// A line of the Swift runtime's: it writes each by fputs. In a program that has the runtime in itself, what is written may be the program's own.
static bool is_of_runtime(const void *caller, const char *text) {
    const char *symbol;
    if (!&swift_reportError)
        return false;
    void *runtime = runloop_simulation__base_of((void *)&swift_reportError, &symbol);
    if (!runtime || runloop_simulation__base_of(caller, &symbol) != runtime)
        return false;
    if (runloop_simulation__base_of((void *)&is_of_runtime, &symbol) != runtime)
        return true;
    return strstr(text, "Fatal error") || strstr(text, "Precondition failed") || strstr(text, "Assertion failed") ||
           strstr(text, "SWIFT TASK CONTINUATION MISUSE");
}

/// The last words before a trap are kept for its report, and those that are not followed by one are printed at the end of the run. After the first ones, a
/// program that is not optimized has a list of addresses, which says less than the report.
static void keep(struct runloop_simulated_world *world, const char *text, size_t size) {
    static const char list[] = "Current stack trace";
    size_t used = world->has_message ? strlen(world->message) : 0;
    if (used && size >= sizeof list - 1 && memcmp(text, list, sizeof list - 1) == 0)
        return;
    size_t left = sizeof world->message - 1 - used;
    size = size < left ? size : left;
    memcpy(world->message + used, text, size);
    world->message[used + size] = 0;
    world->has_message = true;
}

/// Whether what is written is for the report.
static bool is_kept(const FILE *stream, const void *caller, const char *text, size_t size) {
    struct joined *joined = &runloop_simulation__joined;
    if (stream != stderr || !is_simulated() || !joined->world->main_turn || !is_of_runtime(caller, text))
        return false;
    if (!strstr(text, "leaked its continuation") || !joined->world->leak(joined->simulation, text))
        keep(joined->world, text, size);
    return true;
}

int fputs(const char *restrict text, FILE *restrict stream) {
    if (is_kept(stream, __builtin_return_address(0), text, strlen(text)))
        return 1;
    return REAL(fputs)(text, stream);
}

#if defined(__GLIBC__)
/// The compiler makes this of fputs with a text that it knows. In musl's archive it is together with what its own functions need, and no program
/// can have another one beside it.
size_t fwrite(const void *restrict bytes, size_t size, size_t count, FILE *restrict stream) {
    if (is_kept(stream, __builtin_return_address(0), bytes, size * count))
        return count;
    return REAL(fwrite)(bytes, size, count, stream);
}
#endif

int fprintf(FILE *restrict stream, const char *restrict format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    int count;
    if (stream == stderr && is_simulated() && is_of_runtime(__builtin_return_address(0), "Fatal error")) {
        count = vsnprintf(text, sizeof text, format, list);
        // What is written so after the first words is the list.
        if (!runloop_simulation__joined.world->has_message)
            is_kept(stream, __builtin_return_address(0), text, strlen(text));
    } else {
        count = vfprintf(stream, format, list);
    }
    va_end(list);
    return count;
}

//===-- references of what stays -------------------------------------------------------------------------------------===//

extern size_t swift_retainCount(void *object) __attribute__((weak));
extern void swift_release(void *object) __attribute__((weak));

intptr_t runloop_simulation_count_references(void *object) {
    return object && &swift_retainCount ? (intptr_t)swift_retainCount(object) : 1;
}

void runloop_simulation_drop_references(void *object, intptr_t count) {
    while (runloop_simulation_count_references(object) > count)
        swift_release(object);
}
#endif // __linux__
