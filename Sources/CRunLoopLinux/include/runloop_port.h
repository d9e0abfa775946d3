// runloop_port.h — messages between the threads of a process, with replies. Part of runloop_linux.h, whose general rules hold, but for
// these:
//
//  - A port has one loop, named at its creation, to whose modes it is added (runloop_add_source). That loop is woken for what comes, and the
//    port ends with it: so nobody waits for a receiver that is gone. Another loop that it is added to, too, may receive a message as well,
//    but is not woken. A port has no descriptor.
//  - A port ends when it is invalidated, when its last reference is released (a loop keeps a port that is in a mode), and when its loop's
//    thread ends, whether it was in a mode or not. Its end drops the messages that wait, tells the threads that wait for space, answers every
//    request that it has not answered, with -EPIPE, and calls `discard` for those that it has sent itself. A request that shall still be
//    replied to is replied to before. O(messages, requests).
//  - In a forked child, calls for an inherited port or request give -ECHILD, and their memory is left as it is.
//
// Each call-out is for one message or one reply, and the loop's iteration goes on: timers and other sources are served in between, also in a
// flood. A burst of messages costs one wake-up. The messages of one sender are received in the order in which it sent them.
#ifndef RUNLOOP_PORT_H
#define RUNLOOP_PORT_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Receives messages on the thread of a loop, and sends requests for which the replies come there.
typedef runloop_source runloop_port;
/// A received request, to be replied to by any thread. It is answered exactly once, whatever happens.
typedef struct runloop_request runloop_request;

/// A message that a port has received.
typedef struct runloop_message {
    const void *
        bytes; ///< A copy, aligned for any type: during the call, and those of a request as long as that is referenced.
    size_t length; ///< Of them.
    /// If a reply is awaited, else NULL. The call-out has the only reference: if it neither replies nor retains the request, it is dropped,
    /// and the asker is told so.
    runloop_request *request;
} runloop_message;

/// The answer to a request.
typedef struct runloop_reply {
    /// 0: the reply is in `bytes`. -EPIPE: the port has ended before it replied. -ENOMSG: the request was dropped, its last reference
    /// released without a reply. -ETIMEDOUT: the deadline has passed.
    int32_t result;
    const void *bytes; ///< Aligned for any type: during the call. NULL if `length` is 0.
    size_t length;     ///< Of them.
} runloop_reply;

/// The configuration of a port, which is copied.
typedef struct runloop_port_config {
    runloop_context context;
    size_t max_messages; ///< How many messages may wait to be received. 0 stands for 64.
    size_t max_bytes;    ///< How many bytes these may have, which also limits each message. 0 stands for 1 MiB.
    /// On the loop's thread, in the modes of the source, once for each message. A nested run in one of the modes receives the next ones. May be
    /// NULL: messages are consumed, requests dropped.
    void (*RUNLOOP_SENDABLE receive)(runloop_port *port, const runloop_message *message, void *info);
} runloop_port_config;

/// Creates a port of a loop, in no mode yet: messages wait. Every thread that sends to it has a reference. O(1).
/// Errors: -EINVAL; -ENOMEM; -ESHUTDOWN; -ECHILD.
RUNLOOP_EXPORT int runloop_port_create(runloop *loop, const runloop_port_config *config, runloop_port **out);
/// The loop with which a port ends. O(1).
/// Returns: the loop, borrowed.
RUNLOOP_EXPORT runloop *runloop_port_get_loop(runloop_port *port);
/// Whether a port has not ended. Unlike runloop_source_is_valid it is false also when its loop has ended, of which a source in no mode
/// learns nothing. O(1).
RUNLOOP_EXPORT bool runloop_port_is_valid(runloop_port *port);
/// How many messages wait in a port. O(1).
RUNLOOP_EXPORT size_t runloop_port_get_count(runloop_port *port);

/// Sends a copy of the bytes, from any thread. If there is no space, waits for it until the instant `deadline_ns` of CLOCK_MONOTONIC;
/// RUNLOOP_NEVER is as long as it takes, 0 not at all. After an error nothing was sent. Not a cancellation point. One allocation,
/// O(length); one system call if the loop sleeps.
/// Errors: -EAGAIN: there is no space; -ETIMEDOUT: there was none until the deadline; -EDEADLK: there is none, and the caller would wait
/// for itself, on the port's own thread; -EMSGSIZE: longer than the port ever takes; -EPIPE: the port has ended, perhaps meanwhile;
/// -EINVAL; -ENOMEM; -ECHILD.
RUNLOOP_EXPORT int runloop_port_send(runloop_port *port, const void *bytes, size_t length, int64_t deadline_ns);

//===-- Requests -----------------------------------------------------------------------------------------------------===//
/// How a request is answered, which is copied.
typedef struct runloop_request_config {
    runloop_port
        *asker; ///< On whose loop, and in whose modes, the answer is called out. It keeps no reference to the port.
    /// Until when the answer is awaited, by the clock of that loop; RUNLOOP_NEVER, or 0: no deadline. It is the deadline of the source
    /// (runloop_source_set_deadline), and kept in the modes of that.
    int64_t deadline_ns;
    /// Once, on the asker's thread. May be NULL.
    void (*RUNLOOP_SENDABLE replied)(const runloop_reply *reply, void *info);
    /// Instead of `replied`, if the asker ends or the request is cancelled before: always exactly one of the two, but neither after an
    /// error of the request. On the thread that did so, or on the one that was replying. May be NULL.
    runloop_function discard;
    void *info; ///< For the two.
} runloop_request_config;

/// Sends a request to `port`, and returns at once; `id`, which may be NULL, receives its number among those of the asker. Never waits for
/// space. Any thread. One allocation, O(length), and O(requests with a later deadline).
/// Errors: -EAGAIN: there is no space; -EMSGSIZE: longer than the port ever takes; -EPIPE: one of the two ports has ended; -EINVAL;
/// -ENOMEM; -ECHILD.
RUNLOOP_EXPORT int runloop_port_request(runloop_port *port, const void *bytes, size_t length,
                                        const runloop_request_config *config, uint64_t *id);

/// Cancels a request that was sent through `asker`: `discard` is called for it, on this thread as a rule, and `replied` is not. If it was
/// not received yet, it will not be; otherwise its receiver can learn that nobody awaits a reply. Any thread. O(requests of the asker).
/// Errors: -ENOENT: `replied` has been called or is being called, or it was cancelled, or the asker has ended; -EINVAL; -ECHILD.
RUNLOOP_EXPORT int runloop_port_cancel(runloop_port *asker, uint64_t id);

/// Sends a request, and blocks the thread until it is answered or the deadline has passed. That is an instant of CLOCK_MONOTONIC. The
/// thread's own loop does not run meanwhile, so two threads that ask each other like that need a deadline; to run it, use
/// runloop_port_request, and run a mode until the answer is there. `*reply` is a copy that the caller frees, aligned for any type, or NULL
/// if the length is 0; `reply` and `reply_length` may be NULL. O(length).
/// Errors: those of runloop_port_send; -ETIMEDOUT: there was no space, or no reply, until the deadline; -EPIPE: the port has ended before
/// it replied; -ENOMSG: the request was dropped; -EDEADLK: on the port's own thread.
RUNLOOP_EXPORT int runloop_port_request_and_wait(runloop_port *port, const void *bytes, size_t length,
                                                 int64_t deadline_ns, void **reply, size_t *reply_length);

/// Retain and release a request, on the receiving side, from the call-out on. The last one drops a request that was not replied to:
/// -ENOMSG. O(1).
RUNLOOP_EXPORT runloop_request *runloop_request_retain(runloop_request *request);
RUNLOOP_EXPORT void runloop_request_release(runloop_request *request);
/// Replies to a request with a copy of the bytes; references remain. Any thread. One allocation, O(length); one system call if the asker
/// sleeps.
/// Errors: -EPIPE: nobody awaits it, because it was replied to, has timed out or was cancelled, or one of the ports has ended; -EINVAL;
/// -ENOMEM: it can be tried again; -ECHILD.
RUNLOOP_EXPORT int runloop_request_reply(runloop_request *request, const void *bytes, size_t length);
/// Whether a reply is still awaited: a long piece of work may ask now and then. O(1).
RUNLOOP_EXPORT bool runloop_request_is_awaited(runloop_request *request);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_PORT_H
