// mode.c — modes: found or made by name, never freed while the loop lives, so that their pointers may be kept without a lock.

#include "internal.h"

bool runloop__is_common_name(const char *name) {
    return strcmp(name, RUNLOOP_COMMON_MODES) == 0;
}

static struct mode *next_mode(struct mode *mode) {
    return atomic_load_explicit(&mode->next, memory_order_acquire);
}

struct mode *runloop__find_other_mode(runloop *loop, const char *name) {
    struct mode *first = atomic_load_explicit(&loop->modes, memory_order_acquire);
    // An interned name is told by its address. Text is compared only if no mode is that.
    for (struct mode *mode = first; mode; mode = next_mode(mode)) {
        if (mode->name == name)
            return mode;
    }
    for (struct mode *mode = first; mode; mode = next_mode(mode)) {
        // The first letter rules most of them out without a call.
        if (mode->name[0] == name[0] && strcmp(mode->name, name) == 0)
            return mode;
    }
    return NULL;
}

struct mode *runloop__new_mode(const char *name) {
    const char *interned = runloop__intern(name);
    struct mode *mode = interned ? calloc(1, sizeof *mode) : NULL;
    if (mode)
        mode->name = interned;
    return mode;
}

void runloop__adopt_mode(runloop *loop, struct mode *mode) {
    atomic_store_explicit(loop->last_mode, mode, memory_order_release);
    loop->last_mode = &mode->next;
}

struct mode *runloop__make_mode(runloop *loop, const char *name) {
    struct mode *mode = runloop__find_mode(loop, name);
    if (!mode && (mode = runloop__new_mode(name)))
        runloop__adopt_mode(loop, mode);
    return mode;
}

bool runloop__mode_without_items_is_empty(runloop *loop, struct mode *mode) {
    if (loop->may_have_main_queue && atomic_load(&mode->is_common) && runloop__main_queue_is_available(loop))
        return false;
    return !runloop__perform_any_pending(loop, mode);
}

bool runloop_mode_is_empty(runloop *loop, const char *name) {
    struct mode *mode = runloop__check(loop) || !name ? NULL : runloop__find_mode(loop, name);
    if (!mode)
        return true;
    if (runloop_is_current(loop))
        return runloop__mode_is_empty(loop, mode);
    // The queue of performed functions is for its own thread to look at.
    return !runloop__mode_has_items(mode);
}

size_t runloop_get_modes(runloop *loop, const char **names, size_t capacity) {
    if (runloop__check(loop) || (!names && capacity))
        return 0;
    size_t count = 0;
    for (struct mode *mode = atomic_load_explicit(&loop->modes, memory_order_acquire); mode; mode = next_mode(mode)) {
        if (count < capacity)
            names[count] = mode->name;
        count++;
    }
    return count;
}

bool runloop_mode_is_common(runloop *loop, const char *name) {
    if (runloop__check(loop) || !name)
        return false;
    struct mode *mode = runloop__find_mode(loop, name);
    return mode && atomic_load(&mode->is_common);
}

int64_t runloop_next_fire_date(runloop *loop, const char *name) {
    struct mode *mode = runloop__check(loop) || !name ? NULL : runloop__find_mode(loop, name);
    if (!mode)
        return RUNLOOP_NEVER;
    runloop__lock(loop);
    int64_t earliest_ns = mode->timers.count ? mode->timers.entries[0].key : RUNLOOP_NEVER;
    // Firing timers stand outside the heap but still have their date (R81, R90).
    for (uint32_t i = 0; i < loop->firing_count; i++) {
        runloop_timer *timer = loop->firing[i];
        int64_t due_ns = atomic_load(&timer->due_ns);
        if (atomic_load(&timer->owner) == loop && due_ns < earliest_ns && runloop__timer_position(timer, mode))
            earliest_ns = due_ns;
    }
    runloop__unlock(loop);
    return earliest_ns;
}
