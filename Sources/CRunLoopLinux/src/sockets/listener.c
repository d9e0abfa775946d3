// listener.c — a listening socket as a source.
//
// Without a descriptor for it, a connection stays in the queue and the socket stays readable, so the loop would be called for ever. Nothing
// reports when a descriptor is free again. So the source asks for nothing for a while, and has a deadline at which it asks again.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "base/path.h"
#include "runloop_listener.h"
#include "sockets/socket_address.h"

/// The last one is IPPROTO_MPTCP, which older headers lack.
enum { BUDGET = 16, PAUSE_NS = 100000000, MULTIPATH_TCP = 262, MOST_REFUSALS = 64 };

enum condition { ACCEPTING, SHORT, FAILED };

struct listener {
    struct object object;
    void (*accepted)(runloop_listener *listener, int descriptor, void *info);
    void (*refused)(runloop_listener *listener, int descriptor, void *info);
    void (*paused)(runloop_listener *listener, int error, void *info);
    int descriptor;
    bool owns;
    bool is_tcp;
    bool resets;
    uint32_t budget;
    _Atomic enum condition condition; ///< as the client knows it
    _Atomic bool is_resting;          ///< a deadline is to end a pause; written under the lock
    _Atomic uint32_t refusals;        ///< how often in a row EPERM came
    /// Guards what follows, and the socket against being closed while it is used. Not held in callbacks.
    struct steady_lock lock;
    bool is_closed GUARDED;
    int reserve GUARDED; ///< a descriptor to close when a connection that is to be refused needs one, or -1
    char *path GUARDED;  ///< to be removed, from the root, or NULL
    dev_t device GUARDED;
    ino_t inode GUARDED;
};

static int make_reserve(void) {
    return eventfd(0, EFD_CLOEXEC);
}

//===-- accepting ----------------------------------------------------------------------------------------------------===//

/// A connection, or a negative errno value.
HOLDS_LOCK static int accept_next(const struct listener *listener) {
    ASSERT_HOLDS(&listener->lock.lock);
    if (listener->is_closed)
        return -EAGAIN;
    int descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), yes = 1;
    if (descriptor < 0)
        return -errno;
    // Inherited from a socket that somebody else made only if it was set there. A short write would wait for an acknowledgement that the
    // peer delays.
    if (listener->is_tcp)
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (listener->resets)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    return descriptor;
}

/// What may be over later.
static bool is_shortage(int error) {
    return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM || error == -EPERM;
}

/// A firewall refuses a connection by EPERM, which is gone then. A sandbox that refuses the call refuses all, and they wait still.
static bool are_all_refused(struct listener *listener, int result) {
    if (result == -EPERM)
        return atomic_fetch_add(&listener->refusals, 1) >= MOST_REFUSALS;
    atomic_store(&listener->refusals, 0);
    return false;
}

/// Errors of one connection, which is gone from the queue: accept(2) has the list.
static bool is_of_connection(int error) {
    static const int errors[] = {ECONNABORTED, EINTR,        EPROTO,     EPERM,       ENETDOWN,  ENOPROTOOPT,
                                 EHOSTDOWN,    EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ETIMEDOUT, ENONET};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (error == -errors[i])
            return true;
    return false;
}

static int accept_locked(struct listener *listener) {
    steady_take(&listener->lock);
    int descriptor = accept_next(listener);
    steady_give(&listener->lock);
    return descriptor;
}

/// With the descriptor in reserve, which another thread may take first.
static int accept_with_reserve(struct listener *listener) {
    steady_take(&listener->lock);
    if (listener->reserve >= 0)
        close(listener->reserve);
    listener->reserve = -1;
    int descriptor = accept_next(listener);
    steady_give(&listener->lock);
    return descriptor;
}

struct refusal {
    struct listener *listener;
    int descriptor; ///< or a negative errno value
};

static void end_refusal(void *info) {
    const struct refusal *refusal = info;
    struct listener *listener = refusal->listener;
    if (refusal->descriptor >= 0)
        close(refusal->descriptor);
    if (object_is_inherited(&listener->object))
        return;
    steady_take(&listener->lock);
    if (listener->reserve < 0 && !listener->is_closed)
        listener->reserve = make_reserve();
    steady_give(&listener->lock);
}

/// In a shortage. 0: a connection was refused, or is gone; -EAGAIN: none waits, which the kernel says only to a caller that has a descriptor left. Or
/// it has to wait.
static int refuse(struct listener *listener) {
    if (!listener->refused)
        return -EMFILE;
    struct refusal refusal = {listener, accept_with_reserve(listener)};
    // The call-out may end the thread.
    pthread_cleanup_push(end_refusal, &refusal);
    if (refusal.descriptor >= 0)
        listener->refused(listener->object.source, refusal.descriptor, listener->object.context.info);
    pthread_cleanup_pop(1);
    return refusal.descriptor >= 0 || is_of_connection(refusal.descriptor) ? 0 : refusal.descriptor;
}

//===-- pauses -------------------------------------------------------------------------------------------------------===//

/// Whether the loop comes again soon, whatever happens to the socket. That is noted before the deadline, which another loop may find passed as
/// soon as it is set.
HOLDS_LOCK static void rest(struct listener *listener, bool comes_again) {
    ASSERT_HOLDS(&listener->lock.lock);
    atomic_store(&listener->is_resting, comes_again);
    // Without memory even for that it comes at once.
    if (comes_again && runloop_source_set_deadline(listener->object.source, runloop_now_ns() + PAUSE_NS) == -ENOMEM)
        runloop_source_wake(listener->object.source);
}

static enum condition condition_of(int error) {
    if (error == 0)
        return ACCEPTING;
    return is_shortage(error) ? SHORT : FAILED;
}

/// Once for each time in which nothing can be accepted, and once after it; and that it is for good.
static void report_shortage(struct listener *listener, int error) {
    enum condition condition = condition_of(error);
    if (atomic_exchange(&listener->condition, condition) != condition && listener->paused)
        listener->paused(listener->object.source, error, listener->object.context.info);
}

/// The socket is left alone: for a while, or for good if its error is not one of shortage.
static void pause_accepting(struct listener *listener, int error) {
    steady_take(&listener->lock);
    if (!listener->is_closed) {
        // Asking for less does not fail.
        runloop_source_set_events(listener->object.source, 0);
        rest(listener, is_shortage(error));
    }
    steady_give(&listener->lock);
}

static void end_pause(struct listener *listener) {
    steady_take(&listener->lock);
    // Otherwise it was called for something else, or another loop has begun a new pause.
    if (!listener->is_closed && runloop_source_get_deadline(listener->object.source) == RUNLOOP_NEVER) {
        int result = runloop_source_set_events(listener->object.source, RUNLOOP_READABLE);
        rest(listener, result == -ENOMEM || result == -ENOSPC);
    }
    steady_give(&listener->lock);
}

static bool is_accepting(const struct listener *listener) {
    return runloop_source_is_valid(listener->object.source) && !object_is_inherited(&listener->object);
}

static void close_connection(void *descriptor) {
    close(*(int *)descriptor);
}

/// The client gets it, unless the call-out before it (the end of a shortage) ends the listener, or the thread.
static void deliver(struct listener *listener, int descriptor) {
    bool is_wanted;
    pthread_cleanup_push(close_connection, &descriptor);
    report_shortage(listener, 0);
    is_wanted = is_accepting(listener);
    pthread_cleanup_pop(!is_wanted);
    if (is_wanted)
        listener->accepted(listener->object.source, descriptor, listener->object.context.info);
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons;
    struct listener *listener = info;
    // Not only if there is a shortage: another loop, or a run in the call-out that reports it, may have found its end before the pause began.
    if (atomic_load(&listener->is_resting))
        end_pause(listener);
    // A child that was forked in a call-out takes nothing more from the queue, which is its parent's.
    for (uint32_t i = 0; i < listener->budget && is_accepting(listener); i++) {
        int descriptor = accept_locked(listener);
        bool are_refused = are_all_refused(listener, descriptor);
        if (descriptor == -EAGAIN)
            return;
        if (is_of_connection(descriptor) && !are_refused)
            continue;
        if (descriptor >= 0) {
            deliver(listener, descriptor);
            continue;
        }
        report_shortage(listener, descriptor);
        if (!is_accepting(listener))
            return;
        int result = is_shortage(descriptor) && !are_refused ? refuse(listener) : descriptor;
        if (result < 0 && result != -EAGAIN)
            pause_accepting(listener, descriptor);
        if (result < 0)
            return;
    }
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static void remove_path(const struct listener *listener) {
    struct stat status;
    bool is_ours = listener->path && lstat(listener->path, &status) == 0 && status.st_dev == listener->device &&
                   status.st_ino == listener->inode;
    // A forked child that ends is no end of the parent's listener.
    if (is_ours && !object_is_inherited(&listener->object))
        unlink(listener->path);
}

HOLDS_LOCK static void close_socket(struct listener *listener) {
    ASSERT_HOLDS(&listener->lock.lock);
    if (listener->is_closed)
        return;
    listener->is_closed = true;
    remove_path(listener);
    if (listener->owns)
        close(listener->descriptor);
    if (listener->reserve >= 0)
        close(listener->reserve);
    listener->reserve = -1;
}

UNCHECKED static void discard(struct listener *listener) {
    free(listener->path);
    free(listener);
}

static void free_listener(void *info) {
    struct listener *listener = info;
    runloop__object_end(&listener->object);
    steady_take(&listener->lock);
    close_socket(listener);
    steady_give(&listener->lock);
    discard(listener);
}

static void invalidated(void *info) {
    struct listener *listener = info;
    steady_take(&listener->lock);
    close_socket(listener);
    steady_give(&listener->lock);
}

static const struct object_class listener_class = {
    .kind = OBJECT_LISTENER, .ready = ready, .invalidated = invalidated, .free = free_listener};

static bool is_tcp(int descriptor) {
    int protocol = 0;
    socklen_t size = sizeof protocol;
    bool is_known = getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0;
    return is_known && (protocol == IPPROTO_TCP || protocol == MULTIPATH_TCP);
}

static int check_socket(int descriptor) {
    int is_listening = 0;
    socklen_t size = sizeof is_listening;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) < 0)
        return -errno;
    return is_listening ? 0 : -EINVAL;
}

/// Notes which file the path is now, so that another one is not removed.
UNCHECKED static int note_path(struct listener *listener) {
    struct socket_address address;
    struct stat status;
    int result = runloop__address_of(&address, listener->descriptor, false);
    if (result < 0)
        return result;
    if (address.any.sa_family != AF_UNIX || address.local.sun_path[0] == 0)
        return -EINVAL;
    // The address has the path as it was bound, and the process may change its directory. One that fills the address has no zero there.
    char bound[sizeof address.local.sun_path + 1] = {0};
    memcpy(bound, address.local.sun_path, sizeof address.local.sun_path);
    listener->path = runloop__absolute_path(bound);
    if (!listener->path || lstat(listener->path, &status) < 0)
        return -errno;
    listener->device = status.st_dev;
    listener->inode = status.st_ino;
    return 0;
}

UNCHECKED static int begin(struct listener *listener, const runloop_listener_config *config) {
    int result = config->removes_path ? note_path(listener) : 0;
    int flags = fcntl(listener->descriptor, F_GETFL);
    if (result == 0 && (flags < 0 || fcntl(listener->descriptor, F_SETFL, flags | O_NONBLOCK) < 0))
        result = -errno;
    if (result == 0 && listener->refused && (listener->reserve = make_reserve()) < 0)
        result = -errno;
    const struct object_config object = {.context = config->context,
                                         .cancel = config->cancel,
                                         .descriptor = config->descriptor,
                                         .class = &listener_class};
    return result < 0 ? result : runloop__object_begin(&listener->object, &object);
}

UNCHECKED int runloop_listener_create(const runloop_listener_config *config, runloop_listener **out) {
    int result = config && out && config->accepted ? check_socket(config->descriptor) : -EINVAL;
    if (result < 0)
        return result;
    struct listener *listener = malloc(sizeof *listener);
    if (!listener)
        return -ENOMEM;
    *listener = (struct listener){.accepted = config->accepted,
                                  .refused = config->refused,
                                  .paused = config->paused,
                                  .descriptor = config->descriptor,
                                  .owns = config->owns,
                                  .is_tcp = is_tcp(config->descriptor),
                                  .resets = config->resets,
                                  .budget = config->budget ? config->budget : BUDGET,
                                  .reserve = -1};
    result = begin(listener, config);
    if (result < 0) {
        if (listener->reserve >= 0)
            close(listener->reserve);
        discard(listener);
        return result;
    }
    *out = listener->object.source;
    return 0;
}
#endif // __linux__
