// port.c — a descriptor in a loop: one registration with epoll, shared by all sources on it, whatever their modes.
//
// Modes are told apart in user space. A port is registered for all that its sources want in any mode, and costs a mode nothing as
// long as the modes agree. When a wait reports what the running mode does not want, the port is narrowed to what it does want
// (taken out of the set if that is nothing, since epoll reports hang-ups even for an empty mask), but only before a wait that
// may sleep; it is widened again when a mode that wants more is about to wait.
//
// What epoll knows about a port ends with the port's *file*, not with its number. If a descriptor was closed before its source
// was removed, a copy of it elsewhere keeps the registration alive, and nothing can remove it any more. Such a port is
// kept as a zombie, so that a late report finds valid memory, until the whole set is made anew.

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

enum { ZOMBIES_BEFORE_REBUILD = 64 };

//===-- what a port's sources want -----------------------------------------------------------------------------------===//

static inline uint32_t epoll_mask(const runloop_source *source) {
    // Partner of runloop_source_set_events, which stores before it walks the chain of bindings: who joins has published his
    // binding before this load, so one of the two sees the other.
    uint32_t events = atomic_load(&source->events);
    return events | (events & RUNLOOP_HANG_UP ? (uint32_t)EPOLLRDHUP : 0);
}

/// In one mode, or in all (NULL). `*any` tells whether there is a source at all.
static uint32_t wanted(struct port *port, const struct mode *mode, bool *any) {
    uint32_t mask = 0;
    *any = false;
    LIST_EACH(node, &port->sources) {
        struct binding *binding = LIST_ENTRY(node, struct binding, on_port);
        if (mode ? runloop__membership_of(&binding->modes, mode) != NULL : binding->modes.count > 0) {
            mask |= epoll_mask(binding->source);
            *any = true;
        }
    }
    return mask;
}

/// Hang-up and error concern every source, asked for or not.
enum { UNASKED = EPOLLERR | EPOLLHUP };

/// The source of a port that has one, as most do, or NULL.
static inline struct binding *only_source(struct port *port) {
    struct list *first = port->sources.next;
    return first->next == &port->sources && first != &port->sources ? LIST_ENTRY(first, struct binding, on_port) : NULL;
}

static RUNLOOP__COLD uint32_t ready_of_many(struct port *port, const struct mode *mode) {
    bool any;
    uint32_t mask = wanted(port, mode, &any);
    return any ? port->ready & (mask | UNASKED) : 0;
}

/// The part of what was reported that the mode wants.
static inline uint32_t wanted_and_ready(struct port *port, const struct mode *mode) {
    struct binding *only = only_source(port);
    if (!only)
        return ready_of_many(port, mode);
    return runloop__membership_of(&only->modes, mode) ? port->ready & (epoll_mask(only->source) | UNASKED) : 0;
}

//===-- registration -------------------------------------------------------------------------------------------------===//

static int watch(runloop *loop, struct port *port, uint32_t mask) {
    int error = runloop__portset_watch(loop, port, port->in_set ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, mask);
    if (error == -ENOENT && port->in_set) {
        // The number was closed and stands for another file now.
        loop->epoll_is_stale = true;
        atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
        error = runloop__portset_watch(loop, port, EPOLL_CTL_ADD, mask);
    }
    if (error)
        return error;
    port->in_set = true;
    port->registered = mask;
    return 0;
}

static int widen(runloop *loop, struct port *port) {
    bool any;
    uint32_t mask = wanted(port, NULL, &any);
    int error = watch(loop, port, mask);
    if (!error)
        list_remove(&port->narrowed);
    return error;
}

static void narrow(runloop *loop, struct port *port, const struct mode *mode) {
    bool any;
    uint32_t mask = wanted(port, mode, &any);
    if (any) {
        if (port->registered != mask)
            watch(loop, port, mask);
    } else if (port->in_set) {
        if (runloop__portset_watch(loop, port, EPOLL_CTL_DEL, 0))
            loop->epoll_is_stale = true;
        port->in_set = false;
        port->registered = 0;
    }
    if (list_is_empty(&port->narrowed))
        list_append(&loop->narrowed_ports, &port->narrowed);
}

int runloop__port_update(runloop *loop, struct port *port) {
    bool any;
    uint32_t mask = wanted(port, NULL, &any);
    if (!any || (port->in_set && port->registered == mask))
        return 0;
    return widen(loop, port);
}

int runloop__port_ask_anew(runloop *loop, struct port *port) {
    int error = runloop__port_update(loop, port);
    // What nobody asks for now may be over when somebody does again: the kernel will say.
    bool any;
    port->ready &= wanted(port, NULL, &any) | UNASKED;
    if (!port->ready)
        list_remove(&port->in_ready);
    return error;
}

//===-- the table by descriptor --------------------------------------------------------------------------------------===//

static struct port **bucket_of(runloop *loop, int descriptor) {
    return &loop->buckets[(uint32_t)descriptor & (loop->bucket_count - 1)];
}

static struct port *find(runloop *loop, int descriptor) {
    struct port *port = loop->bucket_count ? *bucket_of(loop, descriptor) : NULL;
    while (port && port->descriptor != descriptor)
        port = port->next;
    return port;
}

static int grow_table(runloop *loop) {
    if (loop->port_count < loop->bucket_count)
        return 0;
    uint32_t count = loop->bucket_count ? loop->bucket_count * 2 : 8;
    struct port **buckets = calloc(count, sizeof *buckets);
    if (!buckets)
        return loop->bucket_count ? 0 : -ENOMEM; // a full table is slower, not wrong
    for (uint32_t i = 0; i < loop->bucket_count; i++) {
        for (struct port *port = loop->buckets[i], *next; port; port = next) {
            next = port->next;
            struct port **bucket = &buckets[(uint32_t)port->descriptor & (count - 1)];
            port->next = *bucket;
            *bucket = port;
        }
    }
    free(loop->buckets);
    loop->buckets = buckets;
    loop->bucket_count = count;
    return 0;
}

static struct port *make(runloop *loop, int descriptor) {
    if (grow_table(loop))
        return NULL;
    struct port *port = calloc(1, sizeof *port);
    if (!port)
        return NULL;
    port->kind = PORT_DESCRIPTOR;
    port->descriptor = descriptor;
    list_init(&port->sources);
    list_init(&port->in_ready);
    list_init(&port->narrowed);
    struct port **bucket = bucket_of(loop, descriptor);
    port->next = *bucket;
    *bucket = port;
    loop->port_count++;
    return port;
}

static void bury(runloop *loop, struct port *port) {
    atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
    port->next = loop->graveyard;
    loop->graveyard = port;
}

/// Takes a port without sources out of everything. It is freed when no run has chosen it and no wait can report it.
static void discard(runloop *loop, struct port *port) {
    list_remove(&port->in_ready);
    list_remove(&port->narrowed);
    struct port **link = bucket_of(loop, port->descriptor);
    while (*link != port)
        link = &(*link)->next;
    *link = port->next;
    loop->port_count--;
    if (port->in_set && runloop__portset_watch(loop, port, EPOLL_CTL_DEL, 0)) {
        port->is_zombie = true;
        if (++loop->zombie_count >= ZOMBIES_BEFORE_REBUILD)
            loop->epoll_is_stale = true;
    }
    port->in_set = false;
    bury(loop, port);
    if (!atomic_load(&loop->is_fetching))
        runloop__ports_free_graveyard(loop);
}

void runloop__ports_free_graveyard(runloop *loop) {
    struct port **link = &loop->graveyard;
    while (*link) {
        struct port *port = *link;
        if (port->is_zombie || port->pins) {
            link = &port->next;
        } else {
            *link = port->next;
            free(port);
        }
    }
}

void runloop__port_unpin(runloop *loop, struct port *port) {
    if (port->kind == PORT_DESCRIPTOR && --port->pins == 0 && list_is_empty(&port->sources))
        runloop__ports_free_graveyard(loop);
}

/// Makes the epoll set anew, with all that is in it but the zombies. When descriptors have run out it is tried again later.
static void rebuild(runloop *loop) {
    if (runloop__portset_reopen(loop))
        return;
    loop->epoll_is_stale = false;
    for (uint32_t i = 0; i < loop->bucket_count; i++) {
        for (struct port *port = loop->buckets[i]; port; port = port->next) {
            bool was_in_set = port->in_set;
            port->in_set = false;
            if (was_in_set)
                watch(loop, port, port->registered);
        }
    }
    for (struct port *port = loop->graveyard; port; port = port->next)
        port->is_zombie = false;
    loop->zombie_count = 0;
    runloop__ports_free_graveyard(loop);
}

void runloop__ports_free(runloop *loop) {
    for (struct port *port = loop->graveyard; port; port = port->next)
        port->is_zombie = false, port->pins = 0;
    runloop__ports_free_graveyard(loop);
    free(loop->buckets);
    loop->buckets = NULL;
    loop->bucket_count = 0;
}

//===-- sources come and go ------------------------------------------------------------------------------------------===//

int runloop__port_join(struct binding *binding) {
    runloop *loop = binding->loop;
    int descriptor = binding->source->descriptor;
    struct port *port = find(loop, descriptor);
    if (!port)
        port = make(loop, descriptor);
    if (!port)
        return -ENOMEM;
    list_append(&port->sources, &binding->on_port);
    // Asked even if the mask is the same: if the number was closed and opened anew, epoll doesn't know the new file yet.
    int error = widen(loop, port);
    if (error) {
        list_remove(&binding->on_port);
        if (list_is_empty(&port->sources))
            discard(loop, port);
        return error;
    }
    binding->port = port;
    return 0;
}

void runloop__port_leave(struct binding *binding) {
    struct port *port = binding->port;
    binding->port = NULL;
    list_remove(&binding->on_port);
    if (list_is_empty(&port->sources))
        discard(binding->loop, port);
    else
        runloop__port_update(binding->loop, port);
}

/// HOLDS: loop.
static inline void note_what_is_left(runloop *loop) {
    bool left = !list_is_empty(&loop->ready_ports) || !list_is_empty(&loop->narrowed_ports) || loop->epoll_is_stale ||
                loop->graveyard;
    atomic_store_explicit(&loop->ports_need_a_look, left, memory_order_relaxed);
}

//===-- reports and choices ------------------------------------------------------------------------------------------===//

void runloop__port_report(runloop *loop, struct port *port, uint32_t events) {
    if (port->kind == PORT_DESCRIPTOR) {
        if (list_is_empty(&port->sources)) {
            loop->epoll_is_stale |= port->is_zombie;
            return;
        }
        // Fetched before another thread asked for less.
        events &= port->registered | UNASKED;
        if (!events)
            return;
    }
    port->ready |= events;
    if (list_is_empty(&port->in_ready)) {
        atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
        port->reports++;
        list_append(&loop->ready_ports, &port->in_ready);
    }
}

/// HOLDS: loop. The first reported port that the run can serve, and what it is ready for; or NULL.
static inline struct port *first_ready(struct run *run, uint32_t *ready) {
    LIST_EACH(node, &run->loop->ready_ports) {
        struct port *port = LIST_ENTRY(node, struct port, in_ready);
        *ready = port->kind == PORT_DESCRIPTOR ? wanted_and_ready(port, run->mode) : run->serves_main_queue;
        if (*ready)
            return port;
    }
    return NULL;
}

bool runloop__port_is_ready(struct run *run) {
    uint32_t ready;
    return first_ready(run, &ready) != NULL;
}

void runloop__ports_prepare_wait(struct run *run) {
    runloop *loop = run->loop;
    if (loop->epoll_is_stale)
        rebuild(loop);
    if (loop->graveyard)
        runloop__ports_free_graveyard(loop);
    note_what_is_left(loop);
    if (list_is_empty(&loop->narrowed_ports))
        return;
    if (loop->narrowed_for == run->mode)
        return;
    for (struct list *node = loop->narrowed_ports.next, *next; node != &loop->narrowed_ports; node = next) {
        next = node->next;
        struct port *port = LIST_ENTRY(node, struct port, narrowed);
        bool any;
        uint32_t mask = wanted(port, run->mode, &any);
        if (any && (!port->in_set || (mask & ~port->registered)))
            widen(loop, port);
    }
    loop->narrowed_for = run->mode;
}

void runloop__ports_narrow(struct run *run) {
    runloop *loop = run->loop;
    if (list_is_empty(&loop->ready_ports))
        return;
    LIST_EACH(node, &loop->ready_ports) {
        struct port *port = LIST_ENTRY(node, struct port, in_ready);
        if (port->kind == PORT_DESCRIPTOR && port->in_set && !wanted_and_ready(port, run->mode)) {
            narrow(loop, port, run->mode);
            loop->narrowed_for = run->mode;
        }
    }
}

//===-- serving ------------------------------------------------------------------------------------------------------===//

static bool precedes(const void *a, const void *b) {
    const runloop_source *left = a, *right = b;
    return left->config.order < right->config.order;
}

/// HOLDS: loop. Collects a source if it is in the mode and asked for what is ready. One that joined the mode after `serial` waits
/// for the next report: it was not there when the wait chose this port.
static inline void collect_source(struct run *run, struct binding *binding, uint32_t serial) {
    struct membership *membership = runloop__membership_of(&binding->modes, run->mode);
    if (membership && (int32_t)(serial - membership->position) >= 0 &&
        (run->ready & (epoll_mask(binding->source) | UNASKED)) && runloop__collect(run->loop, &binding->source->item))
        run->needs_counter |= binding->source->is_counter;
}

/// HOLDS: loop. In the order in which they are called.
static RUNLOOP__COLD void collect_many(struct run *run, struct port *port, uint32_t serial) {
    LIST_EACH(node, &port->sources)
    collect_source(run, LIST_ENTRY(node, struct binding, on_port), serial);
    runloop__collected_sort(run->loop, run->collected_base, precedes);
}

/// The 8-byte counter of a descriptor with counter semantics: false if somebody else has taken it.
static bool take_counter(struct port *port) {
    uint64_t counter;
    return read(port->descriptor, &counter, sizeof counter) == (ssize_t)sizeof counter;
}

static bool still_there(struct run *run, runloop_source *source) {
    // An earlier call may have forked: another thread may have been in the middle of changing the source's modes.
    if (runloop__is_inherited(run->loop))
        return false;
    runloop__lock(run->loop);
    struct binding *binding = runloop__binding_find(source, run->loop);
    bool there = binding && runloop__membership_of(&binding->modes, run->mode);
    runloop__unlock(run->loop);
    return there && runloop__item_is_valid(&source->item);
}

// A descriptor that was closed without removing its source is reported as long as a duplicate of it is open. To ask the kernel about
// the number at each event would cost every program a system call for the sake of a broken one; asking now and then ends it.
enum { REPORTS_BETWEEN_CHECKS = 64 };

/// HOLDS: loop. True if the port is dead: its number stands for nothing.
static bool is_closed(runloop *loop, struct port *port) {
    if (port->reports % REPORTS_BETWEEN_CHECKS != 0 || fcntl(port->descriptor, F_GETFD) >= 0)
        return false;
    port->in_set = false;
    loop->epoll_is_stale = true;
    atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
    return true;
}

/// HOLDS: loop. What is collected is for `port_call`.
static inline void acknowledge(struct run *run, struct port *port, uint32_t ready, uint32_t serial) {
    run->ready = ready;
    struct binding *only = only_source(port);
    if (is_closed(run->loop, port))
        ;
    else if (only)
        collect_source(run, only, serial);
    else
        collect_many(run, port, serial);
    list_remove(&port->in_ready);
    port->ready = 0;
    note_what_is_left(run->loop);
    run->counted = run->needs_counter && take_counter(port);
    run->loop->timers_served_last = false;
}

static inline void begin_collecting(struct run *run) {
    run->collected_base = run->loop->collected_count;
    run->needs_counter = run->counted = false;
}

void runloop__port_take_in_hand(struct run *run, struct port *port) {
    run->choice = CHOICE_PORT;
    run->port = port;
    run->port_report = port->reports;
    run->chosen_serial = (uint32_t)run->loop->serial;
    port->pins++;
}

bool runloop__port_choose(struct run *run) {
    uint32_t ready;
    struct port *port = first_ready(run, &ready);
    if (!port)
        return false;
    bool told_first = atomic_load_explicit(&run->mode->observed, memory_order_relaxed) & RUNLOOP_ACTIVITY_AFTER_WAITING;
    if (told_first || port->kind == PORT_MAIN_QUEUE) {
        runloop__port_take_in_hand(run, port);
    } else {
        run->choice = CHOICE_SOURCES;
        begin_collecting(run);
        acknowledge(run, port, ready, (uint32_t)run->loop->serial);
    }
    return true;
}

void runloop__port_serve(struct run *run) {
    struct port *port = run->port;
    runloop__lock(run->loop);
    begin_collecting(run);
    // Served by a nested run, or all its sources gone, since it was chosen: nothing to do.
    if (port->reports == run->port_report && !list_is_empty(&port->in_ready))
        acknowledge(run, port, wanted_and_ready(port, run->mode), run->chosen_serial);
    runloop__port_unpin(run->loop, port);
    runloop__unlock(run->loop);
}

/// Calls a source that was collected: false if it is not to be called any more.
static inline bool call(struct run *run, runloop_source *source) {
    if ((source->is_counter && !run->counted) || runloop__is_inherited(run->loop))
        return false;
    // An earlier one of the port's may have changed what this one asks for.
    runloop_readiness events = run->ready & (epoll_mask(source) | UNASKED);
    if (!events)
        return false;
    if (events & EPOLLRDHUP)
        events = (events & ~(uint32_t)EPOLLRDHUP) | RUNLOOP_HANG_UP;
    runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(source, events);
    return true;
}

bool runloop__port_call(struct run *run) {
    runloop *loop = run->loop;
    uint32_t base = run->collected_base;
    bool called = false;
    for (uint32_t i = base; i < loop->collected_count; i++) {
        runloop_source *source = SOURCE_OF(loop->collected[i]);
        if (i == base || still_there(run, source))
            called |= call(run, source);
        runloop__collected_drop(loop, i);
    }
    loop->collected_count = base;
    return called;
}
