// runloop_channel.h — messages between processes, with descriptors, credentials and replies. Part of runloop_linux.h, whose general rules
// hold.
//
// A channel is one end of a connected SOCK_SEQPACKET socket. The library carries bytes and descriptors; what the bytes mean is the caller's
// business. The process at the other end need not be trusted: what it sends is limited, and what breaks the protocol ends the channel.
//
// There is one thing that it can do, as to any program that receives descriptors: the last close of some files waits, of a socket with
// SO_LINGER, or on a file system that answers slowly (FUSE, NFS). The kernel closes what a packet contains also if nobody receives it, so no
// library can prevent that. A loop that must not be held up by processes of other users (`allows_any_user`) needs a thread for such channels.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CHANNEL_H
#define RUNLOOP_CHANNEL_H
#ifdef __linux__
#include "runloop.h"
#include "runloop_listener.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One end of a connection to another process, or to another thread.
/// If it is in several loops, one of them receives a message. Its end closes the socket; messages that wait are dropped.
typedef runloop_source runloop_channel;
/// A received request, to be replied to by any thread. It is answered exactly once.
typedef struct runloop_call runloop_call;

/// A message that a channel has received.
typedef struct runloop_channel_message {
    const void *bytes; ///< Aligned for any type: during the call.
    size_t length;     ///< Of them.
    /// Closed on exec, and by the channel after the call, but for those that the call-out takes by writing -1 in their place.
    int *descriptors;
    size_t descriptor_count; ///< Of them.
    runloop_call *call;      ///< If a reply is awaited, else NULL. The call-out has the only reference.
} runloop_channel_message;

/// The answer to a request.
typedef struct runloop_reply {
    /// 0: the reply is in `bytes`. -EPIPE: the channel has ended before it replied. -ENOMSG: the call was dropped, its last reference
    /// released without a reply. -ETIMEDOUT: the deadline has passed.
    int32_t result;
    const void *bytes; ///< Aligned for any type: during the call. NULL if `length` is 0.
    size_t length;     ///< Of them.
} runloop_reply;

/// The configuration of a channel, which is copied. 0 stands for the number that is given with each limit.
typedef struct runloop_channel_config {
    runloop_context context;
    size_t max_messages; ///< How many messages may wait for the other end to read. 64.
    size_t max_bytes;    ///< How many bytes these may have, which also limits each message in both directions. 1 MiB.
    size_t max_descriptors; ///< Of a message, in both directions, at most 250. 16.
    /// How many calls of the other end may be open: requests that are not answered or whose answers it has not read, and messages that are
    /// held. Nothing more is read then. While the other end has a request to answer, 1024 more answers may wait, and as many more messages
    /// be held: they come before the reply. That is so after the request has timed out or was cancelled, too, or two such ends would wait
    /// for one another; so an end that never answers may have as many. 64.
    size_t max_calls;
    bool allows_any_user; ///< Otherwise the process at the other end must have the effective user of this one.
    /// On the loop's thread, in the modes of the source, once for each message. May be NULL.
    void (*RUNLOOP_SENDABLE receive)(runloop_channel *channel, runloop_channel_message *message, void *info);
    /// On the loop's thread, once, unless the channel was invalidated before. -EPIPE: the other end is gone, and what it had sent has been
    /// received. -EPROTO: it has sent what no channel sends, or more than the limits. -EMFILE, -ENFILE: a message had descriptors, and there
    /// was no number for them. -ENOMEM. -ETOOMANYREFS: a message had waited, and when it could be sent, too many descriptors were under way.
    /// Requests have been answered before. May be NULL.
    void (*RUNLOOP_SENDABLE ended)(runloop_channel *channel, int32_t reason, void *info);
    /// On the loop's thread, in the modes of the source: messages had waited, and all of them were sent (`error` is 0), or can't be
    /// (-EPIPE). Once each time that messages have waited, so it says when to go on after -EAGAIN. Not after the end. It may make any call
    /// for the channel, send, invalidate and run the loop, too. May be NULL.
    void (*RUNLOOP_SENDABLE drained)(runloop_channel *channel, int error, void *info);
    /// After each removal from a mode, as of any source; at the end of its loop, too. May be NULL.
    void (*RUNLOOP_SENDABLE cancel)(runloop_channel *channel, runloop *loop, const char *mode, void *info);
} runloop_channel_config;

/// Makes a channel of a connected socket, which it owns from then on, and makes non-blocking. After an error the socket remains the
/// caller's. O(1).
/// Errors: -EINVAL: not a SOCK_SEQPACKET socket of the Unix domain, or a limit out of range; -EPERM: the other end belongs to another user;
/// -ENOTCONN: the socket is not connected; -EBADF; -EMFILE, -ENFILE: the peer's pidfd needs a descriptor; -ENOMEM.
RUNLOOP_EXPORT int runloop_channel_create(int descriptor, const runloop_channel_config *config, runloop_channel **out);
/// Makes a socket that listens for channels: a runloop_listener accepts its connections, and each is one for runloop_channel_create. A
/// relative path is one in $XDG_RUNTIME_DIR, which a program with more rights than the user that started it does not read (secure_getenv(3)).
/// `mode` and `backlog` are those of runloop_listen_unix, 0 for the user alone and so is what becomes of a path that was left behind.
/// Anybody may take an abstract name, so a program that wants one has to make that socket itself.
/// Returns: the socket.
/// Errors: those of runloop_listen_unix; -EINVAL: an empty path, or "@name"; -ENOENT: no such directory, or no $XDG_RUNTIME_DIR.
RUNLOOP_EXPORT int runloop_channel_listen(const char *path, uint32_t mode, int backlog);
/// Connects to a socket that listens for channels. Does not wait.
/// Errors: those of runloop_channel_create; -EINVAL: an empty path, "@name", or a limit out of range; -ECONNREFUSED: nobody listens;
/// -EAGAIN: too many wait to be accepted; -ENOENT: no such path, or no $XDG_RUNTIME_DIR; -EACCES: no permission; -ENAMETOOLONG: the path is
/// too long; -EPROTOTYPE: a socket of another type.
RUNLOOP_EXPORT int runloop_channel_connect(const char *path, const runloop_channel_config *config,
                                           runloop_channel **out);

/// The process at the other end, as it was connected. Its pidfd is there for as long as the channel is, and not to be closed. O(1).
/// Errors: -EINVAL.
RUNLOOP_EXPORT int runloop_channel_get_peer(runloop_channel *channel, runloop_peer *out);

/// Sends a copy of the bytes, and the descriptors, which remain the caller's. At most 64 KiB go through the socket, and no more than fits
/// in its buffer (SO_SNDBUF, as it was when the channel was made); more as a sealed memfd. After an error nothing was sent. Any thread; as
/// every call for a channel, no cancellation point. O(length), a system call.
/// Errors: -EAGAIN: as much waits as the limits allow; -EMSGSIZE: more than one message may have; -EPIPE: the other end is gone, or the
/// channel has ended; -EBADF; -EMFILE, -ENFILE: for descriptors of messages that wait, or a memfd; -ETOOMANYREFS: too many descriptors are
/// under way; -EFBIG: the process has a limit of the size of files (RLIMIT_FSIZE), which a memfd would pass; -ENOSYS, -EPERM: it takes a
/// memfd, in a sandbox without memfd_create; -EINVAL; -ENOMEM; -ECHILD.
RUNLOOP_EXPORT int runloop_channel_send(runloop_channel *channel, const void *bytes, size_t length,
                                        const int *descriptors, size_t descriptor_count);

/// Counts one more message as held, which is an open call (`max_calls`) until it is released. For programs that queue what they receive, so
/// that the other end waits when they are slow: usually called once in `receive`, for a message without a call; requests are counted
/// anyway. It is a mere number: which message is meant does not matter, and each call of this needs one of runloop_channel_release_message.
/// Any thread. O(1), and a system call at the limit.
/// Errors: -EPIPE: the channel has ended; -EINVAL; -ECHILD.
RUNLOOP_EXPORT int runloop_channel_hold_message(runloop_channel *channel);
/// Counts one message less as held. Any thread, and after the end. O(1), and a system call at the limit.
/// Errors: -EINVAL: none is held; -ECHILD.
RUNLOOP_EXPORT int runloop_channel_release_message(runloop_channel *channel);

/// How a request is answered, which is copied.
typedef struct runloop_channel_request_config {
    /// Until when a reply is awaited, by the clock of the loop that the channel is in; RUNLOOP_NEVER, or 0: no deadline. It is the deadline
    /// of the source (runloop_source_set_deadline), and kept in the modes of that.
    int64_t deadline_ns;
    /// Once, on the loop's thread. The descriptors of a reply are as in runloop_channel_message. May be NULL.
    void (*RUNLOOP_SENDABLE replied)(const runloop_reply *reply, int *descriptors, size_t descriptor_count, void *info);
    /// Instead, if the channel is invalidated or freed before, or the request cancelled, on that thread. May be NULL. Neither is called after
    /// an error.
    runloop_function discard;
    void *info; ///< For the two.
} runloop_channel_request_config;

/// Sends a request. `id`, which may be NULL, receives its number among those of the channel. O(length), and O(requests with a later
/// deadline).
/// Errors: those of runloop_channel_send.
RUNLOOP_EXPORT int runloop_channel_request(runloop_channel *channel, const void *bytes, size_t length,
                                           const int *descriptors, size_t descriptor_count,
                                           const runloop_channel_request_config *config, uint64_t *id);

/// Cancels a request: `discard` is called for it, on this thread, and `replied` is not. The other end may receive it all the same, and is
/// not notified; its reply is dropped. Any thread. O(requests of the channel).
/// Errors: -ENOENT: `replied` has been called or is being called, or it was cancelled; -EINVAL; -ECHILD.
RUNLOOP_EXPORT int runloop_channel_cancel(runloop_channel *channel, uint64_t id);

/// Retain and release a call. The last one drops it, if it was not replied to: -ENOMSG at the other end. O(1).
RUNLOOP_EXPORT runloop_call *runloop_call_retain(runloop_call *call);
RUNLOOP_EXPORT void runloop_call_release(runloop_call *call);
/// Replies to a call; references remain. Replies wait beyond the other limits, since they count as calls until they are sent. After an
/// error it can be tried again.
/// Errors: those of runloop_channel_send; -EALREADY: it was replied to.
RUNLOOP_EXPORT int runloop_call_reply(runloop_call *call, const void *bytes, size_t length, const int *descriptors,
                                      size_t descriptor_count);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_CHANNEL_H
