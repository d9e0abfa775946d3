// lifetimes.c — W14: a child from its start to its end, and a connection to its close. `lifetimes child 500` prints the nanoseconds of CPU time
// that each took the process, without what the children, and the process that accepts, took.

#include "lifetimes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
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

/// A process that accepts connections and closes them when their other end is closed. Its port.
static int start_server(pid_t *server) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening < 0 || bind(listening, (struct sockaddr *)&address, size) != 0 || listen(listening, 128) != 0 ||
        getsockname(listening, (struct sockaddr *)&address, &size) != 0)
        abort();
    *server = fork();
    if (*server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (char byte;;) {
            int connection = accept(listening, NULL, NULL);
            if (read(connection, &byte, 1) != 0)
                abort();
            close(connection);
        }
    }
    close(listening);
    return ntohs(address.sin_port);
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    long times = atol(arguments[2]);
    pid_t server = -1;
    int port = strcmp(arguments[1], "connect") == 0 ? start_server(&server) : 0;
    double begin_ns = 0;
    for (long i = -1; i < times; i++) { // once before it counts, which makes the loop
        if (i == 0)
            begin_ns = cpu_ns();
        if (port)
            lifetimes_connect(port);
        else
            lifetimes_child("/bin/true");
    }
    printf("%.0f\n", (cpu_ns() - begin_ns) / (double)(times > 0 ? times : 1));
    if (port) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    return 0;
}
