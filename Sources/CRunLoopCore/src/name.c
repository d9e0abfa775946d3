// name.c — the process-wide table of mode names. A name is never freed, so its pointer may be handed out and compared.

#include "internal.h"

struct name {
    _Atomic(struct name *) next;
    char text[];
};

// Appended under the lock, read by anyone: a reader that misses a name just added asks again under the lock.
static _Atomic(struct name *) first_name;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

// The well-known names are compared by pointer most often: programs pass the macros, whose literals differ in every
// object file, so they are in the table like any other.
const char *runloop__interned_if_known(const char *name) {
    for (struct name *known = atomic_load_explicit(&first_name, memory_order_acquire); known;
         known = atomic_load_explicit(&known->next, memory_order_acquire)) {
        if (known->text == name || strcmp(known->text, name) == 0)
            return known->text;
    }
    return NULL;
}

const char *runloop__intern(const char *name) {
    const char *known = runloop__interned_if_known(name);
    if (known)
        return known;
    size_t size = strlen(name) + 1;
    struct name *made = malloc(sizeof *made + size);
    if (!made)
        return NULL;
    memcpy(made->text, name, size);

    pthread_mutex_lock(&names_lock);
    known = runloop__interned_if_known(name);
    if (!known) {
        known = made->text;
        atomic_init(&made->next, atomic_load_explicit(&first_name, memory_order_relaxed));
        atomic_store_explicit(&first_name, made, memory_order_release);
        made = NULL;
    }
    pthread_mutex_unlock(&names_lock);
    free(made);
    return known;
}

const char *runloop_mode_name(const char *name) {
    return name ? runloop__intern(name) : NULL;
}
