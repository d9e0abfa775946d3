// lifetimes.c — W14: a child from its start to its end, a connection to its close, and one that is accepted. `lifetimes child 500` prints the
// nanoseconds of CPU time that each took the process, without what the children, and the process at the other end, took.

#include "lifetimes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/// A socket of this machine that listens, and its address.
static int listen_here(struct sockaddr_in *address) {
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof *address;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening < 0 || bind(listening, (struct sockaddr *)address, size) != 0 || listen(listening, 128) != 0 ||
        getsockname(listening, (struct sockaddr *)address, &size) != 0)
        abort();
    return listening;
}

static void await_end(int connection) {
    char byte;
    if (connection < 0 || read(connection, &byte, 1) != 0)
        abort();
    close(connection);
}

/// Another process, which accepts connections, or makes one after another, and closes each when its other end is closed.
static pid_t start_peer(int listening, const struct sockaddr_in *target) {
    pid_t peer = fork();
    if (peer != 0)
        return peer;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (target)
        close(listening);
    for (;;) {
        int connection = target ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : accept(listening, NULL, NULL);
        if (target && connect(connection, (const struct sockaddr *)target, sizeof *target) != 0)
            abort();
        await_end(connection);
    }
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    long times = atol(arguments[2]);
    bool accepts = strcmp(arguments[1], "accept") == 0, connects = strcmp(arguments[1], "connect") == 0;
    struct sockaddr_in address;
    int listening = accepts || connects ? listen_here(&address) : -1;
    pid_t peer = accepts || connects ? start_peer(listening, accepts ? &address : NULL) : -1;
    double begin_ns = 0;
    long done = -1;
    while (done < times) {
        int count_now = 1;
        if (connects)
            lifetimes_connect(ntohs(address.sin_port));
        else if (accepts)
            count_now = lifetimes_accept(listening);
        else
            lifetimes_child("/bin/true");
        // The first does not count, since it makes the loop.
        if (done < 0)
            begin_ns = cpu_ns();
        done = done < 0 ? 0 : done + count_now;
    }
    printf("%.0f\n", (cpu_ns() - begin_ns) / (double)(done > 0 ? done : 1));
    if (peer > 0) {
        kill(peer, SIGKILL);
        waitpid(peer, NULL, 0);
    }
    return 0;
}
