// inherited.c — the sockets that a service manager hands over.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runloop_listener.h"

enum { FIRST_INHERITED = 3 };

/// The value of a variable, from 0 to INT_MAX; -1 if it is not set, -EINVAL if it is not a number.
static int64_t number_in(const char *variable) {
    // Not secure_getenv, which gives nothing to a program with capabilities of its file, as a service may be. The variables grant nothing:
    // whoever starts a program gives it descriptors, and these are for the process that they name.
    const char *text = getenv(variable);
    if (!text)
        return -1;
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    return *text < '0' || *text > '9' || *end || errno || number > INT32_MAX ? -EINVAL : number;
}

/// The names follow one another with colons between them.
static const char *take_name(const char *names, char name[256]) {
    size_t length = names ? strcspn(names, ":") : 0;
    if (length > 255)
        length = 255;
    if (length == 0) {
        strcpy(name, "unknown");
    } else {
        memcpy(name, names, length);
        name[length] = 0;
    }
    const char *colon = names ? strchr(names, ':') : NULL;
    return colon ? colon + 1 : NULL;
}

int runloop_take_inherited_sockets(runloop_inherited_socket *sockets, size_t capacity) {
    int64_t count = number_in("LISTEN_FDS"), process = number_in("LISTEN_PID");
    if (!sockets && capacity > 0)
        return -EINVAL;
    if (count == -1 || process == -1 || (process >= 0 && process != getpid()))
        return 0;
    if (count < 0 || process < 0 || count > INT32_MAX - FIRST_INHERITED)
        return -EINVAL;
    if ((uint64_t)count > capacity)
        return -E2BIG;
    const char *names = getenv("LISTEN_FDNAMES");
    for (int i = 0; i < count; i++)
        if (fcntl(FIRST_INHERITED + i, F_GETFD) < 0)
            return -EBADF;
    for (int i = 0; i < count; i++) {
        sockets[i].descriptor = FIRST_INHERITED + i;
        names = take_name(names, sockets[i].name);
        fcntl(FIRST_INHERITED + i, F_SETFD, FD_CLOEXEC);
    }
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    return (int)count;
}
#endif // __linux__
