// kernel_text.h — what texts of /proc say. Others decide on some of it: a process on its own name and command line.
#ifndef RUNLOOP_KERNEL_TEXT_H
#define RUNLOOP_KERNEL_TEXT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// Of /proc/PID/task/TID/status, the signals that the thread has blocked; none if that is not said.
static inline uint64_t text_blocked_signals(const char *status) {
    static const char before[] = "\nSigBlk:";
    const char *line = strstr(status, before);
    return line ? strtoull(line + sizeof before - 1, NULL, 16) : 0;
}

/// Of /proc/PID/comm: without the end of the line, and with a question mark for each byte that is not printable in ASCII, since a
/// process can name itself by anything, and others' terminals obey some of that.
static inline void text_make_printable(char *name) {
    name[strcspn(name, "\n")] = 0;
    for (; *name; name++)
        if (*name < ' ' || *name > '~')
            *name = '?';
}

/// Of /proc/PID/cmdline, which is `size` bytes with a null behind them: the words, which follow one another, each with a null, from calloc with
/// NULL behind the last. What follows the last null is no word. NULL: no memory.
static inline char **text_words(char *text, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == 0;
    char **words = (char **)calloc(count + 1, sizeof(char *));
    for (size_t i = 0, at = 0; words && i < count; i++, at += strlen(text + at) + 1)
        words[i] = text + at;
    return words;
}

#endif // RUNLOOP_KERNEL_TEXT_H
