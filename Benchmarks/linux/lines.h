// lines.h — W14: a server that sends each line back. One file per loop.
#ifndef LINES_H
#define LINES_H
#include <stddef.h>
#include <string.h>

enum { LINE_LIMIT = 4096 };

/// Accepts connections of a listening socket, which is non-blocking, and sends each of their lines back, until the process is killed. A client
/// that does not read what it is sent is not read from, either, and what waits for it is at most LINE_LIMIT bytes.
void lines_serve(int listening);

/// For loops that don't know lines: calls `answer` for each line of the bytes with its end. How many bytes these were; a false result leaves
/// the line and those after it for later.
static inline size_t lines_each(const char *bytes, size_t count, int (*answer)(void *, const char *, size_t),
                                void *info) {
    size_t done = 0;
    for (const char *feed; (feed = memchr(bytes + done, '\n', count - done));) {
        size_t line = (size_t)(feed - bytes) + 1 - done;
        if (!answer(info, bytes + done, line))
            break;
        done += line;
    }
    return done;
}

#endif // LINES_H
