// waiting_thread.c — the kernel says of a thread that waits with which registers it has called; its stack does not change before it goes on.

#ifdef __linux__
#include "waiting_thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind.h"

/// The text of /proc/PID/task/TID/syscall: "running", or the number of the call, -1 for a page fault, its arguments, and the registers.
static bool read_call(pid_t thread, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
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

static void walk(struct frame frame, struct codes *out) {
    enum { MOST = sizeof out->codes / sizeof *out->codes };
    out->codes[out->count++] = frame.code;
    while (out->count < MOST && unwind(&frame))
        out->codes[out->count++] = frame.code;
}

enum thread_state waiting_thread_look(pid_t thread, struct codes *codes) {
    enum { ATTEMPTS = 20 };
    char before[256], after[256];
    struct frame frame;
    codes->count = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!read_call(thread, before, sizeof before))
            return THREAD_UNKNOWN;
        if (strncmp(before, "running", 7) == 0)
            return THREAD_RUNS;
        // An emulator shows its own registers.
        if (!find_registers(before, &frame) || !is_code(frame.code))
            return THREAD_UNKNOWN;
        walk(frame, codes);
        if (read_call(thread, after, sizeof after) && strcmp(before, after) == 0)
            return THREAD_WAITS;
        codes->count = 0;
    }
    // It waits again and again, for short times.
    return THREAD_WAITS;
}
#endif // __linux__
