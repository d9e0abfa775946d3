// server.h — what hostile peers are set on: a server in C with limits for everything that a peer can cost. hostile.py has the peers.
//
// One loop serves lines over TCP, channels, and a watch of a folder; so whoever is served late by it is served late because of any of them.
#ifndef HOSTILE_SERVER_H
#define HOSTILE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#define MODE RUNLOOP_DEFAULT_MODE

enum {
    LINE_LIMIT = 4096,       ///< of a line that is received
    OUTPUT_LIMIT = 64 << 10, ///< of what waits for a client
    READ_LIMIT = 64 << 20,   ///< of a file
    BUDGET = 16,             ///< connections that are accepted before something else is served
};

/// What was counted, for `stat`.
struct counts {
    uint64_t open, accepted, lines, timed_out, too_long, reset, ended;
    uint64_t channels, messages, descriptors, broken, changes, overflows, failures, readings, read;
};
extern struct counts counts;

/// How long a peer may be silent, take for a line, or not read.
extern int64_t patience_ns;

/// Serves a connected socket until its end: "stat" is answered with the counts, "big N" with N bytes, "read PATH" reads a file, and any other line is
/// answered with itself.
void lines_begin(int descriptor);
/// Reads what is there, whatever that is, to its end or the limit.
void reading_begin(const char *path);
/// Serves a socket of messages: each is answered, if it is a request, with its length.
void channel_begin(int descriptor);
/// Watches a folder with everything in it.
void watch_begin(const char *path);

/// Ends the program if the result is an error.
void check(int result, const char *what);

#endif // HOSTILE_SERVER_H
