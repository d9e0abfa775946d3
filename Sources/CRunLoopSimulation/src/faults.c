// faults.c — what the kernel refuses a thread of a simulation, and what it does only in part, if the seed says so: descriptors that run out,
// reads and writes that are short, connections that are refused or reset, messages that find no memory. So whatever the program creates
// meets these, whoever makes the call for it.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "joined.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/// libc's own.
#define REAL(function)                                                                                                 \
    ({                                                                                                                 \
        static _Atomic(void *) found;                                                                                  \
        (__typeof__(&function))runloop_simulation__find(&found, #function);                                            \
    })

static bool may_happen(enum runloop_simulation_fault fault) {
    return is_simulated() && runloop_simulation__joined.world->faults & fault;
}

/// 0: nothing special happens.
static unsigned choose(enum runloop_simulation_fault fault, unsigned ways) {
    struct joined *joined = &runloop_simulation__joined;
    return may_happen(fault) ? joined->world->choose(joined->simulation, ways) : 0;
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

/// TCP would hold small pieces back for a while, of real time, of which a simulation knows nothing. What is accepted is as the socket that listens.
static int sending_at_once(int descriptor, int domain, int type) {
    enum { KIND = 0xf };
    int yes = 1;
    if (is_simulated() && (domain == AF_INET || domain == AF_INET6) && (type & KIND) == SOCK_STREAM)
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return descriptor;
}

int socket(int domain, int type, int protocol) {
    return has_run_out() ? -1 : sending_at_once(REAL(socket)(domain, type, protocol), domain, type);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    return has_run_out() ? -1 : REAL(socketpair)(domain, type, protocol, ends);
}

int pipe(int ends[2]) {
    return has_run_out() ? -1 : REAL(pipe)(ends);
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

int inotify_init1(int flags) {
    return has_run_out() ? -1 : REAL(inotify_init1)(flags);
}

int dup(int descriptor) {
    return has_run_out() ? -1 : REAL(dup)(descriptor);
}

int fcntl(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    bool makes_one = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    return makes_one && has_run_out() ? -1 : REAL(fcntl)(descriptor, command, argument);
}

int accept(int descriptor, struct sockaddr *address, socklen_t *size) {
    return has_run_out() ? -1 : REAL(accept)(descriptor, address, size);
}

int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags) {
    return has_run_out() ? -1 : REAL(accept4)(descriptor, address, size, flags);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t size) {
    return fails_with(RUNLOOP_SIMULATION_REFUSED, ECONNREFUSED) ? -1 : REAL(connect)(descriptor, address, size);
}

//===-- what is read and written -------------------------------------------------------------------------------------===//

/// SOCK_STREAM, …; 0 of what is no socket.
static int type_of(int descriptor) {
    int type, saved = errno;
    socklen_t size = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
        type = 0;
    errno = saved;
    return type;
}

/// All of it, a byte, or half of it.
static size_t part_of(int descriptor, size_t count) {
    if (count < 2 || !may_happen(RUNLOOP_SIMULATION_SHORT) || type_of(descriptor) != SOCK_STREAM)
        return count;
    unsigned part = choose(RUNLOOP_SIMULATION_SHORT, 3);
    return part == 0 ? count : part == 1 ? 1 : count / 2;
}

/// The connection has been reset by its peer, and stays so.
static bool is_reset(int descriptor) {
    if (!may_happen(RUNLOOP_SIMULATION_RESET))
        return false;
    int type = type_of(descriptor);
    if ((type != SOCK_STREAM && type != SOCK_SEQPACKET) || choose(RUNLOOP_SIMULATION_RESET, 2) == 0)
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

/// A part of a message is one of its first piece, which is put into `first`.
static void take_part(int descriptor, struct msghdr *message, struct iovec *first) {
    if (message->msg_iovlen == 0)
        return;
    *first = *message->msg_iov;
    first->iov_len = part_of(descriptor, first->iov_len);
    if (first->iov_len == message->msg_iov->iov_len)
        return;
    message->msg_iov = first;
    message->msg_iovlen = 1;
}

/// The kernel found no memory for a message that can't be sent in part.
static bool has_no_memory_for(int descriptor) {
    return may_happen(RUNLOOP_SIMULATION_NO_MEMORY) && type_of(descriptor) != SOCK_STREAM &&
           fails_with(RUNLOOP_SIMULATION_NO_MEMORY, ENOMEM);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    if (is_reset(descriptor) || has_no_memory_for(descriptor))
        return -1;
    struct msghdr part = *message;
    struct iovec first;
    take_part(descriptor, &part, &first);
    return REAL(sendmsg)(descriptor, &part, flags);
}

/// The descriptors that a message brings are lost if the process has no numbers for them; all else of it arrives.
static void lose_descriptors(struct msghdr *message) {
    bool are_lost = false;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        if (!are_lost && choose(RUNLOOP_SIMULATION_NO_DESCRIPTORS, 2) == 0)
            return;
        are_lost = true;
        for (size_t i = 0; i < (part->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
            int lost;
            memcpy(&lost, CMSG_DATA(part) + i * sizeof lost, sizeof lost);
            close(lost);
        }
        part->cmsg_len = CMSG_LEN(0);
    }
    if (are_lost)
        message->msg_flags |= MSG_CTRUNC;
}

ssize_t recvmsg(int descriptor, struct msghdr *message, int flags) {
    if (is_reset(descriptor))
        return -1;
    struct msghdr given = *message;
    struct iovec first;
    if (!(flags & MSG_PEEK))
        take_part(descriptor, message, &first);
    ssize_t size = REAL(recvmsg)(descriptor, message, flags);
    message->msg_iov = given.msg_iov;
    message->msg_iovlen = given.msg_iovlen;
    if (size >= 0 && may_happen(RUNLOOP_SIMULATION_NO_DESCRIPTORS))
        lose_descriptors(message);
    return size;
}

/// What is called without the functions of the C library, which are cancellation points.
bool runloop_simulation__faulty_call(long number, const long arguments[6], long *result) {
    if (number == SYS_read)
        *result = read((int)arguments[0], (void *)arguments[1], (size_t)arguments[2]);
    else if (number == SYS_write)
        *result = write((int)arguments[0], (const void *)arguments[1], (size_t)arguments[2]);
    else if (number == SYS_pidfd_open && has_run_out())
        *result = -1;
    else
        return false;
    return true;
}
