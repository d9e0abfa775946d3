// lines.c — W14: the line server: listens on 127.0.0.1, on a free port, prints `port=N`, and serves until it is killed.

#include "lines.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(void) {
    enum { BACKLOG = 1024 };
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    // Connections inherit it.
    if (descriptor < 0 || setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0 ||
        bind(descriptor, (struct sockaddr *)&address, length) != 0 || listen(descriptor, BACKLOG) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&address, &length) != 0)
        abort();
    printf("port=%d\n", ntohs(address.sin_port));
    fflush(stdout);
    lines_serve(descriptor);
    return 0;
}
