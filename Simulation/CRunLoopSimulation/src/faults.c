// faults.c — what the kernel refuses a thread of a simulation, and what it does only in part, if the seed says so: descriptors that run out,
// reads and writes that are short, connections that are refused or reset, messages that find no memory, disks that are full, children that
// are gone. So whatever the program creates meets these, whatever library makes the call for it.

#ifdef __linux__
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "joined.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

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

/// Of a socket, if that has been made. A smaller buffer than the kernel has is its smallest.
static void shape(int descriptor, int domain, int type) {
    enum { KIND = 0xf };
    int one = 1;
    if (descriptor < 0 || !is_simulated() || (type & KIND) != SOCK_STREAM)
        return;
    // TCP would hold small pieces back for a while, of real time, of which a simulation knows nothing.
    if (domain == AF_INET || domain == AF_INET6)
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (domain == AF_UNIX && choose(RUNLOOP_SIMULATION_SMALL, 2) == 1)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &one, sizeof one);
}

int socket(int domain, int type, int protocol) {
    if (has_run_out())
        return -1;
    int descriptor = REAL(socket)(domain, type, protocol);
    shape(descriptor, domain, type);
    return descriptor;
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    if (has_run_out() || REAL(socketpair)(domain, type, protocol, ends) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        shape(ends[i], domain, type);
    return 0;
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

/// As the socket that listens, but for its buffer.
static int accepted(int descriptor) {
    int domain = AF_UNSPEC, type = 0;
    socklen_t size = sizeof domain, size_of_type = sizeof type;
    if (descriptor >= 0 && may_happen(RUNLOOP_SIMULATION_SMALL) &&
        getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
        getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size_of_type) == 0)
        shape(descriptor, domain, type);
    return descriptor;
}

int accept(int descriptor, struct sockaddr *address, socklen_t *size) {
    return has_run_out() ? -1 : accepted(REAL(accept)(descriptor, address, size));
}

int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags) {
    return has_run_out() ? -1 : accepted(REAL(accept4)(descriptor, address, size, flags));
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
    if (runloop_simulation__is_dice(descriptor)) {
        runloop_simulation__throw_dice(bytes, count);
        return (ssize_t)count;
    }
    return is_reset(descriptor) ? -1 : REAL(read)(descriptor, bytes, part_of(descriptor, count));
}

/// There is no space on the disk of a file.
static bool is_full(int descriptor) {
    if (!may_happen(RUNLOOP_SIMULATION_NO_SPACE))
        return false;
    struct stat status;
    int saved = errno;
    bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    errno = saved;
    return is_file && fails_with(RUNLOOP_SIMULATION_NO_SPACE, ENOSPC);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (is_reset(descriptor) || is_full(descriptor))
        return -1;
    return REAL(write)(descriptor, bytes, part_of(descriptor, count));
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t position) {
    return is_full(descriptor) ? -1 : REAL(pwrite)(descriptor, bytes, count, position);
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

ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
    if (is_reset(descriptor) || is_full(descriptor))
        return -1;
    struct msghdr part = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)(count < 0 ? 0 : count)};
    struct iovec first;
    take_part(descriptor, &part, &first);
    return part.msg_iov == pieces ? REAL(writev)(descriptor, pieces, count) : REAL(writev)(descriptor, &first, 1);
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

//===-- children -----------------------------------------------------------------------------------------------------===//

/// A child has ended, and somebody else has waited for it first: so it is reaped.
static bool is_lost(long result, const siginfo_t *info, long flags) {
    bool is_reaped = result == 0 && info && info->si_pid != 0 && !(flags & WNOWAIT);
    return is_reaped && fails_with(RUNLOOP_SIMULATION_NO_CHILD, ECHILD);
}

int waitid(idtype_t kind, id_t id, siginfo_t *info, int flags) {
    int result = REAL(waitid)(kind, id, info, flags);
    return is_lost(result, info, flags) ? -1 : result;
}

static long wait_with_usage(const long arguments[6]) {
    const siginfo_t *info = (const siginfo_t *)arguments[2];
    long result = real_system_call()(SYS_waitid, arguments[0], arguments[1], info, arguments[3], arguments[4]);
    return is_lost(result, info, arguments[3]) ? -1 : result;
}

/// With a pidfd alone, older kernels don't report how a child that was reaped has ended.
static bool is_end_unknown(long number, const long arguments[6]) {
    const long get_info = 0xff0b, kind = 0xffff;
    return number == SYS_ioctl && (arguments[1] & kind) == get_info && fails_with(RUNLOOP_SIMULATION_NO_CHILD, ENOTTY);
}

/// What is called without the functions of the C library, which are cancellation points, or has none.
bool runloop_simulation__faulty_call(long number, const long arguments[6], long *result) {
    if (number == SYS_read)
        *result = read((int)arguments[0], (void *)arguments[1], (size_t)arguments[2]);
    else if (number == SYS_write)
        *result = write((int)arguments[0], (const void *)arguments[1], (size_t)arguments[2]);
    else if (number == SYS_waitid && may_happen(RUNLOOP_SIMULATION_NO_CHILD))
        *result = wait_with_usage(arguments);
    else if ((number == SYS_pidfd_open && has_run_out()) || is_end_unknown(number, arguments))
        *result = -1;
    else
        return false;
    return true;
}
#endif // __linux__
