// name.c — the process-wide table of mode names. A name is never freed, so its pointer may be handed out and compared.

#include "internal.h"

struct name {
    _Atomic(struct name *) next;
    const char *text;
};

// Two are always there, so that nobody need look them up.
const char runloop__default_mode[] = RUNLOOP_DEFAULT_MODE;
const char runloop__common_modes[] = RUNLOOP_COMMON_MODES;
static struct name common_modes = {NULL, runloop__common_modes};
static struct name default_mode = {&common_modes, runloop__default_mode};

// Appended under the lock, read by anyone: a reader that misses a name just added asks again under the lock.
static _Atomic(struct name *) first_name = &default_mode;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *find(const char *name) {
    for (struct name *known = atomic_load_explicit(&first_name, memory_order_acquire); known;
         known = atomic_load_explicit(&known->next, memory_order_acquire)) {
        if (known->text == name || strcmp(known->text, name) == 0)
            return known->text;
    }
    return NULL;
}

const char *runloop__intern(const char *name) {
    const char *known = find(name);
    if (known)
        return known;
    size_t size = strlen(name) + 1;
    struct name *made = malloc(sizeof *made + size);
    if (!made)
        return NULL;
    made->text = memcpy(made + 1, name, size);

    pthread_mutex_lock(&names_lock);
    known = find(name);
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

void runloop__names_after_fork(void) {
    // Another thread may have held it; the table itself is consistent at any instant.
    pthread_mutex_init(&names_lock, NULL);
}

const char *runloop_mode_name(const char *name) {
    return name ? runloop__intern(name) : NULL;
}
