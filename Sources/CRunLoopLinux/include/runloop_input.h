// runloop_input.h — input from a descriptor, whole lines or as it comes, in a buffer with a limit. Part of runloop_linux.h, whose general
// rules hold.
//
// The loop reads once per iteration while the descriptor is readable, and calls with what there is; what the program does not consume is
// kept. A program that can't keep up pauses the input: then nothing is read, and the other side finds its buffer full.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_INPUT_H
#define RUNLOOP_INPUT_H
#ifdef __linux__
#include "runloop.h"
#include "runloop_output.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A descriptor that is read, and the bytes that are not consumed yet.
/// It keeps its modes from being empty until the end of the input, paused or not. If it is in several loops, one of them reads at a time. A
/// regular file, and whatever else the kernel does not watch, is read once per iteration, so that the loop serves everything else meanwhile.
/// What is kept stays when a loop ends, for the next one. When it is invalidated, what was kept is dropped, a descriptor that it owns is
/// closed, and nothing is called any more, `ended` included.
typedef runloop_source runloop_input;

/// The configuration of an input, which is copied. The call-outs come on the loop's thread, in the modes of the source, one at a time: none while
/// another one runs, in nested runs or another loop either. None comes while the input is paused, or after `ended`. The bytes are the input's,
/// and valid during the call. If a thread ends within a call-out, what it did not consume is kept.
typedef struct runloop_input_config {
    runloop_context context;
    /// Open for reading: a socket, a pipe, a terminal, a file, /dev/null. Need not be non-blocking, though another reader of the same
    /// pipe or terminal may then hold up the loop's thread.
    int descriptor;
    /// true: from its creation on the object alone closes the descriptor. false: it remains the caller's: close it after the
    /// object's end.
    bool owns;
    /// The longest line without its end, or else the most bytes that are kept; at least one. What is kept never needs more memory than that
    /// and the end of a line, and an input that keeps nothing has some 256 bytes. One read takes up to 64 KiB, within the limit: a
    /// shorter message that has arrived as a whole comes in one piece, unless memory is short. The buffer for that is shared by all inputs
    /// that are not in a call-out.
    size_t limit;
    runloop *
        loop; ///< Whose clock dates what was read (runloop_input_get_moved_ns), and which is retained; NULL: the machine's clock.
    /// Bytes have come. All that are not consumed yet, at least one; the result is how many of them are consumed now, from the beginning. The
    /// rest comes again, with more, or when the input is resumed. If nothing of as many bytes as the limit is consumed, and the input not
    /// paused, it ends with -EMSGSIZE. Either this or `received_line` is NULL.
    size_t (*RUNLOOP_SENDABLE received)(runloop_input *input, const char *bytes, size_t count, void *info);
    /// A line has come; not terminated by a null, and without its end: a line feed, or a carriage return and a line feed. What follows the last
    /// line feed of the input is a line as well, unless it is empty. `error` is 0, or -EMSGSIZE, once for a line that is longer than the
    /// limit: `line` is its beginning, and the rest of it is dropped.
    void (*RUNLOOP_SENDABLE received_line)(runloop_input *input, const char *line, size_t count, int error, void *info);
    /// Once: the end of the input (`error` is 0; of the parent's side of a pty that nobody has the other side any more), or it can't be
    /// read (a negative errno value: -ECONNRESET, -EISDIR, -EIO, -EMSGSIZE, -ENOMEM; -EAGAIN of a file, since the kernel would not report
    /// when it has more; -ETIMEDOUT for the limits of time; -ENOMEM, -ENOSPC, -EMFILE and -ENFILE also if it can't be watched again after a
    /// call-out). `rest` is what was not consumed. The source is invalid by then, and a descriptor that is owned still open: it is closed
    /// after the call. May be NULL.
    void (*RUNLOOP_SENDABLE ended)(runloop_input *input, int error, const char *rest, size_t count, void *info);
    /// In nanoseconds, by the clock of `loop`, though it is machine time that passes until that is looked at. If nothing has arrived for so
    /// long, the input ends with -ETIMEDOUT; never earlier, and not before what has arrived is read, however late the loop is. Counted
    /// from the creation on, and from the end of each call-out. Not while the input is paused, when the other side is not expected to send:
    /// resuming begins anew. What limits a pause in which output waits is the idle limit of that output. The loop wakes up once per limit at
    /// most, whatever is read. 0: no limit.
    int64_t idle_ns;
    /// The output of the same connection, with the same `loop`, which is retained: what it moves postpones the limit as well. NULL: none.
    runloop_output *output;
    /// In nanoseconds, as `idle_ns`: how long a line that has begun, or else a message, may take to be complete. It ends a peer that sends a
    /// byte now and then, which no idle limit does. A message has begun when a call has returned and left bytes, and was complete when a call
    /// consumes some. If the limit has passed, what has arrived when the loop finds that is read still; if the message is not complete
    /// with it, the input ends with -ETIMEDOUT, also if more arrives. So a loop that is late ends nobody whose message has arrived. A pause
    /// begins it anew. 0: no limit.
    int64_t message_ns;
} runloop_input_config;

/// Makes an input, in no loop yet, which reads nothing before its source is in a mode that runs. It has no descriptor of its own. After an
/// error the descriptor remains the caller's in any case. O(1), a few system calls.
/// Errors: -EBADF: not open for reading; -EPROTOTYPE: a socket of messages (SOCK_DGRAM, SOCK_SEQPACKET), which are no stream: take a source for
/// the descriptor, or a channel; -EINVAL: no limit, not exactly one of `received` and `received_line`, a negative time, or an
/// output without an idle limit; -ENOMEM; -ENOSPC; -EMFILE, -ENFILE: for a moment it needs a descriptor, unless it is for a socket or a
/// pipe.
RUNLOOP_EXPORT int runloop_input_create(const runloop_input_config *config, runloop_input **out);

/// Pauses an input: it reads nothing and calls nothing, from the return on, except that a call-out that runs on another thread is not
/// waited for. Allowed in a call-out, of a line as well: the lines after it stay. Twice has the effect of once. Any thread. O(1), a system
/// call.
/// Errors: -EINVAL: it has ended; -ECHILD.
RUNLOOP_EXPORT int runloop_input_pause(runloop_input *input);
/// Goes on after a pause. What was kept comes at once, even if nothing follows. If it was not paused, what is kept comes again, too: for a
/// program that could not consume it before. After an error it is paused still. O(1), a system call.
/// Errors: -EINVAL: it has ended; -ECHILD; -ENOMEM; -ENOSPC.
RUNLOOP_EXPORT int runloop_input_resume(runloop_input *input);
/// Whether an input is paused. Any thread. O(1).
RUNLOOP_EXPORT bool runloop_input_is_paused(runloop_input *input);

/// Gives an input an instant at which it ends with -ETIMEDOUT, whatever arrives: by the clock of `idle_ns`, and never earlier. What has
/// arrived when the loop finds that it has passed is read still, and no more than one read of what comes later. Each call takes the place
/// of the former one; RUNLOOP_NEVER, as at first: none. So a request of several lines or messages has a limit as a whole, and with the same
/// instant for the output an exchange has: set it when that begins, and RUNLOOP_NEVER when it is complete. It passes in a pause as well,
/// and then ends the input when that is resumed. Not the deadline of runloop_source_set_deadline, which is the object's. After an error
/// nothing has changed. Any thread, and allowed in call-outs. O(log n) per mode.
/// Errors: -EINVAL: it has ended; -ECHILD; -ENOMEM.
RUNLOOP_EXPORT int runloop_input_set_deadline(runloop_input *input, int64_t deadline_ns);

/// When an input last read bytes; at first, when the object was made. With the same of an output it shows how long a connection has been
/// idle. Any thread. O(1).
RUNLOOP_EXPORT int64_t runloop_input_get_moved_ns(runloop_input *input);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_INPUT_H
