// flush.h — the streams of the C library, flushed before the process ends by a signal.
#ifndef RUNLOOP_FLUSH_H
#define RUNLOOP_FLUSH_H

/// Flushes all output streams, as exit does. Standard output takes as long as its reader needs; the others take a second at most.
void runloop__flush_streams(void);

#endif // RUNLOOP_FLUSH_H
