// intake.c — a descriptor that is read without waiting, and the buffer for what was read.

#ifdef __linux__
#include "streams/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/// At least one whole message, as a rule, and no more than the kernel keeps of a pipe.
enum { READ_CAPACITY = 65536 };

//===-- buffers ------------------------------------------------------------------------------------------------------===//

/// A buffer of READ_CAPACITY that no input has at the moment, so that as a rule all inputs read into the same one, which is in the
/// processor's cache; or NULL. Taking it (acquire) pairs with giving it back (release).
static char *_Atomic spare_buffer;

static void give_back(struct intake *intake) {
    char *bytes = intake->bytes;
    if (intake->is_for_reading)
        bytes = atomic_exchange_explicit(&spare_buffer, bytes, memory_order_acq_rel);
    if (bytes != intake->first)
        free(bytes);
}

/// Has the bytes at the beginning of another buffer, or nothing happens, for lack of memory.
static void replace(struct intake *intake, char *bytes, size_t capacity, bool is_for_reading) {
    if (!bytes)
        return;
    memcpy(bytes, intake->bytes + intake->start, intake->count);
    give_back(intake);
    intake->bytes = bytes;
    intake->capacity = capacity;
    intake->start = 0;
    intake->is_for_reading = is_for_reading;
}

/// As much space as a whole message takes, and twice as much as there are bytes.
static void grow(struct intake *intake) {
    size_t wanted = READ_CAPACITY;
    while (wanted / 2 < intake->count && wanted < intake->limit)
        wanted = wanted > intake->limit / 2 ? intake->limit : wanted * 2;
    size_t capacity = wanted < intake->limit ? wanted : intake->limit;
    if (intake->capacity >= capacity)
        return;
    char *bytes = wanted == READ_CAPACITY ? atomic_exchange_explicit(&spare_buffer, NULL, memory_order_acq_rel) : NULL;
    replace(intake, bytes ? bytes : malloc(wanted), capacity, wanted == READ_CAPACITY);
}

/// Makes space after the bytes. 0, or a negative errno value.
static int make_space(struct intake *intake) {
    if (intake->count == intake->limit)
        return -EMSGSIZE;
    grow(intake);
    // Without memory, the space that there is will do.
    if (intake->count == intake->capacity)
        return -ENOMEM;
    // As many bytes are dropped as are moved, at least, unless there is no other space.
    if (intake->start >= intake->count || intake->start + intake->count == intake->capacity) {
        memmove(intake->bytes, intake->bytes + intake->start, intake->count);
        intake->start = 0;
    }
    return 0;
}

void runloop__intake_settle(struct intake *intake) {
    if (intake->bytes == intake->first)
        return;
    if (intake->count <= intake->first_capacity)
        replace(intake, intake->first, intake->first_capacity, false);
    else if (intake->count <= intake->capacity / 4 || (intake->is_for_reading && intake->limit < READ_CAPACITY))
        replace(intake, malloc(intake->count), intake->count, false);
}

void runloop__intake_drop(struct intake *intake, size_t count) {
    intake->count -= count;
    intake->start = intake->count ? intake->start + count : 0;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

int runloop__intake_open(struct intake *intake, int descriptor, size_t limit) {
    int flags = fcntl(descriptor, F_GETFL), type;
    socklen_t size = sizeof type;
    if (flags < 0)
        return -errno;
    if ((flags & O_ACCMODE) == O_WRONLY)
        return -EBADF;
    intake->descriptor = descriptor;
    intake->may_block = !(flags & O_NONBLOCK);
    intake->is_socket = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    // A message of no bytes would be the end.
    if (intake->is_socket && type != SOCK_STREAM)
        return -EPROTOTYPE;
    intake->limit = limit;
    intake->bytes = intake->first;
    intake->capacity = intake->first_capacity = limit < sizeof intake->first ? limit : sizeof intake->first;
    return 0;
}

void runloop__intake_close(struct intake *intake) {
    if (intake->bytes)
        give_back(intake);
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

static ptrdiff_t read_once(const struct intake *intake, char *bytes, size_t space) {
    if (intake->is_socket)
        return recv(intake->descriptor, bytes, space, MSG_DONTWAIT);
    // Somebody else may have read what was reported, and a signal may keep poll from saying so.
    struct pollfd query = {.fd = intake->descriptor, .events = POLLIN};
    int ready = intake->may_block && !intake->is_always_ready ? poll(&query, 1, 0) : 1;
    if (ready <= 0) {
        // Where the limit of descriptors is 0 nothing may be polled.
        errno = ready == 0 || errno == EINTR ? EAGAIN : errno == EINVAL ? EMFILE : errno;
        return -1;
    }
    return read(intake->descriptor, bytes, space);
}

/// Linux's error EIO of the parent's side of a terminal says that nobody has the other one any more.
static bool is_end_of_terminal(int descriptor, int error) {
    unsigned number;
    return error == EIO && ioctl(descriptor, TIOCGPTN, &number) == 0;
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
    int error = count < 0 ? errno : 0;
    if (count < 0 && is_end_of_terminal(intake->descriptor, error))
        count = 0;
    if (count < 0)
        return error == EAGAIN && !intake->is_always_ready ? 0 : -error;
    *is_end = count == 0;
    intake->count += (size_t)count;
    return count;
}
#endif // __linux__
