// ring.h — bytes in the order of their arrival, in a buffer that grows up to a limit. Nothing is moved when bytes are taken from the front.
// A buffer is freed once the ring has another one, since a child that is forked meanwhile frees the one that it finds there.
#ifndef RUNLOOP_RING_H
#define RUNLOOP_RING_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { RING_FIRST_CAPACITY = 4096, RING_KEPT_CAPACITY = 16384 };

struct ring {
    char *bytes;
    size_t capacity, start, count;
    size_t limit;
};

/// The bytes, in one piece or two. The number of pieces.
static inline int ring_pieces(const struct ring *ring, struct iovec pieces[2]) {
    size_t first = ring->capacity - ring->start;
    if (first > ring->count)
        first = ring->count;
    pieces[0] = (struct iovec){ring->bytes + ring->start, first};
    pieces[1] = (struct iovec){ring->bytes, ring->count - first};
    return first == ring->count ? 1 : 2;
}

/// Space for `count` more bytes, which are within the limit. False: there is no memory, and nothing has changed.
static inline bool ring_reserve(struct ring *ring, size_t count) {
    size_t needed = ring->count + count, capacity = ring->capacity ? ring->capacity : RING_FIRST_CAPACITY;
    if (needed <= ring->capacity)
        return true;
    while (capacity < needed)
        capacity = capacity > ring->limit / 2 ? ring->limit : capacity * 2;
    if (capacity > ring->limit)
        capacity = ring->limit;
    char *bytes = malloc(capacity);
    if (!bytes)
        return false;
    struct iovec pieces[2];
    if (ring->count > 0) {
        ring_pieces(ring, pieces);
        memcpy(bytes, pieces[0].iov_base, pieces[0].iov_len);
        memcpy(bytes + pieces[0].iov_len, pieces[1].iov_base, pieces[1].iov_len);
    }
    char *former = ring->bytes;
    ring->bytes = bytes;
    ring->capacity = capacity;
    ring->start = 0;
    free(former);
    return true;
}

/// Appends bytes for which there is space.
static inline void ring_append(struct ring *ring, const char *bytes, size_t count) {
    if (count == 0)
        return;
    size_t end = ring->start + ring->count;
    if (end >= ring->capacity)
        end -= ring->capacity;
    size_t first = ring->capacity - end < count ? ring->capacity - end : count;
    memcpy(ring->bytes + end, bytes, first);
    memcpy(ring->bytes, bytes + first, count - first);
    ring->count += count;
}

static inline void ring_empty(struct ring *ring) {
    char *former = ring->bytes;
    *ring = (struct ring){.limit = ring->limit};
    free(former);
}

/// Drops the first bytes. An empty ring keeps a small buffer only.
static inline void ring_drop(struct ring *ring, size_t count) {
    ring->count -= count;
    ring->start += count;
    if (ring->start >= ring->capacity)
        ring->start -= ring->capacity;
    if (ring->count > 0)
        return;
    ring->start = 0;
    if (ring->capacity > RING_KEPT_CAPACITY)
        ring_empty(ring);
}

#endif // RUNLOOP_RING_H
