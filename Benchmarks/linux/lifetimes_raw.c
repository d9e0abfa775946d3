// lifetimes_raw.c — W14 by hand: posix_spawn and a pidfd, or a socket that does not wait, and epoll.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lifetimes.h"

extern char **environ;
static int set = -1;

static int check(int result) {
    if (result < 0)
        abort();
    return result;
}

/// Until the descriptor, which is closed then, is in the condition.
static void await(int descriptor, uint32_t events) {
    if (set < 0)
        set = check(epoll_create1(EPOLL_CLOEXEC));
    struct epoll_event event = {.events = events};
    check(epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event));
    while (epoll_wait(set, &event, 1, -1) != 1)
        continue;
}

void lifetimes_child(const char *program) {
    char *arguments[] = {(char *)program, NULL};
    pid_t pid;
    siginfo_t info;
    check(-posix_spawn(&pid, program, NULL, NULL, arguments, environ));
    int pidfd = check((int)syscall(SYS_pidfd_open, pid, 0));
    await(pidfd, EPOLLIN);
    check(waitid(P_PID, (id_t)pid, &info, WEXITED));
    close(pidfd);
}

void lifetimes_connect(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1, error = 0;
    socklen_t size = sizeof error;
    int socket_ = check(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    check(setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
    connect(socket_, (struct sockaddr *)&address, sizeof address);
    await(socket_, EPOLLOUT);
    check(getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size));
    check(-error);
    close(socket_);
}

int lifetimes_accept(int listening) {
    static bool is_watched;
    struct epoll_event event = {.events = EPOLLIN};
    int yes = 1;
    if (!is_watched) {
        is_watched = true;
        set = check(epoll_create1(EPOLL_CLOEXEC));
        check(epoll_ctl(set, EPOLL_CTL_ADD, listening, &event));
    }
    while (epoll_wait(set, &event, 1, -1) != 1)
        continue;
    int connection = check(accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    check(setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
    close(connection);
    return 1;
}
