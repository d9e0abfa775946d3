// flood.c — `flood PORT CONNECTIONS SECONDS`: connections that send lines as fast as a server takes them, and read what comes back, beside one that
// sends a line, waits for it, and rests for five milliseconds. Prints how many lines came back per second, and how long the one has waited, in
// seconds: its waits go on after the end until the server has answered.

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, LINES = 64, BATCH = 64, MOST_WAITS = 100000, REST_US = 5000, START_US = 500000 };

struct connection {
    int descriptor;
    size_t sent;
};

static uint16_t port;
static char lines[LINE * LINES], received[1 << 16];
static double waits[MOST_WAITS];
static size_t wait_count;
static _Atomic bool is_over;

static void check(bool good, const char *what) {
    if (good)
        return;
    perror(what);
    exit(EXIT_FAILURE);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int connect_one(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    return descriptor;
}

static void *ask(void *unused) {
    int descriptor = connect_one();
    usleep(START_US);
    while (!is_over && wait_count < MOST_WAITS) {
        char answer[LINE];
        double start = now();
        check(send(descriptor, lines, LINE, MSG_NOSIGNAL) == LINE, "send");
        check(recv(descriptor, answer, LINE, MSG_WAITALL) == LINE, "recv");
        waits[wait_count++] = now() - start;
        usleep(REST_US);
    }
    return unused;
}

static size_t serve(struct connection *connection, uint32_t events) {
    ssize_t count = events & EPOLLIN ? recv(connection->descriptor, received, sizeof received, 0) : 0;
    if (events & EPOLLOUT) {
        size_t begun = connection->sent % LINE;
        ssize_t sent = send(connection->descriptor, lines + begun, sizeof lines - begun, MSG_NOSIGNAL);
        connection->sent += sent > 0 ? (size_t)sent : 0;
    }
    return count > 0 ? (size_t)count : 0;
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return fprintf(stderr, "usage: %s PORT CONNECTIONS SECONDS\n", argv[0]), EXIT_FAILURE;
    port = (uint16_t)atoi(argv[1]);
    size_t count = strtoul(argv[2], NULL, 10), bytes = 0;
    struct rlimit limit = {count + BATCH, count + BATCH};
    setrlimit(RLIMIT_NOFILE, &limit);
    for (size_t i = 0; i < sizeof lines; i++)
        lines[i] = i % LINE == LINE - 1 ? '\n' : 'm';
    struct connection *connections = calloc(count, sizeof *connections);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    check(connections && epoll >= 0, "start");
    for (size_t i = 0; i < count; i++) {
        connections[i].descriptor = connect_one();
        fcntl(connections[i].descriptor, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = &connections[i]};
        check(epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].descriptor, &event) == 0, "epoll_ctl");
    }
    pthread_t asker;
    check(pthread_create(&asker, NULL, ask, NULL) == 0, "pthread_create");
    double seconds = atof(argv[3]), end = now() + seconds;
    while (now() < end) {
        struct epoll_event events[BATCH];
        int ready = epoll_wait(epoll, events, BATCH, 100);
        for (int i = 0; i < ready; i++)
            bytes += serve(events[i].data.ptr, events[i].events);
    }
    is_over = true;
    // What they still have to send is lost, so that the one is answered.
    for (size_t i = 0; i < count; i++)
        close(connections[i].descriptor);
    pthread_join(asker, NULL);
    check(wait_count > 0, "nothing came back");
    qsort(waits, wait_count, sizeof *waits, compare);
    printf("lines=%.0f p50=%.3f max=%.3f\n", (double)bytes / LINE / seconds, waits[wait_count / 2],
           waits[wait_count - 1]);
    return EXIT_SUCCESS;
}
