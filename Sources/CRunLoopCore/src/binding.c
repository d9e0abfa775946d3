// binding.c — a source in a loop. A source may be in many loops, and a signal handler must find them all without a lock.
//
// So a source's bindings form a chain that anybody may walk at any time. The first binding is part of the source and stays with its
// loop as long as the source lives; further ones are pushed behind it. They are cut off again once their loop is torn down, when the
// source is added somewhere else. What was cut off is freed only when nobody walks beyond the first: a walker counts itself before
// it reads the link, the cutter cuts before it reads the count, both sequentially consistent, so either the cutter sees the
// walker or the walker sees the shorter chain. A source that stays in one loop pays for none of this.

#include <sched.h>

#include "internal.h"

void runloop__bindings_each(runloop_source *source, void (*visit)(struct binding *binding, void *context),
                            void *context) {
    if (!atomic_load(&source->first.loop))
        return;
    visit(&source->first, context);
    if (!atomic_load(&source->first.next))
        return;
    atomic_fetch_add(&source->walkers, 1);
    for (struct binding *binding = atomic_load(&source->first.next); binding; binding = atomic_load(&binding->next))
        visit(binding, context);
    atomic_fetch_sub(&source->walkers, 1);
}

struct search {
    runloop *loop;
    struct binding *found;
};

static void visit_search(struct binding *binding, void *context) {
    struct search *search = context;
    if (atomic_load_explicit(&binding->loop, memory_order_relaxed) == search->loop)
        search->found = binding;
}

struct binding *runloop__binding_find(runloop_source *source, runloop *loop) {
    if (atomic_load(&source->first.loop) == loop)
        return &source->first;
    // The binding to a loop that is locked by the caller is not cut off: that happens to loops already torn down.
    struct search search = {.loop = loop};
    runloop__bindings_each(source, visit_search, &search);
    return search.found;
}

//===-- making -------------------------------------------------------------------------------------------------------===//

static void lock_chain(runloop_source *source) {
    while (atomic_flag_test_and_set_explicit(&source->chain_busy, memory_order_acquire))
        sched_yield();
}

static void unlock_chain(runloop_source *source) {
    atomic_flag_clear_explicit(&source->chain_busy, memory_order_release);
}

static void init(struct binding *binding, runloop_source *source) {
    binding->source = source;
    list_init(&binding->in_loop);
    list_init(&binding->pending);
    list_init(&binding->on_port);
}

void runloop__bindings_init(runloop_source *source) {
    init(&source->first, source);
}

struct binding *runloop__binding_make(runloop_source *source, runloop *loop) {
    struct binding *binding = runloop__binding_find(source, loop);
    if (binding)
        return binding;
    struct binding *further = NULL;
    lock_chain(source);
    if (!atomic_load(&source->first.loop)) {
        binding = &source->first;
    } else if ((binding = further = calloc(1, sizeof *further))) {
        init(further, source);
        atomic_init(&further->next, atomic_load(&source->first.next));
    }
    if (binding) {
        runloop__hold(loop);
        atomic_store(&binding->loop, loop);
        if (further)
            atomic_store(&source->first.next, further);
    }
    unlock_chain(source);
    return binding;
}

//===-- cutting off and freeing --------------------------------------------------------------------------------------===//

static void let_go_of_loop(struct binding *binding) {
    runloop *loop = atomic_load(&binding->loop);
    if (!loop || runloop__is_inherited(loop))
        return;
    runloop__source_forget_signal(binding);
    runloop__memberships_free(&binding->modes);
    runloop__unhold(loop);
}

static void free_all(struct binding *binding) {
    while (binding) {
        struct binding *next = atomic_load(&binding->next);
        let_go_of_loop(binding);
        free(binding);
        binding = next;
    }
}

void runloop__bindings_sweep(runloop_source *source) {
    if (!atomic_load(&source->first.next))
        return;
    struct binding *unused = NULL;
    lock_chain(source);
    for (_Atomic(struct binding *) *link = &source->first.next; atomic_load(link);) {
        struct binding *binding = atomic_load(link);
        if (atomic_load(&atomic_load(&binding->loop)->is_torn_down)) {
            // A walker that stands on the binding goes on along its link, which therefore stays as it is.
            atomic_store(link, atomic_load(&binding->next));
            binding->next_abandoned = source->abandoned;
            source->abandoned = binding;
        } else {
            link = &binding->next;
        }
    }
    if (atomic_load(&source->walkers) == 0) {
        unused = source->abandoned;
        source->abandoned = NULL;
    }
    unlock_chain(source);
    while (unused) {
        struct binding *next = unused->next_abandoned;
        atomic_store(&unused->next, NULL);
        free_all(unused);
        unused = next;
    }
}

void runloop__bindings_free(runloop_source *source) {
    free_all(atomic_load(&source->first.next));
    while (source->abandoned) {
        struct binding *binding = source->abandoned;
        source->abandoned = binding->next_abandoned;
        atomic_store(&binding->next, NULL);
        free_all(binding);
    }
    let_go_of_loop(&source->first);
}
