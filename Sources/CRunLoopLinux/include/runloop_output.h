// runloop_output.h — output through a descriptor, as much of it as the other side takes. Part of runloop_linux.h, whose general rules hold.
//
// Bytes are sent at once where that is possible. What the kernel does not take waits in a buffer with a limit, and the loop sends it when the
// descriptor is writable; the source asks for that only while something waits. A producer that is faster than the other side finds the buffer
// full, and goes on when `drained` is called: that is all there is to back-pressure.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_OUTPUT_H
#define RUNLOOP_OUTPUT_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A descriptor that is written to, and the bytes that wait for it.
/// It keeps its modes from being empty, whether output waits or not. If it is in several loops, one of them sends. When it is invalidated, what
/// waits is dropped, and a descriptor that it owns is closed, without anything being said to the peer of a socket that others have open as
/// well; `drained` is not called any more.
typedef runloop_source runloop_output;

/// The configuration of an output, which is copied.
typedef struct runloop_output_config {
    runloop_context context;
    /// Open for writing: a socket, a pipe, a terminal, a file, /dev/null. Need not be non-blocking, though a terminal that is not may hold up
    /// the loop's thread for a moment, and of a pipe that is not at most 4,096 bytes are written at a time.
    int descriptor;
    /// true: from its creation on the object alone closes the descriptor. false: it remains the caller's: close it after the
    /// object's end.
    bool owns;
    size_t limit; ///< How many bytes may wait, at least one. The buffer never needs more memory than that.
    runloop *
        loop; ///< Whose clock dates what was sent (runloop_output_get_moved_ns), and which is retained; NULL: the machine's clock.
    /// On the loop's thread, in the modes of the source: output had waited, and all of it was sent (`error` is 0), or can't be (a negative errno
    /// value: -EPIPE, -ECONNRESET; -ETIMEDOUT for the idle limit). Once each time that output has waited, however much and for whom, and for a
    /// `low_water` besides. May be NULL.
    void (*RUNLOOP_SENDABLE drained)(runloop_output *output, int error, void *info);
    /// In nanoseconds, by the clock of `loop`, though it is machine time that passes until that is looked at. If output waits, and for so long
    /// none of it could be sent because the other side reads nothing, that is the error -ETIMEDOUT, which drops it; never earlier, and not
    /// before the kernel was asked once more. Looked at in the modes of the source. The loop wakes up for it once per limit at most, and once
    /// more when output begins to wait. It goes on when an input of the same connection is paused or has ended. 0: no limit.
    int64_t idle_ns;
    /// After each removal from a mode, as of any source; at the end of its loop, too. May be NULL.
    void (*RUNLOOP_SENDABLE cancel)(runloop_output *output, runloop *loop, const char *mode, void *info);
    /// A connection that ends before runloop_output_finish has sent everything, because of an error, a limit, or at once by invalidation or its
    /// last release, is reset when its socket is closed (SO_LINGER of 0): the kernel keeps nothing for a peer that does not read, and that
    /// reads an error in place of an end. Without it the kernel goes on sending what it has taken, for minutes if the peer takes none of it. Of
    /// a connection that was finished, TCP_USER_TIMEOUT limits that. No effect but on sockets.
    bool resets;
    /// A low-water mark, below `limit`. If it is not 0, `drained` is called as well, with 0, when what waits has fallen to so many bytes, if a call
    /// was refused some since the last time: so a producer goes on while the rest is sent, and not only when all was. runloop_output_get_waiting
    /// says whether something waits still.
    size_t low_water;
} runloop_output_config;

/// Makes an output, in no loop yet. After an error the descriptor remains the caller's in any case. O(1), a few system calls.
/// Errors: -EBADF: not open for writing; -EPROTOTYPE: a socket of messages (SOCK_DGRAM, SOCK_SEQPACKET), which are no stream; -EINVAL: no
/// limit of bytes, a mark that is not below it, or a negative idle limit; -ENOMEM; -ENOSPC; -EMFILE, -ENFILE: for a moment it needs a
/// descriptor, unless it is for a socket or a pipe.
RUNLOOP_EXPORT int runloop_output_create(const runloop_output_config *config, runloop_output **out);

//===-- Writing ------------------------------------------------------------------------------------------------------===//
// Any thread; calls exclude one another, so the bytes of one call are not mixed with another's. None of them waits. An error of the
// descriptor drops what waits, and is the result of every further call. No call raises SIGXFSZ or SIGPIPE: sockets are asked not to, and pipes since
// Linux 6.18; before that, the signal is blocked in the calling thread around a write to a pipe, and taken back, which costs two system calls.
// In regular files, and whatever else the kernel does not watch, nothing waits: they are written at once. A forked child never sends what the
// parent's buffer had at the fork.

/// Writes as much as the kernel and the buffer of an output take. If that is less than `count`, `drained` is called when it is time to go
/// on. O(count), and a system call, or none while the descriptor is known to be full.
/// Returns: the number of bytes, from the beginning, that are sent or will be.
/// Errors: -EAGAIN: the buffer is full, and `drained` is called when it is not; -ENOMEM; -EPIPE: after runloop_output_finish, or the peer is
/// gone; -ECONNRESET, -ENOSPC, -EFBIG, -EIO: the descriptor has failed, now or before, as with any other error of write(2); -EIO also of a file
/// that takes nothing for now, since the kernel would not report when it does; -EINVAL: it has ended; -ECHILD.
RUNLOOP_EXPORT ptrdiff_t runloop_output_write(runloop_output *output, const void *bytes, size_t count);

/// Takes all bytes or none, and leaves the sending to the loop, which sends what many calls have enqueued at once. O(count), and a system
/// call if nothing waited before.
/// Errors: those of runloop_output_write; -EAGAIN: there is not enough space now, and `drained` is called when there is; -EMSGSIZE: more than
/// the limit.
RUNLOOP_EXPORT int runloop_output_enqueue(runloop_output *output, const void *bytes, size_t count);

/// Sends what waits, without waiting for the loop. O(what waits), a system call.
/// Returns: 0: nothing waits now.
/// Errors: those of runloop_output_write; -EAGAIN: the kernel does not take all of it, and `drained` follows.
RUNLOOP_EXPORT int runloop_output_flush(runloop_output *output);

/// Takes no more bytes, and ends the output once everything was sent: the sending half of a socket is shut down, so that the peer reads an
/// end and may go on sending; any other descriptor is closed if the object owns it. Twice has the effect of once. O(what waits).
/// Returns: 0: it is done.
/// Errors: those of runloop_output_write; -EAGAIN: something waits still, and `drained` follows once it is done.
RUNLOOP_EXPORT int runloop_output_finish(runloop_output *output);

/// Gives an output an instant by which all that waits has to be sent: by the clock of `idle_ns`. If something still waits when that has
/// passed, this is the error -ETIMEDOUT, however much is taken now and then; not before the kernel was asked once more, and in the modes of the
/// source. Each call takes the place of the former one; RUNLOOP_NEVER, as at first: none. So a response as a whole has a limit. It remains when
/// output was drained. Without effect on files. Not the deadline of runloop_source_set_deadline, which is the object's. After an error nothing
/// has changed. Any thread, and allowed in call-outs. O(log n) per mode.
/// Errors: -ENOMEM; -EPIPE: it is finished, or the peer is gone; -ECONNRESET, -ETIMEDOUT, -EIO: the descriptor has failed before, as with any
/// other error of write(2); -EINVAL: it has ended; -ECHILD.
RUNLOOP_EXPORT int runloop_output_set_deadline(runloop_output *output, int64_t deadline_ns);

/// How many bytes wait in an output. Any thread. O(1).
RUNLOOP_EXPORT size_t runloop_output_get_waiting(runloop_output *output);
/// When the kernel last took bytes of an output; at first, when the object was made. With the same of an input it shows how long a
/// connection has been idle, without a timer that is moved for every byte. Any thread. O(1).
RUNLOOP_EXPORT int64_t runloop_output_get_moved_ns(runloop_output *output);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_OUTPUT_H
