// connect.c — a connection that is being made: a look-up, attempts 250 ms apart, and one deadline.
//
// There may be several attempts at a time, in whatever modes the client has chosen, and these may change meanwhile. So the source's descriptor is
// an epoll set with what is waited for in it, the bell of the look-up or the sockets of the attempts: only the source is in modes. Whatever it is
// called for, it looks at everything, so a call too many does no harm.

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
    int descriptor; ///< -1: not under way
    int error;      ///< 0: has not failed
};

struct connect {
    struct object object;
    void (*connected)(runloop_connect *connect, int descriptor, int error, void *info);
    struct connect_options options;
    uint16_t port;
    int64_t deadline_ns;
    /// Guards what follows, and its descriptors against being closed while they are used. Not held in callbacks.
    struct steady_lock lock;
    bool is_over GUARDED;   ///< the outcome is known, or it was invalidated
    int error GUARDED;      ///< the outcome, or why there are no addresses
    int descriptor GUARDED; ///< connected, and nobody has it yet; or -1
    int set GUARDED;
    struct lookup *lookup GUARDED; ///< NULL: there is none, or its result was taken
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
    // A forked child may have the bell, too, so closing it would not end the reports.
    epoll_ctl(connect->set, EPOLL_CTL_DEL, lookup->bell, NULL);
    connect->lookup = NULL;
    return lookup;
}

//===-- attempts -----------------------------------------------------------------------------------------------------===//

static int watch(int set, int descriptor, uint32_t events, uint32_t number) {
    struct epoll_event event = {.events = events, .data.u32 = number};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) < 0 ? -errno : 0;
}

/// Takes its socket out of the set, which a forked child has as well: so closing it here would not do, nor may the child change it.
HOLDS_LOCK static int take_socket(struct connect *connect, struct attempt *attempt) {
    int descriptor = attempt->descriptor;
    attempt->descriptor = -1;
    connect->under_way--;
    if (!object_is_inherited(&connect->object))
        epoll_ctl(connect->set, EPOLL_CTL_DEL, descriptor, NULL);
    return descriptor;
}

/// The kernel may have chosen the very port that nobody listens on, and connected the socket to itself.
static bool is_connected_to_itself(int descriptor, const struct socket_address *target) {
    struct socket_address own, peer;
    // Both families of IP have the port in the same place.
    return target->any.sa_family != AF_UNIX && runloop__address_of(&own, descriptor, false) == 0 &&
           own.ip4.sin_port == target->ip4.sin_port && runloop__address_of(&peer, descriptor, true) == 0 &&
           own.size == peer.size && memcmp(&own.any, &peer.any, own.size) == 0;
}

/// Of an attempt whose socket is ready: 0, or a negative errno value.
static int result_of(const struct attempt *attempt) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(attempt->descriptor, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        return -errno;
    if (error)
        return -error;
    return is_connected_to_itself(attempt->descriptor, &attempt->address) ? -ECONNREFUSED : 0;
}

/// The first attempt that has succeeded is the outcome: 0. -EINPROGRESS: none yet.
HOLDS_LOCK static int collect(struct connect *connect, int64_t now_ns) {
    struct epoll_event events[8];
    int count = connect->begun > 0 ? epoll_wait(connect->set, events, 8, 0) : 0;
    for (int i = 0; i < count; i++) {
        struct attempt *attempt = connect->attempts + events[i].data.u32;
        attempt->error = result_of(attempt);
        if (attempt->error == 0) {
            connect->descriptor = take_socket(connect, attempt);
            return 0;
        }
        close(take_socket(connect, attempt));
        if (events[i].data.u32 == connect->begun - 1)
            connect->next_ns = now_ns;
    }
    return -EINPROGRESS;
}

/// As above.
HOLDS_LOCK static int begin_next(struct connect *connect, int64_t now_ns) {
    struct attempt *attempt = connect->attempts + connect->begun;
    int result, descriptor = runloop__connect_open(&attempt->address, &connect->options, &result);
    attempt->error = result == -EINPROGRESS ? 0 : result;
    if (result == 0) {
        connect->descriptor = descriptor;
        return 0;
    }
    if (result == -EAGAIN && attempt->address.any.sa_family == AF_UNIX) {
        // Nothing tells when there is space in the queue again.
        connect->next_ns = now_ns + FULL_QUEUE_PAUSE_NS;
        return -EINPROGRESS;
    }
    if (result == -EINPROGRESS) {
        attempt->descriptor = descriptor;
        connect->under_way++;
        attempt->error = watch(connect->set, descriptor, EPOLLOUT, connect->begun);
        if (attempt->error)
            close(take_socket(connect, attempt));
    }
    connect->begun++;
    connect->next_ns = attempt->error ? now_ns : now_ns + ATTEMPT_DELAY_NS;
    return -EINPROGRESS;
}

/// The outcome, or -EINPROGRESS.
HOLDS_LOCK static int go_on(struct connect *connect) {
    ASSERT_HOLDS(&connect->lock.lock);
    int64_t now_ns = runloop_now_ns();
    int result = connect->error ? connect->error : collect(connect, now_ns);
    // At the deadline only the first is tried, since a success counts all the same.
    while (result == -EINPROGRESS && connect->begun < connect->count && connect->next_ns <= now_ns &&
           (now_ns < connect->deadline_ns || connect->begun == 0))
        result = begin_next(connect, now_ns);
    if (result == -EINPROGRESS && !connect->lookup && connect->begun == connect->count && connect->under_way == 0)
        result = connect->attempts[0].error;
    return result == -EINPROGRESS && now_ns >= connect->deadline_ns ? -ETIMEDOUT : result;
}

HOLDS_LOCK static void come_again(const struct connect *connect) {
    bool has_next = connect->begun < connect->count && connect->next_ns < connect->deadline_ns;
    int64_t due_ns = has_next ? connect->next_ns : connect->deadline_ns;
    // Without memory even for that it comes at once.
    if (runloop_source_set_deadline(connect->object.source, due_ns) == -ENOMEM)
        runloop_source_wake(connect->object.source);
}

//===-- the outcome --------------------------------------------------------------------------------------------------===//

static void tell(struct connect *connect) {
    runloop_source_invalidate(connect->object.source);
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
    (void)source, (void)reasons;
    struct connect *connect = info;
    struct lookup *lookup = NULL;
    int result = -EINPROGRESS;
    steady_take(&connect->lock);
    // Another loop may have been faster.
    if (!connect->is_over) {
        lookup = take_result(connect);
        result = go_on(connect);
        connect->is_over = result != -EINPROGRESS;
        if (connect->is_over)
            connect->error = result;
        else
            come_again(connect);
    }
    steady_give(&connect->lock);
    runloop__lookup_end(lookup);
    if (result != -EINPROGRESS)
        tell(connect);
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

/// At the end, and when it is invalidated: nothing is left but the outcome.
static void stop(void *info) {
    struct connect *connect = info;
    steady_take(&connect->lock);
    for (uint32_t i = 0; i < connect->begun; i++) {
        struct attempt *attempt = connect->attempts + i;
        if (attempt->descriptor < 0)
            continue;
        close(take_socket(connect, attempt));
        attempt->error = connect->error == -ETIMEDOUT ? -ETIMEDOUT : 0;
    }
    if (connect->set >= 0)
        close(connect->set);
    connect->set = -1;
    connect->is_over = true;
    struct lookup *lookup = connect->lookup;
    connect->lookup = NULL;
    steady_give(&connect->lock);
    runloop__lookup_end(lookup);
}

UNCHECKED static void free_connect(void *info) {
    struct connect *connect = info;
    stop(connect);
    runloop__object_end(&connect->object);
    if (connect->descriptor >= 0)
        close(connect->descriptor);
    free(connect->attempts);
    free(connect);
}

static const struct object_class connect_class = {
    .kind = OBJECT_CONNECT, .ready = ready, .invalidated = stop, .free = free_connect};

/// The one address, or the look-up of the name.
UNCHECKED static int find_target(struct connect *connect, const runloop_connect_config *config) {
    struct socket_address address;
    int result, family = connect->options.local.any.sa_family;
    if (!config->host) {
        bool is_abstract = config->abstract_name;
        result = runloop__local_address(&address, is_abstract ? config->abstract_name : config->path, is_abstract);
    } else if (runloop__ip_address(&address, config->host, config->port) == 0) {
        result = family == AF_UNSPEC || family == address.any.sa_family ? 0 : -EAFNOSUPPORT;
    } else {
        result = runloop__lookup_begin(config->host, family, &connect->lookup);
        return result < 0 ? result : watch(connect->set, connect->lookup->bell, EPOLLIN, 0);
    }
    if (result == 0 && (result = make_attempts(connect, 1)) == 0)
        append_attempt(connect, &address);
    return result;
}

UNCHECKED static int begin(struct connect *connect, const runloop_connect_config *config) {
    int result = runloop__connect_options(&connect->options, config);
    if (result < 0)
        return result;
    if ((connect->set = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return -errno;
    result = find_target(connect, config);
    const struct object_config object = {
        .context = config->context, .cancel = config->cancel, .descriptor = connect->set, .class = &connect_class};
    if (result < 0 || (result = runloop__object_begin(&connect->object, &object)) < 0)
        return result;
    // Due at once, in whichever loop it comes to: that a source was signalled would not end the sleep of one. In no loop it needs no memory.
    return runloop_source_set_deadline(connect->object.source, INT64_MIN);
}

UNCHECKED int runloop_connect_create(const runloop_connect_config *config, runloop_connect **out) {
    if (!config || !out || !config->connected || !config->host + !config->path + !config->abstract_name != 2 ||
        (config->host && (!*config->host || config->port == 0)))
        return -EINVAL;
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
        *out = connect->object.source;
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
