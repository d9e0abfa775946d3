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
    port->registered = (uint16_t)mask;
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
    port->ready &= (uint16_t)(wanted(port, NULL, &any) | UNASKED);
    if (!port->ready)
        list_remove(&port->in_ready);
    return error;
}

//===-- the table by descriptor --------------------------------------------------------------------------------------===//

static struct port **bucket_of(runloop *loop, int descriptor) {
    return &loop->buckets[(uint32_t)descriptor & (loop->bucket_count - 1)];
}

struct port *runloop__port_find(runloop *loop, int descriptor) {
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
    struct port *port = runloop__block_new();
    if (!port)
        return NULL;
    *port = (struct port){.descriptor = descriptor};
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
            runloop__block_free(port);
        }
    }
}

void runloop__port_unpin(runloop *loop, struct port *port) {
    if (!port->is_main_queue && --port->pins == 0 && !port->newest)
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

/// Takes the source off the port's list. A port that is left without any goes, and then it is false.
static bool unlink_source(runloop *loop, struct port *port, struct binding *binding) {
    struct binding **link = &port->newest, **older = older_of(binding);
    while (*link != binding)
        link = older_of(*link);
    *link = older ? *older : NULL;
    if (older)
        *older = NULL;
    port->is_shared = port->newest && runloop__port_older(port->newest);
    if (port->newest)
        return true;
    discard(loop, port);
    return false;
}

int runloop__port_join(runloop *loop, struct binding *binding) {
    runloop_source *source = runloop__source_of(binding);
    int descriptor = runloop__source_descriptor(source);
    struct port *port = runloop__port_find(loop, descriptor);
    // Only one that is not alone needs a place for the link to those before it.
    if (port && !older_of(binding) && runloop__source_ensure_extras(source))
        return -ENOMEM;
    if (!port && !(port = make(loop, descriptor)))
        return -ENOMEM;
    if (port->newest)
        *older_of(binding) = port->newest;
    port->is_shared = port->newest != NULL;
    port->newest = binding;
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

struct binding *runloop__port_next_binding(runloop *loop, struct binding *binding, uint32_t *bucket) {
    struct port *port = NULL;
    if (binding) {
        struct binding *older = runloop__port_older(binding);
        if (older)
            return older;
        port = runloop__port_find(loop, runloop__source_descriptor(runloop__source_of(binding)))->next;
        *bucket += port == NULL;
    }
    for (; !port && *bucket < loop->bucket_count; *bucket += port == NULL)
        port = loop->buckets[*bucket];
    return port ? port->newest : NULL;
}

//===-- before waits -------------------------------------------------------------------------------------------------===//

void runloop__ports_note_what_is_left(runloop *loop) {
    bool left = !list_is_empty(&loop->ready_ports) || !list_is_empty(&loop->narrowed_ports) || loop->epoll_is_stale ||
                loop->graveyard;
    atomic_store_explicit(&loop->ports_need_a_look, left, memory_order_relaxed);
}

void runloop__ports_prepare_wait(struct run *run) {
    runloop *loop = run->loop;
    if (loop->epoll_is_stale)
        rebuild(loop);
    if (loop->graveyard)
        runloop__ports_free_graveyard(loop);
    runloop__ports_note_what_is_left(loop);
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
        if (!port->is_main_queue && port->in_set && !runloop__port_wanted_and_ready(port, run->mode)) {
            narrow(loop, port, run->mode);
            loop->narrowed_for = run->mode;
        }
    }
}
