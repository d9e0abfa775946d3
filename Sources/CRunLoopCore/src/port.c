// port.c — a descriptor in a loop: one registration with epoll, shared by all sources on it, whatever their modes.
//
// Modes are told apart in user space. A port is registered for all that its sources want in any mode, and costs a mode nothing as
// long as the modes agree. When a wait reports what the running mode does not want, the port is narrowed to what it does want
// (taken out of the set if that is nothing, since epoll reports hang-ups even for an empty mask), but only before a wait that
// may sleep; it is widened again when a mode that wants more is about to wait.
//
// Ports stand in one array and are known by their numbers. What epoll reports is a number and a generation, which another port with
// the same number does not have. So a wait may be under way while ports come, go and move: what it reports is looked up under the
// lock, and a report of a port that is no more is none. (Generations are 16 bits. Should 65,536 ports come while a wait that has
// returned waits for the lock, a source may be called once in vain, as it may in any case.)
//
// What epoll knows about a port ends with the port's *file*, not with its descriptor. If that was closed before its source was
// removed, a copy of it elsewhere keeps the registration alive, and nothing can remove it any more. Such a port is a zombie, and nobody
// else gets its number, until the whole set is made anew.

#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

enum { ZOMBIES_BEFORE_REBUILD = 64 };

//===-- what a port's sources want -----------------------------------------------------------------------------------===//

static struct binding **older_of(struct binding *binding) {
    if (binding->modes.descriptor == FURTHER_BINDING)
        return &LIST_ENTRY(binding, struct further_binding, binding)->older;
    struct source_extras *extras = atomic_load(&binding->extras);
    return extras ? &extras->older : NULL;
}

struct binding *runloop__port_older(struct binding *binding) {
    struct binding **older = older_of(binding);
    return older ? *older : NULL;
}

/// In one mode, or in all (NULL). `*any` tells whether there is a source at all.
static uint32_t wanted(struct port *port, const struct mode *mode, bool *any) {
    uint32_t mask = 0;
    *any = false;
    for (struct binding *binding = port->newest; binding; binding = runloop__port_older(binding)) {
        if (mode ? runloop__is_member(&binding->modes, mode) : binding->modes.mode != NULL) {
            mask |= runloop__port_mask(runloop__source_of(binding));
            *any = true;
        }
    }
    return mask;
}

uint32_t runloop__port_ready_of_many(struct port *port, const struct mode *mode) {
    bool any;
    uint32_t mask = wanted(port, mode, &any);
    return any ? port->ready & (mask | UNASKED) : 0;
}

//===-- registration -------------------------------------------------------------------------------------------------===//

static port_number number_of(runloop *loop, struct port *port) {
    return (port_number)((char *)port - (char *)loop->ports);
}

static int control(runloop *loop, struct port *port, int descriptor, int operation, uint32_t mask) {
    uint64_t tag = (uint64_t)port->generation << 32 | number_of(loop, port);
    return runloop__portset_watch(loop, descriptor, tag, operation, mask);
}

static int watch(runloop *loop, struct port *port, uint32_t mask) {
    int descriptor = runloop__port_descriptor(port);
    int error = control(loop, port, descriptor, port->in_set ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, mask);
    if (error == -ENOENT && port->in_set) {
        // The number was closed and stands for another file now.
        loop->epoll_is_stale = true;
        atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
        error = control(loop, port, descriptor, EPOLL_CTL_ADD, mask);
    }
    // The number stands again for a file whose port nobody could take out of the set: what epoll still has of that becomes this
    // port's. What else may be watched under a number that sources come with is the main queue.
    if (error == -EEXIST && descriptor != loop->main_queue_descriptor)
        error = control(loop, port, descriptor, EPOLL_CTL_MOD, mask);
    if (error)
        return error;
    port->in_set = true;
    port->registered = (uint16_t)mask;
    return 0;
}

/// It stays in the list, which is gone through when a wait is next prepared.
static void end_narrowed(runloop *loop, struct port *port) {
    if (port->is_narrowed)
        loop->narrowed_for = NULL;
    port->is_narrowed = false;
}

static int widen(runloop *loop, struct port *port) {
    bool any;
    uint32_t mask = wanted(port, NULL, &any);
    int error = watch(loop, port, mask);
    if (!error)
        end_narrowed(loop, port);
    return error;
}

static void narrow(runloop *loop, struct port *port, const struct mode *mode) {
    bool any;
    uint32_t mask = wanted(port, mode, &any);
    if (any) {
        if (port->registered != mask)
            watch(loop, port, mask);
    } else if (port->in_set) {
        if (control(loop, port, runloop__port_descriptor(port), EPOLL_CTL_DEL, 0))
            loop->epoll_is_stale = true;
        port->in_set = false;
        port->registered = 0;
    }
    port->is_narrowed = true;
    if (!port->in_narrowed) {
        port->in_narrowed = true;
        port->next_narrowed = loop->narrowed;
        loop->narrowed = number_of(loop, port);
    }
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
    uint32_t left = port->ready & (wanted(port, NULL, &any) | UNASKED);
    if (port->ready && !left)
        runloop__port_unready(loop, port);
    port->ready = (uint16_t)left;
    return error;
}

bool runloop__port_is_dead(runloop *loop, struct port *port) {
    if (!port->in_set || !control(loop, port, runloop__port_descriptor(port), EPOLL_CTL_MOD, port->registered))
        return false;
    port->in_set = false;
    loop->epoll_is_stale = true;
    atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
    return true;
}

//===-- the ports, and the table by descriptor -----------------------------------------------------------------------===//

enum { PORTS_AT_FIRST = 8, BUCKETS_AT_FIRST = 8, PORTS_PER_BUCKET = 2 };

static port_number *bucket_of(runloop *loop, int descriptor) {
    return &loop->buckets[(uint32_t)descriptor & (loop->bucket_count - 1)];
}

struct port *runloop__port_find(runloop *loop, int descriptor) {
    for (port_number number = loop->bucket_count ? *bucket_of(loop, descriptor) : NO_PORT; number;) {
        struct port *port = runloop__port_at(loop, number);
        if (runloop__port_descriptor(port) == descriptor)
            return port;
        number = port->next;
    }
    return NULL;
}

static int grow_table(runloop *loop) {
    if (loop->port_count < loop->bucket_count * PORTS_PER_BUCKET)
        return 0;
    uint32_t count = loop->bucket_count ? loop->bucket_count * 2 : BUCKETS_AT_FIRST;
    port_number *buckets = calloc(count, sizeof *buckets);
    if (!buckets)
        return loop->bucket_count ? 0 : -ENOMEM; // a full table is slower, not wrong
    free(loop->buckets);
    loop->buckets = buckets;
    loop->bucket_count = count;
    for (uint32_t i = 0; i < loop->ports_used; i++) {
        struct port *port = &loop->ports[i];
        if (!port->newest)
            continue;
        port_number *bucket = bucket_of(loop, runloop__port_descriptor(port));
        port->next = *bucket;
        *bucket = number_of(loop, port);
    }
    return 0;
}

static void free_ports(runloop *loop) {
    if (loop->ports != loop->first_ports)
        free(loop->ports);
}

/// By an eighth at a time: what stands there moves seldom enough, and little is there for nothing.
static int grow_ports(runloop *loop) {
    if (loop->free_port || loop->ports_used < loop->port_capacity)
        return 0;
    uint32_t capacity = loop->port_capacity + (loop->port_capacity / 8 & ~(uint32_t)1) + PORTS_AT_FIRST;
    struct port *ports = aligned_alloc(RUNLOOP__BLOCK_SIZE, capacity * sizeof *ports);
    if (!ports)
        return -ENOMEM;
    memcpy(ports, loop->ports, loop->ports_used * sizeof *ports);
    free_ports(loop);
    loop->ports = ports;
    loop->port_capacity = capacity;
    return 0;
}

/// A port for the binding, its first source, or NULL when memory ran out.
static struct port *make(runloop *loop, struct binding *binding, int descriptor) {
    if (grow_table(loop) || grow_ports(loop))
        return NULL;
    port_number number = loop->free_port, next_narrowed = NO_PORT;
    struct port *port = number ? runloop__port_at(loop, number) : &loop->ports[loop->ports_used];
    bool in_narrowed = number && port->in_narrowed;
    if (number) {
        loop->free_port = port->next;
        next_narrowed = port->next_narrowed;
    } else {
        number = number_of(loop, port);
        loop->ports_used++;
    }
    port_number *bucket = bucket_of(loop, descriptor);
    *port = (struct port){.newest = binding,
                          .generation = ++loop->port_generation,
                          .next = *bucket,
                          .next_narrowed = next_narrowed,
                          .in_narrowed = in_narrowed};
    *bucket = number;
    loop->port_count++;
    return port;
}

static void set_free(runloop *loop, struct port *port) {
    port->is_zombie = false;
    port->next = loop->free_port;
    loop->free_port = number_of(loop, port);
}

/// Takes a port whose last source leaves out of everything.
static void discard(runloop *loop, struct port *port, int descriptor) {
    if (port->ready)
        runloop__port_unready(loop, port);
    end_narrowed(loop, port);
    port_number *link = bucket_of(loop, descriptor), number = number_of(loop, port);
    while (*link != number)
        link = &runloop__port_at(loop, *link)->next;
    *link = port->next;
    loop->port_count--;
    port->newest = NULL;
    if (port->in_set && control(loop, port, descriptor, EPOLL_CTL_DEL, 0)) {
        port->is_zombie = true;
        if (++loop->zombie_count >= ZOMBIES_BEFORE_REBUILD) {
            loop->epoll_is_stale = true;
            atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
        }
    } else {
        set_free(loop, port);
    }
    port->in_set = false;
}

/// Makes the epoll set anew, with all that is in it but the zombies. When descriptors have run out it is tried again later.
static void rebuild(runloop *loop) {
    if (runloop__portset_reopen(loop))
        return;
    loop->epoll_is_stale = false;
    loop->zombie_count = 0;
    for (uint32_t i = 0; i < loop->ports_used; i++) {
        struct port *port = &loop->ports[i];
        if (port->is_zombie)
            set_free(loop, port);
        bool was_in_set = port->newest && port->in_set;
        port->in_set = false;
        if (was_in_set)
            watch(loop, port, port->registered);
    }
}

void runloop__ports_free(runloop *loop) {
    free(loop->buckets);
    free_ports(loop);
}

//===-- sources come and go ------------------------------------------------------------------------------------------===//

/// Takes the source off the port's list. A port that is left without any goes, and then it is false.
static bool unlink_source(runloop *loop, struct port *port, struct binding *binding) {
    struct binding **link = &port->newest, **older = older_of(binding);
    if (port->newest == binding && !(older && *older)) {
        discard(loop, port, runloop__source_descriptor(runloop__source_of(binding)));
        return false;
    }
    while (*link != binding)
        link = older_of(*link);
    *link = older ? *older : NULL;
    if (older)
        *older = NULL;
    port->is_shared = runloop__port_older(port->newest) != NULL;
    return true;
}

int runloop__port_join(runloop *loop, struct binding *binding) {
    runloop_source *source = runloop__source_of(binding);
    int descriptor = runloop__source_descriptor(source);
    struct port *port = runloop__port_find(loop, descriptor);
    // Only one that is not alone needs a place for the link to those before it.
    if (port && !older_of(binding) && runloop__source_ensure_extras(source))
        return -ENOMEM;
    if (port) {
        *older_of(binding) = port->newest;
        port->newest = binding;
        port->is_shared = true;
    } else if (!(port = make(loop, binding, descriptor))) {
        return -ENOMEM;
    }
    // Asked even if the mask is the same: if the number was closed and opened anew, epoll doesn't know the new file yet.
    int error = widen(loop, port);
    if (error)
        unlink_source(loop, port, binding);
    return error;
}

void runloop__port_leave(runloop *loop, struct binding *binding) {
    struct port *port = runloop__port_find(loop, runloop__source_descriptor(runloop__source_of(binding)));
    if (unlink_source(loop, port, binding))
        runloop__port_update(loop, port);
}

struct binding *runloop__port_next_binding(runloop *loop, struct binding *binding, uint32_t *used) {
    struct binding *next = binding ? runloop__port_older(binding) : NULL;
    *used += binding && !next;
    while (!next && *used < loop->ports_used && !(next = loop->ports[*used].newest))
        ++*used;
    return next;
}

//===-- before waits -------------------------------------------------------------------------------------------------===//

void runloop__ports_note_what_is_left(runloop *loop) {
    bool left = runloop__port_first_ready(loop) || loop->narrowed || loop->epoll_is_stale;
    atomic_store_explicit(&loop->ports_need_a_look, left, memory_order_relaxed);
}

void runloop__ports_prepare_wait(struct run *run) {
    runloop *loop = run->loop;
    if (loop->epoll_is_stale)
        rebuild(loop);
    if (loop->narrowed && loop->narrowed_for != run->mode) {
        loop->narrowed_for = run->mode;
        port_number *link = &loop->narrowed;
        while (*link) {
            struct port *port = runloop__port_at(loop, *link);
            bool any = false;
            uint32_t mask = port->is_narrowed ? wanted(port, run->mode, &any) : 0;
            if (any && (!port->in_set || (mask & ~(uint32_t)port->registered)) && widen(loop, port) == 0)
                loop->narrowed_for = run->mode;
            if (port->is_narrowed) {
                link = &port->next_narrowed;
            } else {
                *link = port->next_narrowed;
                port->in_narrowed = false;
            }
        }
    }
    runloop__ports_note_what_is_left(loop);
}

void runloop__ports_narrow(struct run *run) {
    runloop *loop = run->loop;
    for (port_number number = runloop__port_first_ready(loop); number;) {
        struct port *port = runloop__port_at(loop, number);
        if (number != PORT_MAIN_QUEUE && port->in_set && !runloop__port_wanted_and_ready(port, run->mode)) {
            narrow(loop, port, run->mode);
            loop->narrowed_for = run->mode;
        }
        number = port->next_ready;
    }
}
