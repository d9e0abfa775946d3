// followed.c — one tracer for all who follow a loop.

#include "followed.h"

#include "attendant.h"

static const char key;

static void release(void *object) {
    struct followed *followed = object;
    if (atomic_fetch_sub(&followed->references, 1) != 1)
        return;
    for (int role = 0; role < ROLES; role++) {
        struct follower *follower = atomic_load(&followed->followers[role]);
        if (follower && follower->free)
            follower->free(follower);
        free(follower);
    }
    free(followed);
}

/// The loop ends, on its thread.
static void end(void *object) {
    attendant_unlist(object);
    release(object);
}

static void *retain(void *object) {
    atomic_fetch_add(&((struct followed *)object)->references, 1);
    return object;
}

void followed_release(struct followed *followed) {
    release(followed);
}

struct followed *followed_copy(runloop *loop) {
    return runloop_copy_associated(loop, &key);
}

/// The calling thread's; made if there is none. NULL, and the reason in `*error`.
static struct followed *make_current(int *error) {
    struct followed *followed = runloop_current_associated(&key);
    if (followed)
        return followed;
    runloop *loop = runloop_current();
    if (!loop || !(followed = calloc(1, sizeof *followed))) {
        // Why there is no loop, the refused tracer says.
        *error = loop ? -ENOMEM : runloop_set_tracer(NULL);
        return NULL;
    }
    atomic_init(&followed->references, 1);
    followed->loop = loop;
    *error = attendant_list(followed);
    if (!*error && (*error = runloop_set_associated(loop, &key, followed, retain, end)))
        attendant_unlist(followed);
    if (*error) {
        free(followed);
        return NULL;
    }
    return followed;
}

int followed_list_current(void) {
    int error = 0;
    make_current(&error);
    return error;
}

static void tell_followers(void *context, runloop_trace_point point, const void *object, int64_t value) {
    struct followed *followed = context;
    if (followed->before.trace)
        followed->before.trace(followed->before.context, point, object, value);
    int64_t now_ns = runloop_get_now_ns(NULL);
    for (int role = 0; role < ROLES; role++) {
        struct follower *follower = atomic_load_explicit(&followed->followers[role], memory_order_relaxed);
        if (follower && follower->is_active)
            follower->trace(follower, point, object, value, now_ns);
    }
}

int followed_start(enum role role, size_t size, struct follower **out) {
    int error = 0;
    struct followed *followed = make_current(&error);
    if (!followed)
        return error;
    struct follower *follower = atomic_load_explicit(&followed->followers[role], memory_order_relaxed);
    if (!follower) {
        if (!(follower = calloc(1, size)))
            return -ENOMEM;
        atomic_store_explicit(&followed->followers[role], follower, memory_order_release);
    }
    if (!followed->is_traced) {
        runloop_tracer tracer = {.trace = tell_followers, .context = followed};
        followed->before = runloop_get_tracer();
        if ((error = runloop_set_tracer(&tracer)))
            return error;
        followed->is_traced = true;
    }
    *out = follower;
    return 0;
}

struct follower *followed_stop(enum role role) {
    struct followed *followed = runloop_current_associated(&key);
    struct follower *stopped = followed ? atomic_load(&followed->followers[role]) : NULL;
    if (!stopped)
        return NULL;
    stopped->is_active = false;
    bool any = false;
    for (int other = 0; other < ROLES; other++) {
        struct follower *follower = atomic_load(&followed->followers[other]);
        any |= follower && follower->is_active;
    }
    // A tracer that somebody has set since then, and that passes on what it is told, stays.
    if (!any && followed->is_traced && runloop_get_tracer().context == followed) {
        runloop_set_tracer(followed->before.trace ? &followed->before : NULL);
        followed->is_traced = false;
    }
    return stopped;
}
