// faults.c — what the kernel refuses a thread of a simulation, and what it does only in part, if the seed says so: descriptors that run out,
// reads and writes that are short, connections that are refused or reset. So whatever the program creates meets these, whoever makes the call
// for it.

#define _GNU_SOURCE
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "joined.h"

/// libc's own.
#define REAL(function)                                                                                                 \
    ({                                                                                                                 \
        static _Atomic(void *) found;                                                                                  \
        (__typeof__(&function))runloop_simulation__find(&found, #function);                                            \
    })

/// 0: nothing special happens.
static unsigned choose(enum runloop_simulation_fault fault, unsigned ways) {
    struct runloop_simulated_world *world = is_simulated() ? runloop_simulation__joined.world : NULL;
    return world && world->faults & fault ? world->choose(runloop_simulation__joined.simulation, ways) : 0;
}

static bool fails_with(enum runloop_simulation_fault fault, int error) {
    if (choose(fault, 2) == 0)
        return false;
    errno = error;
    return true;
}

//===-- what is made -------------------------------------------------------------------------------------------------===//

static bool has_run_out(void) {
    return fails_with(RUNLOOP_SIMULATION_NO_DESCRIPTORS, EMFILE) || fails_with(RUNLOOP_SIMULATION_NO_MEMORY, ENOMEM);
}

int socket(int domain, int type, int protocol) {
    return has_run_out() ? -1 : REAL(socket)(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    return has_run_out() ? -1 : REAL(socketpair)(domain, type, protocol, ends);
}

int pipe2(int ends[2], int flags) {
    return has_run_out() ? -1 : REAL(pipe2)(ends, flags);
}

int eventfd(unsigned count, int flags) {
    return has_run_out() ? -1 : REAL(eventfd)(count, flags);
}

int epoll_create1(int flags) {
    return has_run_out() ? -1 : REAL(epoll_create1)(flags);
}

int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags) {
    return has_run_out() ? -1 : REAL(accept4)(descriptor, address, size, flags);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t size) {
    return fails_with(RUNLOOP_SIMULATION_REFUSED, ECONNREFUSED) ? -1 : REAL(connect)(descriptor, address, size);
}

//===-- what is read and written -------------------------------------------------------------------------------------===//

static bool is_stream(int descriptor) {
    int type, saved = errno;
    socklen_t size = sizeof type;
    bool is_stream = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
    errno = saved;
    return is_stream;
}

/// All of it, all but a byte, or half of it.
static size_t part_of(int descriptor, size_t count) {
    if (count < 2 || !is_simulated() || !is_stream(descriptor))
        return count;
    unsigned part = choose(RUNLOOP_SIMULATION_SHORT, 3);
    return part == 0 ? count : part == 1 ? 1 : count / 2;
}

/// The connection has been reset by its peer, and stays so.
static bool is_reset(int descriptor) {
    if (!is_simulated() || !is_stream(descriptor) || choose(RUNLOOP_SIMULATION_RESET, 2) == 0)
        return false;
    shutdown(descriptor, SHUT_RDWR);
    errno = ECONNRESET;
    return true;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    return is_reset(descriptor) ? -1 : REAL(read)(descriptor, bytes, part_of(descriptor, count));
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    return is_reset(descriptor) ? -1 : REAL(write)(descriptor, bytes, part_of(descriptor, count));
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
    size_t part = flags & MSG_PEEK ? count : part_of(descriptor, count);
    return is_reset(descriptor) ? -1 : REAL(recv)(descriptor, bytes, part, flags);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    return is_reset(descriptor) ? -1 : REAL(send)(descriptor, bytes, part_of(descriptor, count), flags);
}

/// What is called without the functions of the C library, which are cancellation points.
bool runloop_simulation__faulty_call(long number, const long arguments[6], long *result) {
    if (number == SYS_read)
        *result = read((int)arguments[0], (void *)arguments[1], (size_t)arguments[2]);
    else if (number == SYS_write)
        *result = write((int)arguments[0], (const void *)arguments[1], (size_t)arguments[2]);
    else
        return false;
    return true;
}
