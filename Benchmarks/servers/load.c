// load.c — load for a server: `load PORT CONNECTIONS MILLISECONDS [echo|http|chat]`. Each connection sends a message, waits until all of the
// answer is there, and sends the next; in a chat one after the other sends, when all have received what the former one sent. Prints how
// many answers came in how many seconds, and the time from a message to an answer.

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MESSAGE = 64,
    ANSWER_AT_MOST = 1024,
    BATCH = 64,
    SAMPLES = 1 << 20,
    CONNECTIONS_AT_MOST = 10000,
    JOINING_US = 500000
};

struct connection {
    int descriptor;
    size_t received;
    int64_t sent_ns;
};

static const int64_t PATIENCE_NS = 30000000000;

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n";
static const char PAGE[] = "Hello, world!\n";

static char text[MESSAGE]; ///< a line
static const char *message = text;
static size_t message_size = sizeof text;
static bool is_http, is_chat;
static struct connection *connections;
static size_t connection_count, next_sender, missing; ///< of a chat: how many have not received the message yet
static int64_t chat_sent_ns;
static float samples[SAMPLES];
static uint64_t answers;

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
    connection->sent_ns = now_ns();
    check(send(connection->descriptor, message, message_size, MSG_NOSIGNAL) == (ssize_t)message_size, "send");
}

static void send_to_all(void) {
    missing = connection_count;
    chat_sent_ns = now_ns();
    send_message(&connections[next_sender++ % connection_count]);
}

/// An answer of HTTP is as long as it likes, up to the page; any other is the message.
static bool is_complete(const struct connection *connection, const char *bytes, size_t count) {
    if (!is_http)
        return connection->received == message_size;
    size_t end = sizeof PAGE - 1;
    return count >= end && memcmp(bytes + count - end, PAGE, end) == 0;
}

static void receive(struct connection *connection) {
    char bytes[ANSWER_AT_MOST];
    size_t limit = is_http ? sizeof bytes : message_size - connection->received;
    ssize_t count = recv(connection->descriptor, bytes, limit, 0);
    check(count > 0, "recv");
    check(is_http || memcmp(bytes, message + connection->received, (size_t)count) == 0,
          "what came back is not what was sent");
    connection->received += (size_t)count;
    if (!is_complete(connection, bytes, (size_t)count))
        return;
    connection->received = 0;
    samples[answers++ % SAMPLES] = (float)(now_ns() - (is_chat ? chat_sent_ns : connection->sent_ns));
    if (!is_chat)
        send_message(connection);
    else if (--missing == 0)
        send_to_all();
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
    is_http = argc == 5 && strcmp(argv[4], "http") == 0;
    is_chat = argc == 5 && strcmp(argv[4], "chat") == 0;
    if (argc < 4 || argc > 5 || (argc == 5 && !is_http && !is_chat && strcmp(argv[4], "echo") != 0))
        return fprintf(stderr, "usage: %s PORT CONNECTIONS MILLISECONDS [echo|http|chat]\n", argv[0]), EXIT_FAILURE;
    size_t count = connection_count = strtoul(argv[2], NULL, 10);
    check(count > 0 && count <= CONNECTIONS_AT_MOST, "number of connections");
    struct rlimit limit = {count + BATCH, count + BATCH};
    setrlimit(RLIMIT_NOFILE, &limit);
    memset(text, 'm', sizeof text);
    text[sizeof text - 1] = '\n'; // for servers of lines
    if (is_http) {
        message = REQUEST;
        message_size = sizeof REQUEST - 1;
    }
    connections = calloc(count, sizeof *connections);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    check(connections && epoll >= 0, "start");
    for (size_t i = 0; i < count; i++)
        start(&connections[i], (uint16_t)atoi(argv[1]), epoll);
    int64_t start_ns = now_ns(), end_ns = start_ns + strtoll(argv[3], NULL, 10) * 1000000, time_ns;
    for (size_t i = 0; i < count && !is_chat; i++)
        send_message(&connections[i]);
    if (is_chat) {
        // Everybody is to have been accepted.
        usleep(JOINING_US);
        start_ns = now_ns();
        end_ns = start_ns + strtoll(argv[3], NULL, 10) * 1000000;
        send_to_all();
    }
    // On a busy machine a server may not run in all that time, so wait for the first answer.
    while ((time_ns = now_ns()) < end_ns || (answers == 0 && time_ns < start_ns + PATIENCE_NS)) {
        struct epoll_event events[BATCH];
        int ready = epoll_wait(epoll, events, BATCH, time_ns < end_ns ? (int)((end_ns - time_ns) / 1000000 + 1) : 100);
        for (int i = 0; i < ready; i++)
            receive(events[i].data.ptr);
    }
    size_t sampled = answers < SAMPLES ? answers : SAMPLES;
    check(sampled > 0, "nothing came back");
    qsort(samples, sampled, sizeof *samples, compare);
    printf("requests=%llu seconds=%.6f p50_ns=%.0f p99_ns=%.0f\n", (unsigned long long)answers,
           (double)(time_ns - start_ns) / 1e9, (double)samples[sampled / 2], (double)samples[sampled * 99 / 100]);
    return EXIT_SUCCESS;
}
