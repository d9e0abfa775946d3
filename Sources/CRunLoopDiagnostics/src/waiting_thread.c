// waiting_thread.c — the kernel says of a thread that waits with which registers it has called. Its stack does not change before it goes on, so a
// copy is its stack if the thread has not begun another wait meanwhile.

#ifdef __linux__
#include "waiting_thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind.h"

/// A file that the kernel has of a thread of this process.
static bool read_about(pid_t thread, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)thread, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/// "running", or the number of the call, -1 for a page fault, its arguments, and the registers.
static bool read_call(pid_t thread, char *text, size_t size) {
    return read_about(thread, "syscall", text, size);
}

/// How often the thread has begun to wait.
static unsigned long count_waits(pid_t thread) {
    static const char name[] = "\nvoluntary_ctxt_switches:";
    char text[4096];
    const char *line = read_about(thread, "status", text, sizeof text) ? strstr(text, name) : NULL;
    return line ? strtoul(line + sizeof name - 1, NULL, 10) : 0;
}

/// The last two words.
static bool find_registers(const char *text, struct frame *frame) {
    const char *code = strrchr(text, ' '), *stack = code;
    while (stack && stack > text && stack[-1] != ' ')
        stack--;
    if (!code || stack == text)
        return false;
    *frame = (struct frame){.code = strtoul(code, NULL, 0), .stack = strtoul(stack, NULL, 0)};
    return frame->code != 0;
}

/// One that has called in the same way before and after the copy may have run in between, and called again.
static enum thread_state copy_waiting(pid_t thread, struct stack_copy *copy, struct frame *out) {
    enum { ATTEMPTS = 20 };
    char before[256], after[256];
    for (int i = 0; i < ATTEMPTS; i++) {
        unsigned long waits = count_waits(thread);
        if (!read_call(thread, before, sizeof before))
            return THREAD_UNKNOWN;
        if (strncmp(before, "running", 7) == 0)
            return THREAD_RUNS;
        // An emulator shows its own registers.
        if (!find_registers(before, out) || !is_code(out->code))
            return THREAD_UNKNOWN;
        copy_stack(copy, out->stack);
        if (read_call(thread, after, sizeof after) && strcmp(before, after) == 0 && count_waits(thread) == waits)
            return THREAD_WAITS;
    }
    // It waits again and again, for short times.
    out->code = 0;
    return THREAD_WAITS;
}

static void walk(struct frame frame, struct codes *out) {
    enum { MOST = sizeof out->codes / sizeof *out->codes };
    out->codes[out->count++] = frame.code;
    while (out->count < MOST && unwind(&frame))
        out->codes[out->count++] = frame.code;
}

enum thread_state waiting_thread_look(pid_t thread, struct codes *codes) {
    struct stack_copy *copy = malloc(sizeof *copy);
    struct frame frame = {.code = 0};
    enum thread_state state = copy ? copy_waiting(thread, copy, &frame) : THREAD_UNKNOWN;
    frame.copy = copy;
    codes->count = 0;
    if (state == THREAD_WAITS && frame.code)
        walk(frame, codes);
    free(copy);
    return state;
}
#endif // __linux__
