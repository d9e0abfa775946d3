// transfer_raw.c — W14's bytes by hand: an epoll set, read and write.

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "transfer.h"

static size_t unsent;

static void watch(int set, int operation, int descriptor, unsigned events) {
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    if (epoll_ctl(set, operation, descriptor, &event) != 0)
        abort();
}

/// What is left of a chunk that was not taken whole is sent before the next one.
static void send_chunks(int writer, const char *chunk, size_t chunk_size) {
    static size_t sent;
    while (unsent > 0) {
        size_t size = chunk_size - sent < unsent ? chunk_size - sent : unsent;
        ssize_t taken = write(writer, chunk + sent, size);
        if (taken < 0 && errno == EAGAIN)
            return;
        if (taken < 0)
            abort();
        unsent -= (size_t)taken;
        sent = (sent + (size_t)taken) % chunk_size;
    }
}

size_t transfer(int reader, int writer, const char *chunk, size_t chunk_size, size_t total) {
    static char bytes[READ_AT_ONCE];
    size_t received = 0;
    int set = epoll_create1(EPOLL_CLOEXEC);
    unsent = total;
    watch(set, EPOLL_CTL_ADD, reader, EPOLLIN);
    watch(set, EPOLL_CTL_ADD, writer, EPOLLOUT);
    while (received < total) {
        struct epoll_event events[2];
        int count = epoll_wait(set, events, 2, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == writer) {
                send_chunks(writer, chunk, chunk_size);
                if (unsent == 0)
                    watch(set, EPOLL_CTL_DEL, writer, 0);
                continue;
            }
            ssize_t more = read(reader, bytes, sizeof bytes);
            if (more < 0 && errno != EAGAIN)
                abort();
            received += more > 0 ? (size_t)more : 0;
        }
    }
    close(set);
    return received;
}
