// source_modes.c — sources come into modes and leave them: equality, common modes, schedule and cancel.
//
// No callback runs under the loop's lock (rules R58–R60, R118 as changed). So operations on all common modes go one mode at a time:
// change, unlock, call, lock, and look again whether the source is still valid and still (or still not) a common item; if it
// isn't, whoever changed that goes on. `equal` is asked before the lock is taken, about a snapshot of the mode's sources, and
// asked again if the mode has other sources by then.

#include "internal.h"

//===-- into and out of one mode -------------------------------------------------------------------------------------===//

/// HOLDS: loop. Stands the source on the port of its descriptor, or has the port ask for what it asks for now.
static int watch(runloop *loop, struct binding *binding, int descriptor, bool is_first_mode) {
    return is_first_mode ? runloop__port_join(loop, binding)
                         : runloop__port_update(loop, runloop__port_find(loop, descriptor));
}

/// HOLDS: loop. The mode gets a reference.
static int insert(runloop *loop, struct binding *binding, struct mode *mode) {
    runloop_source *source = runloop__source_of(binding);
    int descriptor = runloop__source_descriptor(source);
    // Partner of runloop_source_invalidate: the binding is in the chain by now, so one of the two sees the other.
    if (!runloop__item_is_valid(&source->item))
        return -EINVAL;
    if (runloop__memberships_reserve(&binding->modes, 1))
        return -ENOMEM;
    bool is_first_mode = !binding->modes.mode;
    runloop__memberships_add(&binding->modes, mode, (uint32_t)++loop->serial);
    if (descriptor >= 0) {
        int error = watch(loop, binding, descriptor, is_first_mode);
        if (error) {
            runloop__memberships_remove(&binding->modes, mode);
            return error;
        }
        runloop__count(&mode->descriptor_count, 1);
    } else {
        if (is_first_mode)
            list_append(&loop->bindings, &runloop__signals(binding)->in_loop);
        runloop__source_queue_if_signalled(binding);
    }
    mode->source_changes++;
    runloop__count(&mode->source_count, 1);
    runloop__item_retain(&source->item);
    return 0;
}

/// HOLDS: loop. The caller releases the mode's reference, unlocked.
static void extract(runloop *loop, struct binding *binding, struct mode *mode) {
    int descriptor = runloop__source_descriptor(runloop__source_of(binding));
    runloop__memberships_remove(&binding->modes, mode);
    bool was_last_mode = !binding->modes.mode;
    if (descriptor >= 0) {
        runloop__count(&mode->descriptor_count, -1);
        if (was_last_mode)
            runloop__port_leave(loop, binding);
        else
            runloop__port_update(loop, runloop__port_find(loop, descriptor));
    } else if (was_last_mode) {
        list_remove(&runloop__signals(binding)->in_loop);
    }
    mode->source_changes++;
    runloop__count(&mode->source_count, -1);
    runloop__mode_left(loop, mode);
}

static void schedule(runloop_source *source, runloop *loop, struct mode *mode) {
    if (!runloop__source_is(source, ITEM_DESCRIPTOR) && runloop__portless(source)->schedule)
        runloop__IS_CALLING_OUT_TO_A_SOURCE_SCHEDULE(source, loop, mode->name);
}

static void cancel(runloop_source *source, runloop *loop, struct mode *mode) {
    if (!runloop__source_is(source, ITEM_DESCRIPTOR) && runloop__portless(source)->cancel)
        runloop__IS_CALLING_OUT_TO_A_SOURCE_CANCEL(source, loop, mode->name);
}

//===-- equality (R60) -----------------------------------------------------------------------------------------------===//

static bool (*equality_of(const runloop_source *source))(const void *info, const void *other_info) {
    struct source_extras *extras = runloop__source_extras(source);
    return extras ? extras->equal : NULL;
}

static bool comparable(const runloop_source *a, const runloop_source *b) {
    return equality_of(a) && equality_of(a) == equality_of(b) && runloop__source_order(a) == runloop__source_order(b) &&
           a->call.perform == b->call.perform &&
           runloop__source_is(a, ITEM_DESCRIPTOR) == runloop__source_is(b, ITEM_DESCRIPTOR) &&
           runloop__item_is_valid(&a->item) == runloop__item_is_valid(&b->item);
}

/// Notes `other` if it can be compared with the source.
static void compare(runloop_source *source, runloop_source *other, runloop_source **found, uint32_t *count) {
    if (other == source || !comparable(source, other))
        return;
    if (found) {
        runloop__item_retain(&other->item);
        found[*count] = other;
    }
    ++*count;
}

/// HOLDS: loop. The comparable sources of the mode (NULL: of the common set), retained, into `found` (NULL: counts only).
static uint32_t comparable_sources(runloop *loop, runloop_source *source, struct mode *mode, runloop_source **found) {
    // By identity alone: nobody else can be equal, and nothing need be searched.
    uint32_t count = 0, ports = 0;
    if (!equality_of(source))
        return 0;
    if (!mode) {
        LIST_EACH(node, &loop->common_items) {
            struct item *item = LIST_ENTRY(node, struct common_item, in_set)->item;
            if (item->kind == ITEM_SOURCE)
                compare(source, SOURCE_OF(item), found, &count);
        }
        return count;
    }
    for (struct binding *binding = NULL; (binding = runloop__binding_next(loop, binding, &ports));) {
        if (runloop__is_member(&binding->modes, mode))
            compare(source, runloop__source_of(binding), found, &count);
    }
    return count;
}

static uint64_t *changes_of(runloop *loop, struct mode *mode) {
    return mode ? &mode->source_changes : &loop->common_changes;
}

/// Locks the loop, and tells in `*stored` which source in the mode (NULL: in the common set) equals this one: itself unless
/// another does, which is retained then. Returns with the loop locked; -ENOMEM without.
static int lock_and_compare(runloop *loop, runloop_source *source, const char *mode_name, runloop_source **stored) {
    *stored = source;
    runloop__lock(loop);
    for (;;) {
        struct mode *mode = mode_name ? runloop__find_mode(loop, mode_name) : NULL;
        uint32_t count = mode_name && !mode ? 0 : comparable_sources(loop, source, mode, NULL);
        if (count == 0)
            return 0;
        uint64_t changes = *changes_of(loop, mode);
        runloop_source **candidates = calloc(count, sizeof(runloop_source *));
        if (candidates)
            comparable_sources(loop, source, mode, candidates);
        runloop__unlock(loop);
        if (!candidates)
            return -ENOMEM;
        runloop_source *equal = NULL;
        for (uint32_t i = 0; i < count; i++) {
            if (!equal && equality_of(source)(source->item.info, candidates[i]->item.info))
                equal = candidates[i];
            else
                runloop__item_release(&candidates[i]->item);
        }
        free(candidates);
        runloop__lock(loop);
        if (*changes_of(loop, mode) == changes) {
            if (equal)
                *stored = equal;
            return 0;
        }
        runloop__unlock(loop);
        if (equal)
            runloop__item_release(&equal->item);
        runloop__lock(loop);
    }
}

//===-- adding -------------------------------------------------------------------------------------------------------===//

/// HOLDS: loop. What forbids an addition, whatever the mode.
static int refusal(runloop *loop, runloop_source *source) {
    if (atomic_load(&loop->is_finished))
        return -ESHUTDOWN;
    return runloop__item_is_valid(&source->item) ? 0 : -EINVAL;
}

static int add_to_mode(runloop *loop, runloop_source *source, const char *name) {
    struct mode *mode = runloop__find_mode(loop, name), *made = NULL;
    struct binding *binding = runloop__binding_find(source, loop);
    if (mode && binding && runloop__is_member(&binding->modes, mode))
        return 0;
    if (!mode && !(mode = made = runloop__new_mode(name)))
        return -ENOMEM;
    int error = (binding = runloop__binding_make(source, loop)) ? insert(loop, binding, mode) : -ENOMEM;
    if (error) {
        free(made);
        return error;
    }
    if (made)
        runloop__adopt_mode(loop, made);
    runloop__unlock(loop);
    schedule(source, loop, mode);
    runloop__lock(loop);
    return 0;
}

/// HOLDS: loop. Is it (still) to be in all common modes?
static bool is_common(runloop *loop, runloop_source *source) {
    struct binding *binding = runloop__binding_find(source, loop);
    return binding && runloop__binding_common(binding) && runloop__item_is_valid(&source->item);
}

int runloop__source_join_common(runloop *loop, runloop_source *source, struct mode *mode) {
    runloop_source *stored;
    int error = lock_and_compare(loop, source, mode->name, &stored);
    if (error)
        return error;
    struct binding *binding = runloop__binding_find(source, loop);
    bool joins = stored == source && refusal(loop, source) == 0 && is_common(loop, source) &&
                 !runloop__is_member(&binding->modes, mode);
    if (joins)
        error = insert(loop, binding, mode);
    runloop__unlock(loop);
    if (stored != source)
        runloop__item_release(&stored->item);
    if (joins && !error)
        schedule(source, loop, mode);
    return error ? error : joins;
}

static int leave_common(runloop *loop, runloop_source *stored, runloop_source *named);

/// HOLDS: loop. Again for an item that is common already: it comes back into the modes that it was removed from.
static int add_to_common(runloop *loop, runloop_source *source) {
    struct binding *binding = runloop__binding_make(source, loop);
    if (!binding)
        return -ENOMEM;
    bool enters = !runloop__binding_common(binding);
    // A first mode that refuses the descriptor refuses all; room for the others is made beforehand.
    uint32_t modes = 0;
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));)
        modes++;
    if (runloop__memberships_reserve(&binding->modes, modes) ||
        (enters && (runloop__further_reserve(&binding->modes.further, 0) ||
                    runloop__common_enter(loop, &source->item, &binding->modes.further->common))))
        return -ENOMEM;
    int error = 0;
    for (struct mode *mode = NULL; !error && (mode = runloop__next_common_mode(loop, mode));) {
        runloop__unlock(loop);
        int joined = runloop__source_join_common(loop, source, mode);
        error = joined < 0 ? joined : 0;
        runloop__lock(loop);
        if (!is_common(loop, source))
            return 0;
    }
    if (error && enters) {
        runloop__unlock(loop);
        leave_common(loop, source, source);
        runloop__lock(loop);
    }
    return error;
}

int runloop_add_source(runloop *loop, runloop_source *source, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!source || !name)
        return -EINVAL;
    runloop__bindings_sweep(source);
    // Others must not release the source between the steps.
    runloop__item_retain(&source->item);
    runloop_source *stored;
    bool common = runloop__is_common_name(name);
    error = lock_and_compare(loop, source, common ? NULL : name, &stored);
    if (!error) {
        error = refusal(loop, source);
        if (!error)
            error = stored != source ? -EEXIST : common ? add_to_common(loop, source) : add_to_mode(loop, source, name);
        runloop__unlock(loop);
        if (stored != source)
            runloop__item_release(&stored->item);
    }
    runloop__item_release(&source->item);
    return error;
}

//===-- removing -----------------------------------------------------------------------------------------------------===//

/// Takes `stored` out of the mode and runs the `cancel` of `named`, the source that the caller named, which may be an equal one.
static bool leave_mode(runloop *loop, runloop_source *stored, runloop_source *named, struct mode *mode) {
    runloop__lock(loop);
    struct binding *binding = runloop__binding_find(stored, loop);
    bool leaves = binding && runloop__is_member(&binding->modes, mode);
    if (leaves)
        extract(loop, binding, mode);
    runloop__unlock(loop);
    if (leaves) {
        cancel(named, loop, mode);
        runloop__item_release(&stored->item);
    }
    return leaves;
}

/// Leaves one mode by name, where it is an equal source that leaves if the mode has that instead.
static int leave_mode_named(runloop *loop, runloop_source *named, const char *name) {
    runloop_source *stored;
    int error = lock_and_compare(loop, named, name, &stored);
    if (error)
        return error;
    struct mode *mode = runloop__find_mode(loop, name);
    runloop__unlock(loop);
    if (mode)
        leave_mode(loop, stored, named, mode);
    if (stored != named)
        runloop__item_release(&stored->item);
    return 0;
}

static int leave_common(runloop *loop, runloop_source *stored, runloop_source *named) {
    int error = 0;
    runloop__lock(loop);
    struct binding *binding = runloop__binding_find(stored, loop);
    bool was_common = binding && runloop__binding_common(binding);
    if (was_common)
        runloop__common_leave(&binding->modes.further->common);
    struct mode *mode = runloop__next_common_mode(loop, NULL);
    while (was_common && mode && binding && !runloop__binding_common(binding) && !error) {
        runloop__unlock(loop);
        error = leave_mode_named(loop, named, mode->name);
        runloop__lock(loop);
        // Found again, for the loop may have ended meanwhile.
        binding = runloop__binding_find(stored, loop);
        mode = runloop__next_common_mode(loop, mode);
    }
    runloop__unlock(loop);
    if (was_common)
        runloop__item_release(&stored->item);
    return error;
}

int runloop_remove_source(runloop *loop, runloop_source *source, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!source || !name)
        return -EINVAL;
    // Others must not release the source between the steps.
    runloop__item_retain(&source->item);
    if (runloop__is_common_name(name)) {
        runloop_source *stored;
        error = lock_and_compare(loop, source, NULL, &stored);
        if (!error) {
            runloop__unlock(loop);
            error = leave_common(loop, stored, source);
            if (stored != source)
                runloop__item_release(&stored->item);
        }
    } else {
        error = leave_mode_named(loop, source, name);
    }
    runloop__item_release(&source->item);
    return error;
}

bool runloop_contains_source(runloop *loop, runloop_source *source, const char *name) {
    runloop_source *stored;
    bool common = name && runloop__is_common_name(name);
    if (runloop__check(loop) || !source || !name || lock_and_compare(loop, source, common ? NULL : name, &stored))
        return false;
    struct binding *binding = runloop__binding_find(source, loop);
    struct mode *mode = common ? NULL : runloop__find_mode(loop, name);
    bool contains = stored != source;
    if (binding && !contains)
        contains =
            common ? runloop__binding_common(binding) != NULL : mode && runloop__is_member(&binding->modes, mode);
    runloop__unlock(loop);
    if (stored != source)
        runloop__item_release(&stored->item);
    return contains;
}

//===-- asking for other conditions (R149) ---------------------------------------------------------------------------===//

static void ask_anew(struct binding *binding, void *error) {
    runloop *loop = atomic_load(&binding->loop);
    if (runloop__is_inherited(loop))
        return;
    runloop__lock(loop);
    int descriptor = runloop__source_descriptor(runloop__source_of(binding));
    bool is_on_port = descriptor >= 0 && binding->modes.mode;
    int result = is_on_port ? runloop__port_ask_anew(loop, runloop__port_find(loop, descriptor)) : 0;
    runloop__unlock(loop);
    if (result)
        *(int *)error = result;
}

int runloop_source_set_events(runloop_source *source, runloop_readiness events) {
    if (!source || !runloop__source_is(source, ITEM_DESCRIPTOR) || runloop__source_is(source, ITEM_COUNTER) ||
        !runloop__source_may_ask_for(events) || !runloop__item_is_valid(&source->item))
        return -EINVAL;
    // Each loop that is told asks for what the source says by then, so the last word counts, whoever comes last to a loop.
    uint16_t asked = runloop__events_asked(events), former = atomic_exchange(&source->item.events, asked);
    int error = 0, ignored;
    runloop__bindings_each(source, ask_anew, &error);
    // Taken back, unless somebody else has said something since.
    if (error && atomic_compare_exchange_strong(&source->item.events, &asked, former))
        runloop__bindings_each(source, ask_anew, &ignored);
    return error;
}

//===-- invalidating (R67) -------------------------------------------------------------------------------------------===//

static void leave_loop(struct binding *binding, void *unused) {
    (void)unused;
    runloop *loop = atomic_load(&binding->loop);
    runloop_source *source = runloop__source_of(binding);
    if (runloop__is_inherited(loop))
        return;
    runloop__lock(loop);
    bool was_common = runloop__binding_common(binding) != NULL;
    if (was_common)
        runloop__common_leave(&binding->modes.further->common);
    for (struct mode *mode; (mode = binding->modes.mode);) {
        runloop__unlock(loop);
        leave_mode(loop, source, source, mode);
        runloop__lock(loop);
    }
    runloop__unlock(loop);
    if (was_common)
        runloop__item_release(&source->item);
}

void runloop_source_invalidate(runloop_source *source) {
    // The bit goes first: an addition under way looks at it after it has published its binding.
    if (!source || runloop__item_invalidate(&source->item) == INVALID_ALREADY)
        return;
    runloop__item_retain(&source->item);
    if (!runloop__source_is(source, ITEM_DESCRIPTOR))
        atomic_store(&runloop__portless(source)->signalled, 0);
    runloop__bindings_each(source, leave_loop, NULL);
    runloop__item_release(&source->item);
}
