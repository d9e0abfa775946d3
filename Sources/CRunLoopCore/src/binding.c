// binding.c — a source in a loop. A source may be in many loops, and a signal handler must find them all without a lock.
//
// So a source's bindings form a chain that anybody may walk at any time. The first binding is part of the source and stays with its
// loop as long as the source lives; further ones are pushed behind it, where the source's extras lead to. They are cut off again
// once their loop is torn down, when the source is added somewhere else. What was cut off is freed only when nobody walks beyond the
// first: a walker counts itself before it reads the link, the cutter cuts before it reads the count, both sequentially
// consistent, so either the cutter sees the walker or the walker sees the shorter chain. Who has found a binding and walks no
// more has its loop locked, and whoever frees it takes that lock once, after the cut. A source that stays in one loop pays
// for none of this.
//
// A source that can be signalled has its extras from the beginning, so a handler never finds them changing. A descriptor source, which
// handlers don't walk, may get them later: filled in, then published, before anything is linked behind them; and both are
// never taken back while the source lives. So a walker who finds none came before whatever was linked there.

#include <sched.h>

#include "internal.h"

void runloop__bindings_each(runloop_source *source, void (*visit)(struct binding *binding, void *context),
                            void *context) {
    if (!atomic_load(&source->first.loop))
        return;
    visit(&source->first, context);
    struct source_extras *extras = runloop__source_extras(source);
    if (!extras || !atomic_load(&extras->next))
        return;
    atomic_fetch_add(&extras->walkers, 1);
    for (struct further_binding *further = atomic_load(&extras->next); further; further = atomic_load(&further->next))
        visit(&further->binding, context);
    atomic_fetch_sub(&extras->walkers, 1);
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
    // What is found stays as long as the caller has the lock: a loop that is torn down may be cut off meanwhile, but who frees the
    // binding takes the lock first.
    struct search search = {.loop = loop};
    runloop__bindings_each(source, visit_search, &search);
    return search.found;
}

struct binding *runloop__binding_next(runloop *loop, struct binding *binding, uint32_t *used) {
    if (binding && runloop__source_descriptor(runloop__source_of(binding)) >= 0)
        return runloop__port_next_binding(loop, binding, used);
    struct list *next = binding ? runloop__signals(binding)->in_loop.next : loop->bindings.next;
    return next == &loop->bindings ? runloop__port_next_binding(loop, NULL, used)
                                   : runloop__binding_of(LIST_ENTRY(next, struct signals, in_loop));
}

//===-- making -------------------------------------------------------------------------------------------------------===//

static void lock_chain(runloop_source *source) {
    while (atomic_fetch_or_explicit(&source->item.state, ITEM_CHAIN, memory_order_acquire) & ITEM_CHAIN)
        sched_yield();
}

static void unlock_chain(runloop_source *source) {
    atomic_fetch_and_explicit(&source->item.state, (uint8_t)~ITEM_CHAIN, memory_order_release);
}

/// With the chain locked.
static struct source_extras *extras_made(runloop_source *source) {
    struct source_extras *extras = runloop__source_extras(source);
    if (!extras && (extras = runloop__block_new())) {
        memset(extras, 0, sizeof *extras);
        atomic_store(&source->first.extras, extras);
    }
    return extras;
}

int runloop__source_ensure_extras(runloop_source *source) {
    lock_chain(source);
    bool made = extras_made(source);
    unlock_chain(source);
    return made ? 0 : -ENOMEM;
}

void runloop__signals_init(struct signals *signals) {
    list_init(&signals->in_loop);
    list_init(&signals->pending);
}

/// With the chain locked: a binding that is not in it yet, or NULL when memory ran out.
static struct further_binding *make_further(runloop_source *source) {
    struct source_extras *extras = extras_made(source);
    struct further_binding *further = extras ? calloc(1, sizeof *further) : NULL;
    if (further) {
        further->binding.modes.descriptor = FURTHER_BINDING;
        further->binding.source = source;
        runloop__signals_init(&further->signals);
        atomic_init(&further->next, atomic_load(&extras->next));
    }
    return further;
}

struct binding *runloop__binding_make(runloop_source *source, runloop *loop) {
    struct binding *binding = runloop__binding_find(source, loop);
    if (binding)
        return binding;
    struct further_binding *further = NULL;
    lock_chain(source);
    if (!atomic_load(&source->first.loop))
        binding = &source->first;
    else if ((further = make_further(source)))
        binding = &further->binding;
    if (binding) {
        runloop__hold(loop);
        atomic_store(&binding->loop, loop);
        if (further)
            atomic_store(&runloop__source_extras(source)->next, further);
    }
    unlock_chain(source);
    return binding;
}

//===-- cutting off and freeing --------------------------------------------------------------------------------------===//

static void let_go_of_loop(runloop_source *source, struct binding *binding) {
    runloop *loop = atomic_load(&binding->loop);
    if (!loop || runloop__is_inherited(loop))
        return;
    if (runloop__source_descriptor(source) < 0)
        runloop__source_forget_signal(binding);
    runloop__memberships_free(&binding->modes);
    runloop__unhold(loop);
}

static void free_further(runloop_source *source, struct further_binding *further) {
    // Who found it before it was cut off has the lock of its loop, or counts as a walker, for as long as he looks at it.
    runloop *loop = atomic_load(&further->binding.loop);
    runloop__lock(loop);
    runloop__unlock(loop);
    let_go_of_loop(source, &further->binding);
    free(further);
}

static void free_abandoned(runloop_source *source, struct further_binding *further) {
    while (further) {
        struct further_binding *next = further->next_abandoned;
        free_further(source, further);
        further = next;
    }
}

void runloop__bindings_sweep(runloop_source *source) {
    struct source_extras *extras = runloop__source_extras(source);
    if (!extras || !atomic_load(&extras->next))
        return;
    struct further_binding *unused = NULL;
    lock_chain(source);
    for (_Atomic(struct further_binding *) *link = &extras->next; atomic_load(link);) {
        struct further_binding *further = atomic_load(link);
        if (atomic_load(&atomic_load(&further->binding.loop)->is_torn_down)) {
            // A walker that stands on the binding goes on along its link, which therefore stays as it is.
            atomic_store(link, atomic_load(&further->next));
            further->next_abandoned = extras->abandoned;
            extras->abandoned = further;
        } else {
            link = &further->next;
        }
    }
    if (atomic_load(&extras->walkers) == 0) {
        unused = extras->abandoned;
        extras->abandoned = NULL;
    }
    unlock_chain(source);
    free_abandoned(source, unused);
}

void runloop__bindings_free(runloop_source *source) {
    struct source_extras *extras = runloop__source_extras(source);
    for (struct further_binding *further = extras ? atomic_load(&extras->next) : NULL, *next; further; further = next) {
        next = atomic_load(&further->next);
        free_further(source, further);
    }
    free_abandoned(source, extras ? extras->abandoned : NULL);
    let_go_of_loop(source, &source->first);
}
