// connection.h — one TCP connection: bytes come in, a protocol answers, bytes go out. What it can't send it keeps, and reads
// no more until that is gone; so a client that doesn't read can't fill the memory.
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

enum { CONNECTION_BUFFER = 16384 };

struct connection;

/// Takes what it can of the bytes that have come in, answers with connection_write, and returns how many bytes it took.
/// Called again when there are more bytes, or more room for answers; `is_full`: no more bytes will come before some are taken.
typedef size_t (*connection_protocol)(struct connection *connection, const char *bytes, size_t count, bool is_full);

size_t echo_take(struct connection *connection, const char *bytes, size_t count, bool is_full);
size_t http_take(struct connection *connection, const char *bytes, size_t count, bool is_full);

/// Serves a connected, non-blocking socket until its end.
void connection_start(int descriptor, connection_protocol protocol);

/// For protocols: room for an answer; appends to it; ends the connection once it is sent. More than the room is not written.
size_t connection_room(const struct connection *connection);
void connection_write(struct connection *connection, const char *bytes, size_t count);
void connection_finish(struct connection *connection);

#endif
