// echo.c — sends back all that it receives.

#include "connection.h"

size_t echo_take(struct connection *connection, const char *bytes, size_t count, bool is_full) {
    (void)is_full;
    return connection_write(connection, bytes, count);
}
