// lookout.c — a timer in each loop that the object is in, in the same modes, and if wanted an observer. An item of these kinds is in one loop
// at a time, and neither ends a run that waits for sources.

#ifdef __linux__
#include "base/lookout.h"

#include <stdlib.h>

/// No date: each call sets that of the next.
#define LONG_INTERVAL_NS (INT64_C(1) << 60)

/// One loop that the object is in.
struct post {
    struct post *next;
    runloop *loop;
    /// How many of its modes.
    unsigned modes;
    /// NULL without memory; the timer also where the time is the program's.
    runloop_timer *timer;
    runloop_observer *observer;
};

/// The info of a timer.
struct watchman {
    const struct lookout_kind *kind;
    void *info;
    int64_t pause_ns;
};

static void look(runloop_timer *timer, void *context) {
    struct watchman *watchman = context;
    watchman->pause_ns = watchman->kind->look(watchman->info, watchman->pause_ns);
    if (watchman->pause_ns == 0) {
        runloop_timer_invalidate(timer);
        return;
    }
    runloop_timer_set_tolerance(timer, watchman->pause_ns / 4);
    runloop_timer_set_fire_date(timer, runloop_now_ns() + watchman->pause_ns);
}

static void free_watchman(void *context) {
    struct watchman *watchman = context;
    if (watchman->kind->release)
        watchman->kind->release(watchman->info);
    free(watchman);
}

/// A loop whose clock is the program's would take the date for one of the program's.
static bool has_time_of_machine(runloop *loop) {
    int64_t before_ns = runloop_get_now_ns(NULL), instant_ns = runloop_get_now_ns(loop);
    return before_ns <= instant_ns && instant_ns <= runloop_get_now_ns(NULL);
}

static runloop_timer *make_timer(const struct lookout_kind *kind, void *info, runloop *loop) {
    runloop_timer *timer = NULL;
    struct watchman *watchman = has_time_of_machine(loop) ? malloc(sizeof *watchman) : NULL;
    if (!watchman)
        return NULL;
    *watchman = (struct watchman){kind, kind->retain ? kind->retain(info) : info, kind->first_pause_ns};
    // The tolerance is for the timers of several objects, and of the program, to share their wake-ups.
    const runloop_timer_config config = {.context = {.info = watchman, .release = free_watchman},
                                         .fire_ns = runloop_get_now_ns(loop) + kind->first_pause_ns,
                                         .interval_ns = LONG_INTERVAL_NS,
                                         .tolerance_ns = kind->first_pause_ns / 4,
                                         .fire = look};
    if (runloop_timer_create(&config, &timer) == 0)
        return timer;
    free_watchman(watchman);
    return NULL;
}

static runloop_observer *make_observer(const struct lookout_kind *kind) {
    const runloop_observer_config config = {
        .order = INT32_MAX, .activities = RUNLOOP_ACTIVITY_BEFORE_WAITING, .repeats = true, .observe = kind->observe};
    runloop_observer *observer = NULL;
    return kind->observe && runloop_observer_create(&config, &observer) == 0 ? observer : NULL;
}

static struct post *make_post(const struct lookout_kind *kind, void *info, runloop *loop) {
    struct post *post = malloc(sizeof *post);
    if (post)
        *post = (struct post){.loop = loop, .timer = make_timer(kind, info, loop), .observer = make_observer(kind)};
    return post;
}

static void end_post(struct post *post) {
    runloop_timer_invalidate(post->timer);
    runloop_timer_release(post->timer);
    runloop_observer_invalidate(post->observer);
    runloop_observer_release(post->observer);
    free(post);
}

/// Where the post of a loop is, or would be.
HOLDS_LOCK static struct post **place_of(struct lookout *lookout, const runloop *loop) {
    ASSERT_HOLDS(&lookout->lock.lock);
    struct post **place = &lookout->posts;
    while (*place && (*place)->loop != loop)
        place = &(*place)->next;
    return place;
}

void runloop__lookout_enter(struct lookout *lookout, const struct lookout_kind *kind, void *info, runloop *loop,
                            const char *mode) {
    steady_take(&lookout->lock);
    struct post **place = place_of(lookout, loop), *post = *place;
    if (!post)
        post = *place = make_post(kind, info, loop);
    if (post) {
        post->modes++;
        runloop_add_timer(loop, post->timer, mode);
        runloop_add_observer(loop, post->observer, mode);
    }
    steady_give(&lookout->lock);
}

void runloop__lookout_leave(struct lookout *lookout, runloop *loop, const char *mode) {
    steady_take(&lookout->lock);
    struct post **place = place_of(lookout, loop), *post = *place;
    if (post && --post->modes > 0) {
        runloop_remove_timer(loop, post->timer, mode);
        runloop_remove_observer(loop, post->observer, mode);
    } else if (post) {
        *place = post->next;
        end_post(post);
    }
    steady_give(&lookout->lock);
}

void runloop__lookout_end(struct lookout *lookout) {
    steady_take(&lookout->lock);
    for (struct post *post = lookout->posts, *next; post; post = next) {
        next = post->next;
        end_post(post);
    }
    lookout->posts = NULL;
    steady_give(&lookout->lock);
}
#endif // __linux__
