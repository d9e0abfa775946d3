// name.c — the process-wide table of mode names. A name is never freed, so its pointer may be handed out and compared.
//
// The table is a tree, in which each name stands below those that came before it: two bits of its hash after the other lead down to it. A
// name is published by the store of one pointer, under the lock, and nothing of it changes afterwards but what is below. So any thread
// reads without the lock: a reader that misses a new name asks again under it. The tree is consistent at every instant, also for a forked
// child.

#ifdef __linux__
#include "base/base.h"

struct name {
    _Atomic(struct name *) below[BRANCHES];
    char text[];
};

// Two names always exist, so that nobody needs to look them up.
const char runloop__default_mode[] = RUNLOOP_DEFAULT_MODE;
const char runloop__common_modes[] = RUNLOOP_COMMON_MODES;

static _Atomic(struct name *) all;
static struct process_lock names_lock;

static uint64_t hash_of(const char *text) {
    uint64_t hash = 0;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * HASH_FACTOR;
    return hash;
}

/// The name's place, which holds NULL if there is no such name.
static _Atomic(struct name *) *place_of(const char *name) {
    uint64_t hash = hash_of(name);
    _Atomic(struct name *) *place = &all;
    for (struct name *known; (known = atomic_load_explicit(place, memory_order_acquire)); hash = branch_next(hash)) {
        if (strcmp(known->text, name) == 0)
            break;
        place = &known->below[branch_of(hash)];
    }
    return place;
}

const char *runloop__name_find(const char *name) {
    if (strcmp(name, runloop__default_mode) == 0)
        return runloop__default_mode;
    if (is_common_name(name))
        return runloop__common_modes;
    const struct name *known = atomic_load_explicit(place_of(name), memory_order_acquire);
    return known ? known->text : NULL;
}

const char *runloop_mode_name(const char *name) {
    const char *text = name ? runloop__name_find(name) : NULL;
    if (text || !name)
        return text;
    size_t size = strlen(name) + 1;
    struct name *added = calloc(1, sizeof *added + size);
    if (!added)
        return NULL;
    memcpy(added->text, name, size);

    process_lock(&names_lock);
    _Atomic(struct name *) *place = place_of(name);
    struct name *known = atomic_load_explicit(place, memory_order_relaxed);
    if (!known)
        atomic_store_explicit(place, added, memory_order_release);
    process_unlock(&names_lock);
    if (known)
        free(added);
    return known ? known->text : added->text;
}
#endif // __linux__
