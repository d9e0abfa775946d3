// transfer.h — W14: bytes from one descriptor to another through a loop. One file per loop.
#ifndef TRANSFER_H
#define TRANSFER_H
#include <stddef.h>

enum { READ_AT_ONCE = 65536 };

/// Sends `total` bytes to `writer`, a chunk at a time, as fast as `reader`, in the same loop, receives them; returns when all were received.
/// Both descriptors are non-blocking. How many arrived.
size_t transfer(int reader, int writer, const char *chunk, size_t chunk_size, size_t total);

#endif // TRANSFER_H
