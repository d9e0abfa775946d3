// followed.c — one tracer for everything that follows a loop.

#ifdef __linux__
#include "followed.h"

#include "attendant.h"

static const char key;

void followed_release(struct followed *followed) {
    uint32_t before = atomic_fetch_sub(&followed->references, 1);
    ASSERT(before > 0, "A followed loop was released more often than retained.");
    if (before != 1)
        return;
    for (int role = 0; role < ROLES; role++) {
        struct follower *follower = atomic_load(&followed->followers[role]);
        if (follower && follower->free)
            follower->free(follower);
        free(follower);
    }
    activity_release(followed->activity);
    while (followed->links) {
        struct link *older = followed->links->older;
        free(followed->links);
        followed->links = older;
    }
    free(followed);
}

/// The loop ends, on its thread.
static void end(void *object) {
    attendant_unlist(object);
    followed_release(object);
}

static void *retain(void *object) {
    atomic_fetch_add(&((struct followed *)object)->references, 1);
    return object;
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
    // Why there is no loop, the refused tracer says.
    if (!loop) {
        *error = runloop_set_tracer(NULL);
        return NULL;
    }
    *error = -ENOMEM;
    struct activity *activity = activity_make(loop);
    if (!activity || !(followed = calloc(1, sizeof *followed)))
        goto failed;
    atomic_init(&followed->references, 1);
    followed->loop = loop;
    followed->activity = activity;
    attendant_list(followed);
    if (!(*error = runloop_set_associated(loop, &key, followed, retain, end)))
        return followed;
    attendant_unlist(followed);
failed:
    free(followed);
    free(activity);
    return NULL;
}

static bool is_followed(const struct followed *followed) {
    return atomic_load_explicit(&followed->activity->is_known, memory_order_relaxed);
}

static void notify_followers(struct followed *followed, runloop_trace_point point, const void *object, int64_t value) {
    struct moment moment = {.point = point, .object = object, .value = value, .now_ns = runloop_get_now_ns(NULL)};
    activity_follow(followed->activity, &moment);
    for (int role = 0; role < ROLES; role++) {
        struct follower *follower = atomic_load_explicit(&followed->followers[role], memory_order_relaxed);
        if (follower && follower->is_active)
            follower->trace(follower, &moment);
    }
}

/// The followers are notified once, however many links of theirs the chain has.
static void pass_on(void *context, runloop_trace_point point, const void *object, int64_t value) {
    struct link *link = context;
    struct followed *followed = link->followed;
    bool is_first = !followed->is_notified;
    followed->is_notified = true;
    if (link->before.trace)
        link->before.trace(link->before.context, point, object, value);
    if (!is_first)
        return;
    if (is_followed(followed) && point <= RUNLOOP_TRACE_MAIN_QUEUE) // not of points that are newer than this library
        notify_followers(followed, point, object, value);
    followed->is_notified = false;
}

static bool traces_first(const struct followed *followed) {
    return followed->is_traced && runloop_get_tracer().context == followed->links;
}

/// A tracer that was set since the last time may pass no call on, and it can't be asked; so a link is put before it.
static int trace_first(struct followed *followed) {
    if (traces_first(followed))
        return 0;
    // One that may be in the chain stays where it is.
    struct link *link = followed->is_traced ? NULL : followed->links;
    if (!link) {
        if (!(link = calloc(1, sizeof *link)))
            return -ENOMEM;
        link->followed = followed;
        link->older = followed->links;
        followed->links = link;
    }
    link->before = runloop_get_tracer();
    runloop_tracer tracer = {.trace = pass_on, .context = link};
    int error = runloop_set_tracer(&tracer);
    followed->is_traced |= !error;
    return error;
}

static int follow(struct followed *followed) {
    int error = trace_first(followed);
    if (!error)
        activity_set_known(followed->activity, true);
    return error;
}

int followed_start_reports(void) {
    int error = 0;
    struct followed *followed = make_current(&error);
    if (followed && !(error = follow(followed)))
        followed->is_reported = true;
    return error;
}

int followed_start(enum role role, size_t size, void (*prepare)(struct follower *), struct follower **out) {
    int error = 0;
    struct followed *followed = make_current(&error);
    if (!followed)
        return error;
    struct follower *follower = atomic_load_explicit(&followed->followers[role], memory_order_relaxed);
    if (!follower) {
        if (!(follower = calloc(1, size)))
            return -ENOMEM;
        follower->activity = followed->activity;
        prepare(follower);
        atomic_store_explicit(&followed->followers[role], follower, memory_order_release);
    }
    if ((error = follow(followed)))
        return error;
    *out = follower;
    return 0;
}

struct follower *followed_stop(enum role role) {
    struct followed *followed = runloop_current_associated(&key);
    struct follower *stopped = followed ? atomic_load(&followed->followers[role]) : NULL;
    if (!stopped)
        return NULL;
    stopped->is_active = false;
    bool any = followed->is_reported;
    for (int other = 0; other < ROLES; other++) {
        struct follower *follower = atomic_load(&followed->followers[other]);
        any |= follower && follower->is_active;
    }
    if (!any)
        activity_set_known(followed->activity, false);
    // A tracer that somebody has set since then, and that passes calls on, stays; one that put an older link of ours back has done so.
    struct link *first = any ? NULL : followed->links;
    while (first && first != runloop_get_tracer().context)
        first = first->older;
    if (first) {
        runloop_set_tracer(first->before.trace ? &first->before : NULL);
        followed->is_traced = false;
    }
    return stopped;
}
#endif // __linux__
