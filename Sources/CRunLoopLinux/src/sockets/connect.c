// connect.c — a connection that is being made: a look-up, attempts 250 ms apart, and one deadline.
//
// The source's descriptor is the socket, if there is one address. A name may have several, with attempts at the same time, in whatever modes the
// client has chosen: then it is an epoll set with their sockets. The only attempt begins where the source comes to a loop. If there is a look-up, it
// signals the source when it is done. Whatever the source is called for, it looks at everything, so a call too many does no harm.

#ifdef __linux__
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "sockets/connect_socket.h"
#include "sockets/lookup.h"

#define ATTEMPT_DELAY_NS INT64_C(250000000)
#define FULL_QUEUE_PAUSE_NS INT64_C(10000000)

struct attempt {
    struct socket_address address;
    int descriptor; ///< -1: not yet, or not any more
    bool is_under_way;
    int error; ///< 0: has not failed
};

struct connect {
    struct object object;
    void (*connected)(runloop_connect *connect, int descriptor, int error, void *info);
    struct connect_options options;
    uint16_t port;
    int64_t deadline_ns;
    /// Guards what follows, and its descriptors against being closed while they are used. Not held in callbacks.
    struct steady_lock lock;
    bool is_over GUARDED;          ///< the outcome is known, or it was invalidated
    bool is_reported GUARDED;      ///< or there is nothing to report any more
    int error GUARDED;             ///< the outcome, or why there are no addresses
    int descriptor GUARDED;        ///< connected, and nobody has it yet; or -1
    int set GUARDED;               ///< the source's descriptor, if that isn't the socket of the only attempt; or -1
    struct lookup *lookup GUARDED; ///< NULL: nothing is looked up, or its result was taken
    const char *name_error GUARDED;
    struct attempt *attempts GUARDED; ///< in their order; none before the look-up is done
    uint32_t count GUARDED;
    uint32_t begun GUARDED, under_way GUARDED;
    int64_t next_ns GUARDED; ///< when the next attempt begins, if there is one
};

static struct connect *connect_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_CONNECT);
}

//===-- addresses ----------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static int make_attempts(struct connect *connect, size_t count) {
    connect->attempts = calloc(count, sizeof *connect->attempts);
    return connect->attempts ? 0 : -ENOMEM;
}

HOLDS_LOCK static void append_attempt(struct connect *connect, const struct socket_address *address) {
    connect->attempts[connect->count++] = (struct attempt){.address = *address, .descriptor = -1};
}

/// The first of that family from there on, or of another one.
static const struct addrinfo *find(const struct addrinfo *entry, int family, bool is_of_family) {
    while (entry && (entry->ai_family == family) != is_of_family)
        entry = entry->ai_next;
    return entry;
}

/// The families by turns, each in the order of the list.
HOLDS_LOCK static int interleave(struct connect *connect, const struct addrinfo *list) {
    size_t count = 0;
    for (const struct addrinfo *entry = list; entry; entry = entry->ai_next)
        count++;
    int first = list->ai_family, result = make_attempts(connect, count);
    const struct addrinfo *next[2] = {list, find(list, first, false)};
    for (size_t turn = 0; result == 0 && (next[0] || next[1]); turn++) {
        size_t which = next[turn % 2] ? turn % 2 : (turn + 1) % 2;
        struct socket_address address = {.size = next[which]->ai_addrlen};
        memcpy(&address.any, next[which]->ai_addr, address.size);
        *(address.any.sa_family == AF_INET ? &address.ip4.sin_port : &address.ip6.sin6_port) = htons(connect->port);
        append_attempt(connect, &address);
        next[which] = find(next[which]->ai_next, first, which == 0);
    }
    return result;
}

/// The look-up, to be ended without the lock, if it is done.
HOLDS_LOCK static struct lookup *take_result(struct connect *connect) {
    ASSERT_HOLDS(&connect->lock.lock);
    struct lookup *lookup = connect->lookup;
    if (!lookup || !lookup_is_done(lookup))
        return NULL;
    connect->name_error = lookup->name_error;
    connect->error = lookup->error ? lookup->error : interleave(connect, lookup->found);
    connect->lookup = NULL;
    return lookup;
}

//===-- attempts -----------------------------------------------------------------------------------------------------===//

/// Has the source called when the attempt is decided.
HOLDS_LOCK static int watch(const struct connect *connect, const struct attempt *attempt) {
    struct epoll_event event = {.events = EPOLLOUT};
    if (connect->set < 0) {
        int result = runloop_source_set_events(connect->object.source, RUNLOOP_WRITABLE);
        // Another thread has invalidated it, and waits for the lock to end it: that is no outcome.
        return result == -EINVAL ? 0 : result;
    }
    return epoll_ctl(connect->set, EPOLL_CTL_ADD, attempt->descriptor, &event) < 0 ? -errno : 0;
}

HOLDS_LOCK static int take_socket(struct attempt *attempt) {
    int descriptor = attempt->descriptor;
    attempt->descriptor = -1;
    return descriptor;
}

HOLDS_LOCK static void fail(const struct connect *connect, struct attempt *attempt, int error) {
    attempt->error = error;
    // The only one's is closed when the source has left the loops.
    if (connect->set < 0 || attempt->descriptor < 0)
        return;
    // A forked child may have it as well, so closing it would not end the reports.
    epoll_ctl(connect->set, EPOLL_CTL_DEL, attempt->descriptor, NULL);
    close(take_socket(attempt));
}

/// Of an attempt that is under way: 0, a negative errno value, or -EALREADY if that is not known yet. If the only socket is reported as writable and
/// without an error, it is connected.
HOLDS_LOCK static int result_of(const struct connect *connect, const struct attempt *attempt,
                                runloop_readiness reasons) {
    runloop_readiness decided = reasons & (RUNLOOP_WRITABLE | RUNLOOP_ERROR | RUNLOOP_HANG_UP);
    bool is_connected = connect->set < 0 && decided == RUNLOOP_WRITABLE;
    int result = is_connected ? 0 : connect_ask(attempt->descriptor);
    return result == 0 && connect_is_to_itself(attempt->descriptor, connect->port) ? -ECONNREFUSED : result;
}

/// The first attempt that has succeeded is the outcome: 0. -EINPROGRESS: none yet.
HOLDS_LOCK static int collect(struct connect *connect, runloop_readiness reasons, int64_t now_ns) {
    for (uint32_t i = 0; i < connect->begun; i++) {
        struct attempt *attempt = connect->attempts + i;
        int result = attempt->is_under_way ? result_of(connect, attempt, reasons) : -EALREADY;
        if (result == -EALREADY)
            continue;
        attempt->is_under_way = false;
        connect->under_way--;
        if (result == 0) {
            connect->descriptor = take_socket(attempt);
            return 0;
        }
        fail(connect, attempt, result);
        if (i == connect->begun - 1)
            connect->next_ns = now_ns;
    }
    return -EINPROGRESS;
}

/// As above.
HOLDS_LOCK static int begin_next(struct connect *connect, int64_t now_ns) {
    struct attempt *attempt = connect->attempts + connect->begun;
    int result = runloop__connect_begin(&attempt->descriptor, &attempt->address, &connect->options);
    attempt->error = 0;
    if (result == 0) {
        connect->descriptor = take_socket(attempt);
        return 0;
    }
    if (result == -EAGAIN && attempt->address.any.sa_family == AF_UNIX) {
        // Nothing reports when there is space in the queue again.
        attempt->error = result;
        connect->next_ns = now_ns + FULL_QUEUE_PAUSE_NS;
        return -EINPROGRESS;
    }
    if (result == -EINPROGRESS)
        result = watch(connect, attempt);
    attempt->is_under_way = result == 0;
    connect->under_way += attempt->is_under_way;
    if (result < 0)
        fail(connect, attempt, result);
    connect->begun++;
    connect->next_ns = result < 0 ? now_ns : now_ns + ATTEMPT_DELAY_NS;
    return -EINPROGRESS;
}

HOLDS_LOCK static void come_again(const struct connect *connect) {
    bool has_next = connect->begun < connect->count && connect->next_ns < connect->deadline_ns;
    int64_t due_ns = has_next ? connect->next_ns : connect->deadline_ns;
    // Without memory even for that it comes at once.
    if (runloop_source_set_deadline(connect->object.source, due_ns) == -ENOMEM)
        runloop_source_wake(connect->object.source);
}

/// True: the outcome is known.
HOLDS_LOCK static bool go_on(struct connect *connect, runloop_readiness reasons, int64_t now_ns) {
    ASSERT_HOLDS(&connect->lock.lock);
    int result = connect->error ? connect->error : collect(connect, reasons, now_ns);
    // At the deadline only the first is tried, since a success counts all the same.
    while (result == -EINPROGRESS && connect->begun < connect->count && connect->next_ns <= now_ns &&
           (now_ns < connect->deadline_ns || connect->begun == 0))
        result = begin_next(connect, now_ns);
    if (result == -EINPROGRESS && !connect->lookup && connect->begun == connect->count && connect->under_way == 0)
        result = connect->attempts[0].error;
    if (result == -EINPROGRESS && now_ns >= connect->deadline_ns)
        result = -ETIMEDOUT;
    connect->is_over = result != -EINPROGRESS;
    if (connect->is_over)
        connect->error = result;
    else
        come_again(connect);
    return connect->is_over;
}

//===-- the outcome --------------------------------------------------------------------------------------------------===//

static void report(struct connect *connect) {
    runloop_source_invalidate(connect->object.source);
    runloop_source_set_events(connect->object.source,
                              0); // A thread that still invalidates it names no descriptor of the client's.
    // What the client does at the end of a mode may have forked.
    if (object_is_inherited(&connect->object))
        return;
    steady_take(&connect->lock);
    int descriptor = connect->descriptor, error = connect->error;
    connect->descriptor = -1;
    steady_give(&connect->lock);
    connect->connected(connect->object.source, descriptor, error, connect->object.context.info);
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source;
    struct connect *connect = info;
    struct lookup *lookup = NULL;
    steady_take(&connect->lock);
    if (!connect->is_over) {
        lookup = take_result(connect);
        go_on(connect, reasons, runloop_now_ns());
    }
    // Another loop may have been faster.
    bool reports = connect->is_over && !connect->is_reported;
    connect->is_reported = connect->is_over;
    steady_give(&connect->lock);
    runloop__lookup_end(lookup);
    if (reports)
        report(connect);
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

/// It has come to a loop, perhaps by another thread: the only attempt begins. That there are addresses, or an outcome, is for the loop.
static void schedule(void *info, runloop *loop, const char *mode) {
    (void)mode;
    struct connect *connect = info;
    steady_take(&connect->lock);
    bool begins = connect->set < 0 && connect->begun == 0 && !connect->is_over;
    bool is_decided = !begins || go_on(connect, 0, runloop_get_now_ns(loop));
    steady_give(&connect->lock);
    if (is_decided)
        runloop_source_wake(connect->object.source);
}

static void close_if_open(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/// At the end, and when it is invalidated: nothing is left but the reasons of failures, and a connection that is being reported.
static void stop(void *info) {
    struct connect *connect = info;
    steady_take(&connect->lock);
    for (uint32_t i = 0; i < connect->count; i++) {
        struct attempt *attempt = connect->attempts + i;
        if (attempt->is_under_way && connect->error == -ETIMEDOUT)
            attempt->error = -ETIMEDOUT;
        attempt->is_under_way = false;
        close_if_open(&attempt->descriptor);
    }
    close_if_open(&connect->set);
    // One that is being reported is closed by nobody but the client, or at the end.
    if (!connect->is_reported)
        close_if_open(&connect->descriptor);
    connect->is_over = connect->is_reported = true;
    struct lookup *lookup = connect->lookup;
    connect->lookup = NULL;
    steady_give(&connect->lock);
    runloop__lookup_end(lookup);
}

UNCHECKED static void free_connect(void *info) {
    struct connect *connect = info;
    stop(connect);
    runloop__object_end(&connect->object);
    close_if_open(&connect->descriptor);
    free(connect->attempts);
    free(connect);
}

static const struct object_class connect_class = {
    .kind = OBJECT_CONNECT, .ready = ready, .schedule = schedule, .invalidated = stop, .free = free_connect};

/// The socket of the one address, or a set for those of a name. Either is the source's descriptor.
UNCHECKED static int open_target(struct connect *connect, const runloop_connect_config *config) {
    struct socket_address address;
    int result = 0, family = connect->options.local.any.sa_family;
    if (!config->host) {
        bool is_abstract = config->abstract_name;
        result = runloop__local_address(&address, is_abstract ? config->abstract_name : config->path, is_abstract);
    } else if (runloop__ip_address(&address, config->host, config->port) == 0) {
        result = family == AF_UNSPEC || family == address.any.sa_family ? 0 : -EAFNOSUPPORT;
    } else {
        connect->set = epoll_create1(EPOLL_CLOEXEC);
        return connect->set < 0 ? -errno : connect->set;
    }
    if (result < 0 || (result = make_attempts(connect, 1)) < 0)
        return result;
    append_attempt(connect, &address);
    return connect->attempts->descriptor = runloop__open_socket(address.any.sa_family, SOCK_STREAM);
}

UNCHECKED static int begin(struct connect *connect, const runloop_connect_config *config) {
    int descriptor, result = runloop__connect_options(&connect->options, config);
    if (result < 0 || (descriptor = open_target(connect, config)) < 0)
        return result < 0 ? result : descriptor;
    const struct object_config object = {.context = config->context,
                                         .cancel = config->cancel,
                                         .descriptor = descriptor,
                                         .events = connect->set < 0 ? RUNLOOP_WRITABLE : RUNLOOP_READABLE,
                                         .class = &connect_class};
    result = runloop__object_begin(&connect->object, &object);
    // Not before it is being connected.
    if (result == 0 && connect->set < 0)
        runloop_source_set_events(connect->object.source, 0);
    return result;
}

/// Makes the object, without the look-up, or nothing.
UNCHECKED static int make(const runloop_connect_config *config, struct connect **out) {
    struct connect *connect = malloc(sizeof *connect);
    if (!connect)
        return -ENOMEM;
    *connect = (struct connect){.connected = config->connected,
                                .port = config->port,
                                .deadline_ns = config->deadline_ns ? config->deadline_ns : RUNLOOP_NEVER,
                                .descriptor = -1,
                                .set = -1,
                                .next_ns = INT64_MIN};
    int result = begin(connect, config);
    if (result < 0)
        free_connect(connect);
    else
        *out = connect;
    return result;
}

UNCHECKED int runloop_connect_create(const runloop_connect_config *config, runloop_connect **out) {
    if (!config || !out || !config->connected || !config->host + !config->path + !config->abstract_name != 2 ||
        (config->host && (!*config->host || config->port == 0)))
        return -EINVAL;
    struct connect *connect;
    int result = make(config, &connect);
    if (result < 0)
        return result;
    runloop_source *source = connect->object.source;
    if (connect->set >= 0)
        result = runloop__lookup_begin(config->host, connect->options.local.any.sa_family, source, &connect->lookup);
    if (result < 0)
        object_give_up(&connect->object);
    else
        *out = source;
    return result;
}

//===-- questions ----------------------------------------------------------------------------------------------------===//

size_t runloop_connect_get_failures(runloop_connect *source, runloop_connect_failure *failures, size_t capacity) {
    struct connect *connect = connect_of(source);
    size_t count = 0;
    if (!connect || object_is_inherited(&connect->object))
        return 0;
    steady_take(&connect->lock);
    for (uint32_t i = 0; i < connect->count; i++) {
        const struct attempt *attempt = connect->attempts + i;
        if (attempt->error == 0 || count++ >= capacity)
            continue;
        runloop_connect_failure *failure = failures + count - 1;
        failure->error = attempt->error;
        runloop__address_text(&attempt->address, failure->address, sizeof failure->address);
    }
    steady_give(&connect->lock);
    return count;
}

const char *runloop_connect_get_name_error(runloop_connect *source) {
    struct connect *connect = connect_of(source);
    if (!connect || object_is_inherited(&connect->object))
        return NULL;
    steady_take(&connect->lock);
    const char *text = connect->name_error;
    steady_give(&connect->lock);
    return text;
}
#endif // __linux__
