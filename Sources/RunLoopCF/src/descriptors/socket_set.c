// socket_set.c — waiting for sockets: each mode of a loop has a set of its sockets, and serves all that are ready in one pass.
//
// A set is an epoll descriptor, which is readable while one of its sockets is ready. The loop watches it, like any other
// descriptor; when it is ready, the loop's thread asks it for all its ready sockets, and serves them one after the other. So no
// timer, and nothing else of the loop, comes between two sockets that were ready together. Programs that were written for CFRunLoop
// rely on that.
//
// A nested run asks the set again, and serves what the outer pass has not served yet. The set's queue is the same for both.

#include "descriptors/socket.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/// What has no guard is constant.
struct cf_socket_set {
    struct cf_socket_set *next GUARDED_BY(cf__sockets_lock);
    runloop *loop;       ///< lives at least as long as there are members
    const char *mode;    ///< from the table of modes: equal names, equal pointers
    uint32_t generation; ///< of the process; another one shares the descriptor and leaves it alone
    int poller;
    runloop_source *watch;                                                         ///< owns the set
    int count GUARDED_BY(cf__sockets_lock), capacity GUARDED_BY(cf__sockets_lock); ///< of members, and of events
    struct epoll_event *events GUARDED_BY(cf__sockets_lock);
    struct cf_socket_member *first GUARDED_BY(cf__sockets_lock),
        *last GUARDED_BY(cf__sockets_lock); ///< the queue of ready members, by order and then as reported
};

static struct cf_socket_set *sets GUARDED_BY(cf__sockets_lock);

//===-- the queue ----------------------------------------------------------------------------------------------------===//

static void enqueue(struct cf_socket_member *member) HOLDS(cf__sockets_lock) {
    ASSERT_HOLDS(&cf__sockets_lock);
    if (member->is_queued)
        return;
    struct cf_socket_set *set = member->set;
    struct cf_socket_member *before = set->last;
    while (before && before->order > member->order)
        before = before->before_me;
    member->before_me = before;
    member->behind_me = before ? before->behind_me : set->first;
    *(before ? &before->behind_me : &set->first) = member;
    *(member->behind_me ? &member->behind_me->before_me : &set->last) = member;
    member->is_queued = true;
}

/// Returns what was reported.
static uint32_t dequeue(struct cf_socket_member *member) HOLDS(cf__sockets_lock) {
    ASSERT_HOLDS(&cf__sockets_lock);
    struct cf_socket_set *set = member->set;
    uint32_t reported = member->reported;
    if (member->is_queued) {
        *(member->before_me ? &member->before_me->behind_me : &set->first) = member->behind_me;
        *(member->behind_me ? &member->behind_me->before_me : &set->last) = member->before_me;
    }
    member->is_queued = false;
    member->reported = 0;
    return reported;
}

//===-- watching -----------------------------------------------------------------------------------------------------===//

static uint32_t wanted_of(CFSocketRef s) HOLDS(cf__sockets_lock) {
    uint32_t wanted = s->enabled & CF_SOCKET_INPUT ? EPOLLIN : 0;
    return s->enabled & CF_SOCKET_OUTPUT ? wanted | EPOLLOUT : wanted;
}

/// For a regular file the source is signalled instead, again and again.
static void signal_source(CFSocketRef s) HOLDS(cf__sockets_lock) {
    CFRunLoopSourceSignal(s->source);
    for (struct cf_socket_member *member = s->members; member; member = member->next)
        runloop_wake_up(member->set->loop);
}

/// If there is no memory for that either, the source is tried again in each iteration.
static void retry_later(CFSocketRef s, runloop *loop, const char *mode) HOLDS(cf__sockets_lock) {
    if (cf__retry_later(loop, mode, s, cf__socket_try_again))
        return;
    CFRunLoopSourceSignal(s->source);
    runloop_wake_up(loop);
}

/// Errors and hang-ups are reported for whatever is watched, so a socket of which nothing is wanted must leave the descriptor.
static void watch_in(struct cf_socket_member *member, uint32_t wanted) HOLDS(cf__sockets_lock) {
    ASSERT_HOLDS(&cf__sockets_lock);
    CFSocketRef s = member->socket;
    const struct cf_socket_set *set = member->set;
    if (member->watched == wanted || set->generation != runloop_fork_generation())
        return;
    struct epoll_event event = {.events = wanted, .data.u64 = (uint64_t)s->serial << 32 | (uint32_t)s->native};
    int operation = !wanted ? EPOLL_CTL_DEL : member->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int result = epoll_ctl(set->poller, operation, s->native, &event);
    // The kernel forgets a file that is closed, and the number may have been given to another one.
    if (result < 0 && operation == EPOLL_CTL_MOD && errno == ENOENT)
        result = epoll_ctl(set->poller, EPOLL_CTL_ADD, s->native, &event);
    int error = result < 0 ? errno : 0;
    member->watched = error ? 0 : wanted;
    s->is_always_ready |= error == EPERM;
    if (wanted && (error == ENOMEM || error == ENOSPC))
        retry_later(s, set->loop, set->mode);
}

void cf__socket_watch(CFSocketRef s) {
    uint32_t wanted = wanted_of(s);
    for (struct cf_socket_member *member = s->members; member && !s->is_always_ready; member = member->next)
        watch_in(member, wanted);
    if (s->is_always_ready && wanted && s->members)
        signal_source(s);
}

//===-- sets ---------------------------------------------------------------------------------------------------------===//

static void dispatch(runloop_source *core, runloop_readiness events, void *info);

/// The watch is being freed. While it is called, it is not.
UNCHECKED static void free_set(void *info) {
    struct cf_socket_set *set = info;
    close(set->poller);
    free(set->events);
    free(set);
}

static struct cf_socket_set *make_set(runloop *loop, const char *mode) HOLDS(cf__sockets_lock) {
    ASSERT_HOLDS(&cf__sockets_lock);
    struct cf_socket_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    *set = (struct cf_socket_set){.loop = loop, .mode = mode, .generation = runloop_fork_generation()};
    set->poller = epoll_create1(EPOLL_CLOEXEC);
    struct runloop_descriptor_config config = {.context = {.info = set, .release = free_set},
                                               .descriptor = set->poller,
                                               .events = RUNLOOP_READABLE,
                                               .ready = dispatch};
    if (set->poller < 0 || runloop_descriptor_source_create(&config, &set->watch) < 0) {
        if (set->poller >= 0)
            close(set->poller);
        free(set);
        return NULL;
    }
    if (runloop_add_source(loop, set->watch, mode) < 0) {
        runloop_source_release(set->watch);
        return NULL;
    }
    set->next = sets;
    sets = set;
    return set;
}

static void end_set(struct cf_socket_set *set) HOLDS(cf__sockets_lock) {
    ASSERT_HOLDS(&cf__sockets_lock);
    struct cf_socket_set **link = &sets;
    while (*link != set)
        link = &(*link)->next;
    *link = set->next;
    runloop_source_invalidate(set->watch);
    runloop_source_release(set->watch);
}

static struct cf_socket_set *find_set(runloop *loop, const char *mode) HOLDS(cf__sockets_lock) {
    struct cf_socket_set *set = sets;
    while (set && (set->loop != loop || set->mode != mode || set->generation != runloop_fork_generation()))
        set = set->next;
    return set;
}

/// Space for the events of one more member, so that one question to the kernel is answered for all of them.
static bool reserve(struct cf_socket_set *set) HOLDS(cf__sockets_lock) {
    if (set->count < set->capacity)
        return true;
    int capacity = set->capacity * 2 + 4;
    struct epoll_event *events = realloc(set->events, (size_t)capacity * sizeof *events);
    if (!events)
        return false;
    set->events = events;
    set->capacity = capacity;
    return true;
}

//===-- members ------------------------------------------------------------------------------------------------------===//

static struct cf_socket_member *member_of(CFSocketRef s, const struct cf_socket_set *set) HOLDS(cf__sockets_lock) {
    struct cf_socket_member *member = s ? s->members : NULL;
    while (member && member->set != set)
        member = member->next;
    return member;
}

void cf__socket_join(CFSocketRef s, runloop *loop, const char *mode, int32_t order) {
    struct cf_socket_set *set = find_set(loop, mode);
    if (set && member_of(s, set)) {
        cf__socket_watch(s);
        return;
    }
    if (!set)
        set = make_set(loop, mode);
    struct cf_socket_member *member = set && reserve(set) ? calloc(1, sizeof *member) : NULL;
    if (!member) {
        if (set && set->count == 0)
            end_set(set);
        retry_later(s, loop, mode);
        return;
    }
    *member = (struct cf_socket_member){.socket = s, .set = set, .next = s->members, .order = order};
    s->members = member;
    set->count++;
    cf__socket_watch(s);
}

void cf__socket_end_member(struct cf_socket_member *member) {
    struct cf_socket_member **link = &member->socket->members;
    while (*link != member)
        link = &(*link)->next;
    *link = member->next;
    watch_in(member, 0);
    dequeue(member);
    if (--member->set->count == 0)
        end_set(member->set);
    free(member);
}

void cf__socket_leave(CFSocketRef s, runloop *loop, const char *mode) {
    struct cf_socket_member *member = s->members;
    while (member && (member->set->loop != loop || member->set->mode != mode))
        member = member->next;
    if (member)
        cf__socket_end_member(member);
}

/// A removal that has not ended the membership yet waits for the lock, and finds the member.
void cf__socket_try_again(CFTypeRef object, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFSocketRef s = (CFSocketRef)(uintptr_t)object;
    process_lock(&cf__sockets_lock);
    if (s->native >= 0 && s->source && CFRunLoopContainsSource(loop, s->source, mode))
        cf__socket_join(s, cf__core_of_loop(loop), cf__mode_name(mode), cf__order(CFRunLoopSourceGetOrder(s->source)));
    process_unlock(&cf__sockets_lock);
}

//===-- the pass -----------------------------------------------------------------------------------------------------===//

/// If a descriptor was closed without invalidating its socket, and a duplicate of it is open, the kernel goes on reporting it, and
/// it can't be removed any more. All others move to a new set.
static void replace_set(struct cf_socket_set *set) HOLDS(cf__sockets_lock) {
    struct cf_socket_set *new = make_set(set->loop, set->mode);
    if (!new)
        return;
    free(new->events);
    new->events = set->events;
    new->capacity = set->capacity;
    set->events = NULL;
    for (int native = 0; set->count > 0; native++) {
        CFSocketRef s = cf__socket_of_native(native, 0);
        struct cf_socket_member *member = member_of(s, set);
        if (!member)
            continue;
        dequeue(member);
        set->count--;
        new->count++;
        member->set = new;
        member->watched = 0;
        cf__socket_watch(s);
    }
    end_set(set);
}

/// Puts all sockets that are ready into the queue. One of which nothing is wanted at the moment, since its callback runs, is no
/// longer watched until that changes.
static void ask(struct cf_socket_set *set) HOLDS(cf__sockets_lock) {
    bool has_stale = false;
    int count = set->count > 0 ? epoll_wait(set->poller, set->events, set->capacity, 0) : 0;
    for (int i = 0; i < count; i++) {
        const struct epoll_event *event = &set->events[i];
        CFSocketRef s = cf__socket_of_native((int)(uint32_t)event->data.u64, (uint32_t)(event->data.u64 >> 32));
        struct cf_socket_member *member = member_of(s, set);
        has_stale |= !member;
        if (!member)
            continue;
        uint32_t wanted = wanted_of(s);
        uint32_t reported = event->events & (EPOLLERR | EPOLLHUP) ? wanted : event->events & wanted;
        member->reported |= reported;
        if (reported)
            enqueue(member);
        else
            watch_in(member, wanted);
    }
    if (has_stale)
        replace_set(set);
}

static void dispatch(runloop_source *core, runloop_readiness events, void *info) {
    (void)core, (void)events;
    struct cf_socket_set *set = info;
    process_lock(&cf__sockets_lock);
    ask(set);
    while (set->first) {
        struct cf_socket_member *member = set->first;
        CFSocketRef s = (CFSocketRef)(uintptr_t)CFRetain(member->socket);
        uint32_t reported = dequeue(member);
        process_unlock(&cf__sockets_lock);
        s->serve(s, reported);
        CFRelease(s);
        process_lock(&cf__sockets_lock);
    }
    process_unlock(&cf__sockets_lock);
}
