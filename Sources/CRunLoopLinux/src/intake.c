// intake.c — a descriptor that is read without waiting, and the buffer for what was read.

#include "intake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// A read that fills the buffer makes it LARGE, for files and fast writers; more is needed only for what is not consumed.
enum { FIRST_CAPACITY = 4096, LARGE_CAPACITY = 65536 };

int runloop__intake_open(struct intake *intake, int descriptor, size_t limit) {
    int flags = fcntl(descriptor, F_GETFL), type;
    socklen_t size = sizeof type;
    if (flags < 0)
        return -errno;
    if ((flags & O_ACCMODE) == O_WRONLY)
        return -EBADF;
    size_t capacity = limit < FIRST_CAPACITY ? limit : FIRST_CAPACITY;
    char *bytes = malloc(capacity);
    if (!bytes)
        return -ENOMEM;
    *intake = (struct intake){.descriptor = descriptor,
                              .may_block = !(flags & O_NONBLOCK),
                              .bytes = bytes,
                              .capacity = capacity,
                              .limit = limit};
    intake->is_socket = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    return 0;
}

/// True: the buffer has the capacity, with the bytes at its beginning.
static bool resize(struct intake *intake, size_t capacity) {
    char *bytes = realloc(intake->bytes, capacity);
    if (!bytes)
        return false;
    intake->bytes = bytes;
    intake->capacity = capacity;
    return true;
}

/// Makes space after the bytes, more than there was if the last read has filled it. 0, or why there is none.
static int make_space(struct intake *intake) {
    size_t end = intake->start + intake->count;
    // As many bytes are dropped as are moved, at least, unless there is no other space.
    if (intake->start > 0 && (intake->start >= intake->count || end == intake->capacity)) {
        memmove(intake->bytes, intake->bytes + intake->start, intake->count);
        intake->start = 0;
    }
    if (intake->count == intake->limit)
        return -EMSGSIZE;
    bool is_full = intake->count == intake->capacity;
    if (is_full || (intake->was_filled && intake->capacity < LARGE_CAPACITY)) {
        size_t twice = intake->capacity > intake->limit / 2 ? intake->limit : intake->capacity * 2;
        size_t wanted = twice > LARGE_CAPACITY ? twice : LARGE_CAPACITY;
        // Without memory, the space that there is will do.
        if (!resize(intake, wanted < intake->limit ? wanted : intake->limit) && is_full)
            return -ENOMEM;
    }
    return 0;
}

static ptrdiff_t read_once(const struct intake *intake, char *bytes, size_t space) {
    if (intake->is_socket)
        return recv(intake->descriptor, bytes, space, MSG_DONTWAIT);
    // Somebody else may have read what was reported, and a signal may keep poll from saying so.
    struct pollfd query = {.fd = intake->descriptor, .events = POLLIN};
    if (intake->may_block && !intake->is_always_ready && poll(&query, 1, 0) <= 0) {
        errno = EAGAIN;
        return -1;
    }
    return read(intake->descriptor, bytes, space);
}

ptrdiff_t runloop__intake_read(struct intake *intake, bool *is_end) {
    int result = make_space(intake);
    if (result < 0)
        return result;
    size_t end = intake->start + intake->count;
    ptrdiff_t count;
    do
        count = read_once(intake, intake->bytes + end, intake->capacity - end);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return errno == EAGAIN ? 0 : -errno;
    *is_end = count == 0;
    intake->count += (size_t)count;
    intake->was_filled = end + (size_t)count == intake->capacity;
    return count;
}

void runloop__intake_drop(struct intake *intake, size_t count) {
    intake->count -= count;
    intake->start = intake->count ? intake->start + count : 0;
    if (intake->count == 0 && intake->capacity > FIRST_CAPACITY && !intake->was_filled)
        resize(intake, FIRST_CAPACITY);
}
