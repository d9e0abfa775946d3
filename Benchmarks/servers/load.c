// load.c — load for an echo server: `load PORT CONNECTIONS MILLISECONDS`. Each connection sends a message, waits until all of it is
// back, and sends the next. Prints how many came back in how many seconds, and the time of a round trip.

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 64, BATCH = 64, SAMPLES = 1 << 20, CONNECTIONS_AT_MOST = 10000 };

struct connection {
    int descriptor;
    size_t received;
    int64_t sent_ns;
};

static const int64_t PATIENCE_NS = 30000000000;

static char message[MESSAGE];
static float samples[SAMPLES];
static uint64_t round_trips;

static void check(int good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void send_message(struct connection *connection) {
    connection->received = 0;
    connection->sent_ns = now_ns();
    check(send(connection->descriptor, message, sizeof message, MSG_NOSIGNAL) == sizeof message, "send");
}

static void receive(struct connection *connection) {
    char bytes[MESSAGE];
    ssize_t count = recv(connection->descriptor, bytes, sizeof message - connection->received, 0);
    check(count > 0, "recv");
    check(memcmp(bytes, message + connection->received, (size_t)count) == 0, "what came back is not what was sent");
    connection->received += (size_t)count;
    if (connection->received < sizeof message)
        return;
    samples[round_trips++ % SAMPLES] = (float)(now_ns() - connection->sent_ns);
    send_message(connection);
}

static void start(struct connection *connection, uint16_t port, int epoll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(connection->descriptor >= 0, "socket");
    check(connect(connection->descriptor, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    int one = 1;
    setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, connection->descriptor, &event) == 0, "epoll_ctl");
}

static int compare(const void *a, const void *b) {
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return fprintf(stderr, "usage: %s PORT CONNECTIONS MILLISECONDS\n", argv[0]), EXIT_FAILURE;
    size_t count = strtoul(argv[2], NULL, 10);
    check(count > 0 && count <= CONNECTIONS_AT_MOST, "number of connections");
    struct rlimit limit = {count + BATCH, count + BATCH};
    setrlimit(RLIMIT_NOFILE, &limit);
    memset(message, 'm', sizeof message);
    message[sizeof message - 1] = '\n'; // for servers of lines
    struct connection *connections = calloc(count, sizeof *connections);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    check(connections && epoll >= 0, "start");
    for (size_t i = 0; i < count; i++)
        start(&connections[i], (uint16_t)atoi(argv[1]), epoll);
    int64_t start_ns = now_ns(), end_ns = start_ns + strtoll(argv[3], NULL, 10) * 1000000, time_ns;
    for (size_t i = 0; i < count; i++)
        send_message(&connections[i]);
    // On a busy machine a server may not run in all that time, so wait for the first answer.
    while ((time_ns = now_ns()) < end_ns || (round_trips == 0 && time_ns < start_ns + PATIENCE_NS)) {
        struct epoll_event events[BATCH];
        int ready = epoll_wait(epoll, events, BATCH, time_ns < end_ns ? (int)((end_ns - time_ns) / 1000000 + 1) : 100);
        for (int i = 0; i < ready; i++)
            receive(events[i].data.ptr);
    }
    size_t sampled = round_trips < SAMPLES ? round_trips : SAMPLES;
    check(sampled > 0, "nothing came back");
    qsort(samples, sampled, sizeof *samples, compare);
    printf("requests=%llu seconds=%.6f p50_ns=%.0f p99_ns=%.0f\n", (unsigned long long)round_trips,
           (double)(time_ns - start_ns) / 1e9, (double)samples[sampled / 2], (double)samples[sampled * 99 / 100]);
    return EXIT_SUCCESS;
}
