// connection.h — one TCP connection: bytes come in, a protocol answers, bytes go out. While output waits for a client that doesn't read,
// no more is read from it, so it can't fill the memory.
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CONNECTION_BUFFER = 16384, ///< how much of each direction is kept at most
    CONNECTION_ANSWER = 256,   ///< there is space for so much output, at least, when a protocol is called
};

struct connection;

/// Consumes as many of the received bytes as it can, answers with connection_write, and returns how many bytes it consumed.
/// Called again when there are more bytes, or more space for answers; `is_full`: no more bytes come before some are consumed.
typedef size_t (*connection_protocol)(struct connection *connection, const char *bytes, size_t count, bool is_full);

size_t echo_take(struct connection *connection, const char *bytes, size_t count, bool is_full);
size_t http_take(struct connection *connection, const char *bytes, size_t count, bool is_full);

/// Serves a connected, non-blocking socket until its end.
void connection_start(int descriptor, connection_protocol protocol);

/// For protocols: sends bytes, and returns how many there was space for, from the beginning.
size_t connection_write(struct connection *connection, const char *bytes, size_t count);
/// For protocols: ends the connection once everything is sent.
void connection_finish(struct connection *connection);

#endif
