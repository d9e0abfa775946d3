// loop.c — a loop's life: made, referenced, torn down with its thread, freed.
//
// Two counts. References (clients, the thread, a call on its way from another thread) keep the loop usable and its descriptors
// open, so that nobody ever writes to a number that means something else by now. Holds (the references together, and
// each source's binding) keep only the memory, so that a signal handler may still touch a loop that has gone.

#include <sched.h>

#include "wake.h"

//===-- making and freeing -------------------------------------------------------------------------------------------===//

int runloop__create(bool is_main, runloop **out) {
    *out = NULL;
    runloop *loop = aligned_alloc(_Alignof(runloop), sizeof *loop);
    if (!loop)
        return -ENOMEM;
    memset(loop, 0, sizeof *loop);
    int error = runloop__portset_open(loop);
    if (error) {
        free(loop);
        return error;
    }
    atomic_init(&loop->references, 1);
    atomic_init(&loop->holds, 1);
    loop->fork_generation = atomic_load(&runloop__fork_generation);
    loop->is_main = is_main;
    loop->may_have_main_queue = is_main && runloop__main_queue_exists();
    loop->last_mode = &loop->modes;
    runloop__lock_init(&loop->lock);
    list_init(&loop->common_items);
    list_init(&loop->bindings);
    list_init(&loop->pending);
    list_init(&loop->posts);
    loop->ports = loop->first_ports;
    loop->ports_used = loop->port_capacity = PORTS_OF_NO_DESCRIPTOR;
    loop->main_queue_descriptor = -1;

    // Every loop has the default mode, and it is common (R4).
    struct mode *mode = runloop__make_mode(loop, RUNLOOP_DEFAULT_MODE);
    if (!mode) {
        runloop_release(loop);
        return -ENOMEM;
    }
    atomic_store(&mode->is_common, true);
    *out = loop;
    return 0;
}

void runloop__hold(runloop *loop) {
    atomic_fetch_add_explicit(&loop->holds, 1, memory_order_relaxed);
}

void runloop__unhold(runloop *loop) {
    if (atomic_fetch_sub_explicit(&loop->holds, 1, memory_order_acq_rel) != 1)
        return;
    for (struct mode *mode = atomic_load(&loop->modes), *next; mode; mode = next) {
        next = atomic_load(&mode->next);
        runloop__observers_free(mode);
        runloop__timers_free(mode);
        free(mode);
    }
    runloop__associated_free(loop);
    free(loop);
}

runloop *runloop_retain(runloop *loop) {
    if (loop)
        atomic_fetch_add_explicit(&loop->references, 1, memory_order_relaxed);
    return loop;
}

void runloop_release(runloop *loop) {
    // In a forked child nothing of an inherited loop is touched; its memory stays.
    if (!loop || runloop__is_inherited(loop))
        return;
    if (atomic_fetch_sub_explicit(&loop->references, 1, memory_order_acq_rel) != 1)
        return;
    runloop__perform_close(loop);
    runloop__observers_collect(loop);
    runloop__ports_free(loop);
    runloop__portset_close(loop);
    free(loop->collected);
    free(loop->firing);
    free(loop->guests);
    runloop__unhold(loop);
}

//===-- its lock -----------------------------------------------------------------------------------------------------===//

// An inherited lock may be held by a thread that does not exist in the child, where nobody else can want it.
void runloop__lock_foreign(runloop *loop) {
    if (!runloop__is_inherited(loop))
        lock_take_foreign(&loop->lock);
}

void runloop__unlock_foreign(runloop *loop) {
    if (!runloop__is_inherited(loop))
        lock_give_foreign(&loop->lock);
}

//===-- the owner of a timer or observer -----------------------------------------------------------------------------===//

// An item in no loop is guarded by its owner word, which says BUSY for the few instructions of a change.
#define BUSY ((runloop *)(uintptr_t)1)

/// A referenced owner, or NULL if the item is in no loop. The registry's lock is what teardown passes through between clearing its
/// items' owner words and giving up the thread's reference: whoever read the word before that holds a reference by then.
static runloop *reference_owner(owner_word *owner) {
    runloop__registry_lock();
    runloop *loop = atomic_load(owner);
    if (loop == BUSY)
        loop = NULL;
    else
        runloop_retain(loop);
    runloop__registry_unlock();
    return loop;
}

runloop *runloop__lock_foreign_owner(owner_word *owner) {
    for (;;) {
        runloop *loop = atomic_load(owner), *expected = NULL;
        if (!loop) {
            if (atomic_compare_exchange_weak(owner, &expected, BUSY))
                return NULL;
        } else if (loop == BUSY) {
            sched_yield();
        } else if (loop == runloop__thread_loop() || runloop__is_inherited(loop)) {
            // Its own thread keeps it alive; and an inherited one is never freed.
            runloop__lock(loop);
            if (atomic_load(owner) == loop)
                return loop;
            runloop__unlock(loop);
        } else if ((loop = reference_owner(owner))) {
            runloop__lock(loop);
            if (atomic_load(owner) == loop)
                return loop;
            runloop__unlock(loop);
            runloop_release(loop);
        }
    }
}

void runloop__unlock_foreign_owner(owner_word *owner, runloop *loop) {
    if (!loop) {
        atomic_store_explicit(owner, NULL, memory_order_release);
        return;
    }
    runloop__unlock(loop);
    if (loop != runloop__thread_loop())
        runloop_release(loop);
}

int runloop__contend_for_ownership(owner_word *owner, runloop *loop) {
    for (;;) {
        runloop *expected = NULL;
        if (atomic_compare_exchange_weak(owner, &expected, loop) || expected == loop)
            return 0;
        if (expected == BUSY)
            sched_yield();
        else if (expected)
            return -EBUSY;
    }
}

//===-- teardown, on the ending thread (R8) --------------------------------------------------------------------------===//

/// Sources leave every mode, and their `cancel` runs once for each mode they were in.
static void remove_sources(runloop *loop) {
    for (uint32_t ports = 0;;) {
        runloop__lock(loop);
        struct binding *binding = runloop__binding_next(loop, NULL, &ports);
        if (!binding) {
            runloop__unlock(loop);
            return;
        }
        runloop_source *source = runloop__source_of(binding);
        const char *mode = binding->modes.mode->name;
        runloop__item_retain(&source->item);
        runloop__unlock(loop);
        runloop_remove_source(loop, source, mode);
        runloop__item_release(&source->item);
    }
}

static void detach_timers(runloop *loop, struct mode *mode) {
    for (;;) {
        runloop__lock(loop);
        runloop_timer *timer = mode->timers.count ? runloop__heap_timer(mode->timers.entries[0]) : NULL;
        if (timer) {
            runloop__timer_extract(loop, timer, mode);
            runloop__timer_leave_owner(timer);
        }
        runloop__unlock(loop);
        if (!timer)
            return;
        // It can't join another loop, so it is over.
        if (timer->item.is_closure)
            runloop_timer_invalidate(timer);
        runloop__item_release(&timer->item);
    }
}

/// Those whose call-outs run, in other loops: no heap has them.
static void detach_guests(runloop *loop) {
    for (;;) {
        runloop__lock(loop);
        runloop_timer *timer = loop->guest_count ? loop->guests[loop->guest_count - 1] : NULL;
        if (timer) {
            runloop__timer_extract(loop, timer, timer->mode);
            runloop__timer_leave_owner(timer);
        }
        runloop__unlock(loop);
        if (!timer)
            return;
        runloop__item_release(&timer->item);
    }
}

static void detach_observers(runloop *loop, struct mode *mode) {
    for (;;) {
        runloop__lock(loop);
        struct observer_array *array = atomic_load(&mode->observers);
        runloop_observer *observer = NULL;
        bool releases_context = false;
        for (uint32_t i = 0; array && !observer && i < array->count; i++)
            observer = runloop__observer_at(array, i);
        if (observer) {
            runloop__observer_extract(loop, observer, mode);
            // If the thread ended inside this observer's call-out, the call-out is over.
            releases_context = runloop__item_clear_firing(&observer->item);
            runloop__observer_leave_owner(observer);
        }
        runloop__unlock(loop);
        if (!observer)
            return;
        if (releases_context)
            runloop__item_release_context(&observer->item);
        runloop__item_release(&observer->item);
    }
}

/// If the thread ended inside call-outs, they are over: their timers are no longer firing, what they had collected goes.
static void abandon_callouts(runloop *loop) {
    atomic_store(&loop->observing, 0);
    loop->run = NULL;
    atomic_store(&loop->current_mode, NULL);
    wake_leave(loop, 0, false);
    while (loop->firing_count > 0) {
        runloop__lock(loop);
        runloop_timer *timer = loop->firing[--loop->firing_count];
        runloop__unlock(loop);
        runloop *owner = runloop__lock_owner(&timer->owner);
        struct timer_remains remains = {.context = runloop__timer_end_firing(owner, timer)};
        runloop__unlock_owner(&timer->owner, owner);
        runloop__timer_release_remains(timer, remains);
    }
    for (uint32_t i = 0; i < loop->collected_count; i++)
        runloop__collected_drop(loop, i);
    loop->collected_count = 0;
}

void runloop__finish(runloop *loop) {
    abandon_callouts(loop);
    atomic_store(&loop->is_finished, true);
    remove_sources(loop);
    runloop__common_clear(loop);
    // Before the others: a guest whose call-out ends meanwhile becomes one of them.
    detach_guests(loop);
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next)) {
        detach_observers(loop, mode);
        detach_timers(loop, mode);
    }
    runloop__perform_close(loop);
    runloop__source_forget_all_signals(loop);
    runloop__observers_collect(loop);
    atomic_store(&loop->is_torn_down, true);
    // See `reference_owner`.
    runloop__registry_lock();
    runloop__registry_unlock();
    runloop__associated_end(loop);
}

//===-- modes of the loop --------------------------------------------------------------------------------------------===//

const char *runloop_current_mode(runloop *loop) {
    return runloop__check(loop) ? NULL : atomic_load(&loop->current_mode);
}

uint64_t runloop_wakeups_saved(runloop *loop) {
    return runloop__check(loop) ? 0 : atomic_load(&loop->wakeups_saved);
}
