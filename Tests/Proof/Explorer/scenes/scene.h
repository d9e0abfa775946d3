// scene.h — what scenes have in common. Each thread of a scene with a loop makes it first: `loop` is the one of the thread that runs.
#ifndef RUNLOOP_SCENE_H
#define RUNLOOP_SCENE_H

#include <stdatomic.h>

#include "explorer.h"
#include "runloop.h"

#define MODE RUNLOOP_DEFAULT_MODE
#define RELAXED memory_order_relaxed

typedef void perform_function(runloop_source *source, void *info);

static inline runloop_source *source_with(perform_function *perform, void *info) {
    runloop_source *source = NULL;
    EXPECT(runloop_source_create(&(runloop_source_config){.context.info = info, .perform = perform}, &source) == 0);
    return source;
}

/// This thread's loop, with a source in its mode, kept for all threads until the end of the scene.
static inline runloop *loop_with(runloop_source *source) {
    runloop *loop = runloop_retain(runloop_current());
    EXPECT(runloop_add_source(loop, source, MODE) == 0);
    return loop;
}

static inline int run_for_ever(void) {
    return runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
}

/// The same, and how the thread ends is not of interest.
static inline int run_and_part(void) {
    int result = run_for_ever();
    part();
    return result;
}

static inline runloop_observer *observer_with(runloop_activity activities,
                                              void (*observe)(runloop_observer *, runloop_activity, void *)) {
    runloop_observer *observer = NULL;
    runloop_observer_config config = {.activities = activities, .repeats = true, .observe = observe};
    EXPECT(runloop_observer_create(&config, &observer) == 0);
    return observer;
}

static inline runloop_timer *timer_with(int64_t fire_ns, void (*fire)(runloop_timer *, void *)) {
    runloop_timer *timer = NULL;
    EXPECT(runloop_timer_create(&(runloop_timer_config){.fire_ns = fire_ns, .fire = fire}, &timer) == 0);
    return timer;
}

#endif // RUNLOOP_SCENE_H
