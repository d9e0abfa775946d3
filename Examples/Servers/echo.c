// echo.c — sends back all that it receives.

#include "connection.h"

size_t echo_take(struct connection *connection, const char *bytes, size_t count, bool is_full) {
    (void)is_full;
    size_t room = connection_room(connection);
    if (count > room)
        count = room;
    connection_write(connection, bytes, count);
    return count;
}
