// activity.c — a loop's trace as a state.

#ifdef __linux__
#include "activity.h"

#include <stdlib.h>
#include <unistd.h>

struct activity *activity_make(runloop *loop) {
    struct activity *activity = calloc(1, sizeof *activity);
    if (!activity)
        return NULL;
    atomic_init(&activity->references, 1);
    activity->loop = loop;
    activity->thread = gettid();
    return activity;
}

void activity_retain(struct activity *activity) {
    atomic_fetch_add(&activity->references, 1);
}

void activity_release(struct activity *activity) {
    if (atomic_fetch_sub(&activity->references, 1) == 1)
        free(activity);
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

/// A reader that finds the loop awake reads after that since when.
static void set_awake(struct activity *activity, int64_t since_ns) {
    counted_set(&activity->awake_since_ns, since_ns);
    counted_set(&activity->awake_iterations, 0);
    atomic_store_explicit(&activity->asleep_since_ns, 0, memory_order_release);
}

/// Call-outs that were left by the end of the thread end here.
static void end_outermost_run(struct activity *activity) {
    set_awake(activity, 0);
    atomic_store(&activity->depth, 0);
    activity->run_depth = 0;
}

/// Asked for at each run: libdispatch may have been loaded meanwhile, or have closed it.
static void find_queue(struct activity *activity) {
    bool is_main = activity->loop == runloop_main() && activity->thread == getpid();
    atomic_store(&activity->queue, is_main ? runloop_main_queue_descriptor() : -1);
}

void activity_set_known(struct activity *activity, bool is_known) {
    find_queue(activity);
    atomic_store(&activity->is_known, is_known);
    if (!is_known)
        end_outermost_run(activity);
}

static void begin_callout(struct activity *activity, struct moment *moment) {
    int depth = atomic_load_explicit(&activity->depth, memory_order_relaxed);
    process_lock(&activity->lock);
    if (depth < ACTIVITY_DEPTH) {
        struct callout *callout = &activity->open[depth];
        callout->kind = callout_kind(moment->point);
        callout->object = moment->object;
        callout->mode = runloop_current_mode(activity->loop);
        callout->begin_ns = moment->now_ns;
        // Now, since the item may be gone when its call-out has returned.
        const char *name = callout_name(callout->kind, moment->object, &callout->line);
        copy_name(callout->name, sizeof callout->name, name, 0);
        moment->callout = callout;
    }
    atomic_store_explicit(&activity->depth, depth + 1, memory_order_relaxed);
    process_unlock(&activity->lock);
}

static void end_callout(struct activity *activity, struct moment *moment) {
    int depth = atomic_load_explicit(&activity->depth, memory_order_relaxed) - 1;
    // One in which the loop began to be followed returns unseen.
    if (depth < 0)
        return;
    atomic_store_explicit(&activity->depth, depth, memory_order_relaxed);
    moment->callout = depth < ACTIVITY_DEPTH ? &activity->open[depth] : NULL;
}

void activity_follow(struct activity *activity, struct moment *moment) {
    int64_t now_ns = moment->now_ns;
    switch (moment->point) {
    case RUNLOOP_TRACE_RUN_BEGIN:
        find_queue(activity);
        if (activity->run_depth++ == 0)
            set_awake(activity, now_ns);
        break;
    case RUNLOOP_TRACE_RUN_END:
        if (--activity->run_depth <= 0)
            end_outermost_run(activity);
        break;
    case RUNLOOP_TRACE_ITERATION:
        // The loop may have begun to be followed inside the run.
        if (activity->run_depth == 0) {
            activity->run_depth = 1;
            set_awake(activity, now_ns);
        }
        counted_add(&activity->awake_iterations, 1);
        break;
    case RUNLOOP_TRACE_SLEEP: counted_set(&activity->asleep_since_ns, now_ns); break;
    case RUNLOOP_TRACE_WAKE: set_awake(activity, now_ns); break;
    case RUNLOOP_TRACE_TASKS: break;
    case RUNLOOP_TRACE_RETURN: end_callout(activity, moment); break;
    default: begin_callout(activity, moment); break;
    }
}

//===-- other threads ------------------------------------------------------------------------------------------------===//

int activity_copy_callouts(struct activity *activity, struct callout *copies) {
    process_lock(&activity->lock);
    int depth = atomic_load(&activity->depth), count = depth < ACTIVITY_DEPTH ? depth : ACTIVITY_DEPTH;
    memcpy(copies, activity->open, (size_t)count * sizeof *copies);
    process_unlock(&activity->lock);
    return count;
}

bool activity_is_in_queue_work(struct activity *activity) {
    struct callout open[ACTIVITY_DEPTH];
    int count = activity_copy_callouts(activity, open);
    while (count > 0 && open[count - 1].kind != RUNLOOP_CALLOUT_MAIN_QUEUE)
        count--;
    return count > 0;
}
#endif // __linux__
