// name.c — the process-wide table of mode names. A name is never freed, so its pointer may be handed out and compared.

#include "base/base.h"

struct name {
    _Atomic(struct name *) next;
    const char *text;
};

// Two names always exist, so that nobody needs to look them up.
const char runloop__default_mode[] = RUNLOOP_DEFAULT_MODE;
const char runloop__common_modes[] = RUNLOOP_COMMON_MODES;
static struct name common_modes = {NULL, runloop__common_modes};
static struct name default_mode = {&common_modes, runloop__default_mode};

// Pushed under the lock, read by any thread: a reader that misses a new name asks again under the lock. The list is consistent at
// every instant, also for a forked child.
static _Atomic(struct name *) first_name = &default_mode;
static struct process_lock names_lock;

static const char *find(const char *name) {
    for (struct name *known = atomic_load_explicit(&first_name, memory_order_acquire); known;
         known = atomic_load_explicit(&known->next, memory_order_acquire)) {
        if (known->text == name || strcmp(known->text, name) == 0)
            return known->text;
    }
    return NULL;
}

const char *runloop_mode_name(const char *name) {
    const char *known = name ? find(name) : NULL;
    if (known || !name)
        return known;
    size_t size = strlen(name) + 1;
    struct name *added = malloc(sizeof *added + size);
    if (!added)
        return NULL;
    added->text = memcpy(added + 1, name, size);

    runloop__process_lock(&names_lock);
    known = find(name);
    if (!known) {
        known = added->text;
        atomic_init(&added->next, atomic_load_explicit(&first_name, memory_order_relaxed));
        atomic_store_explicit(&first_name, added, memory_order_release);
        added = NULL;
    }
    process_unlock(&names_lock);
    free(added);
    return known;
}
