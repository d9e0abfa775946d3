// connection.h — one TCP connection: bytes come in, a protocol answers, bytes go out. It keeps output that it can't send yet, and
// reads no more until that is sent, so a client that doesn't read can't fill the memory.
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

enum { CONNECTION_BUFFER = 16384 };

struct connection;

/// Consumes as many of the received bytes as it can, answers with connection_write, and returns how many bytes it consumed.
/// Called again when there are more bytes, or more space for answers; `is_full`: no more bytes come before some are consumed.
typedef size_t (*connection_protocol)(struct connection *connection, const char *bytes, size_t count, bool is_full);

size_t echo_take(struct connection *connection, const char *bytes, size_t count, bool is_full);
size_t http_take(struct connection *connection, const char *bytes, size_t count, bool is_full);

/// Serves a connected, non-blocking socket until its end.
void connection_start(int descriptor, connection_protocol protocol);

/// For protocols: the space for an answer; appends to it, but no more than fits; ends the connection once it is sent.
size_t connection_space(const struct connection *connection);
void connection_write(struct connection *connection, const char *bytes, size_t count);
void connection_finish(struct connection *connection);

#endif
