// mode.c — modes: found or made by name, never freed while the loop lives, so that their pointers may be kept without a lock.
//
// Besides the list, they form a tree by the addresses of their names (base.h), with the first mode as its root. A mode is published by the
// store of a pointer to it, under the lock, into the tree and then into the list.

#ifdef __linux__
#include "model/heap.h"

static struct mode *next_mode(struct mode *mode) {
    return atomic_load_explicit(&mode->next, memory_order_acquire);
}

struct mode *runloop__mode_find_other(runloop *loop, const char *name) {
    struct mode *first = atomic_load_explicit(&loop->modes, memory_order_acquire);
    // The default mode is the first, and is often named by a literal.
    if (first && first->name[0] == name[0] && strcmp(first->name, name) == 0)
        return first;
    if (is_common_name(name))
        return NULL;
    struct mode *mode = atomic_load_explicit(mode_place(loop, name), memory_order_acquire);
    if (mode)
        return mode;
    // It may be text. A name that nobody has interned is no mode's.
    const char *interned = runloop__name_find(name);
    return interned ? atomic_load_explicit(mode_place(loop, interned), memory_order_acquire) : NULL;
}

struct mode *runloop__mode_new(const char *name) {
    const char *interned = runloop_mode_name(name);
    struct mode *mode = interned ? calloc(1, sizeof *mode) : NULL;
    if (mode)
        mode->name = interned;
    return mode;
}

UNCHECKED void runloop__mode_free(struct mode *mode) {
    heap_free(&mode->timers);
    heap_free(&mode->signalled);
    free(mode->observers);
    free(mode);
}

size_t runloop_get_modes(runloop *loop, const char **names, size_t capacity) {
    if (loop_check(loop) || (!names && capacity))
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
    if (loop_check(loop) || !name)
        return false;
    struct mode *mode = mode_find(loop, name);
    return mode && atomic_load(&mode->is_common);
}
#endif // __linux__
