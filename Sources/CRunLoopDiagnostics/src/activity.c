// activity.c — a loop's trace as a state. Stores of what belongs together release, so that who sees one of them sees that `serial` is odd;
// loads acquire, so that the serial that is read afterwards is not older.

#include "activity.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "callout_name.h"

struct activity *activity_make(runloop *loop) {
    struct activity *activity = calloc(1, sizeof *activity);
    if (!activity)
        return NULL;
    atomic_init(&activity->references, 1);
    activity->thread = gettid();
    activity->loop = loop;
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

static void set_depth(struct activity *activity, int depth) {
    uint32_t serial = atomic_load_explicit(&activity->serial, memory_order_relaxed);
    atomic_store_explicit(&activity->serial, serial + 1, memory_order_relaxed);
    atomic_store_explicit(&activity->depth, depth, memory_order_release);
    atomic_store_explicit(&activity->serial, serial + 2, memory_order_release);
}

static void forget(struct activity *activity) {
    set_depth(activity, 0);
    counted_set(&activity->asleep_since_ns, 0);
    counted_set(&activity->awake_since_ns, 0);
    counted_set(&activity->awake_iterations, 0);
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
        forget(activity);
}

static void describe(struct callout *callout, const char *mode, const struct moment *moment) {
    union {
        char text[CALLOUT_NAME_WORDS * 8];
        uint64_t words[CALLOUT_NAME_WORDS];
    } copy;
    uint32_t line;
    int kind = callout_kind(moment->point);
    // Now, since the item may be gone when its call-out has returned.
    const char *name = callout_name(kind, moment->object, &line);
    size_t length = name ? strlen(name) : 0, cut = length < sizeof copy.text ? 0 : length - sizeof copy.text + 1;
    size_t words = (length - cut) / 8 + 1;
    copy.words[words - 1] = 0;
    if (name)
        memcpy(copy.text, name + cut, length - cut);
    for (size_t i = 0; i < words; i++)
        atomic_store_explicit(&callout->name[i], copy.words[i], memory_order_release);
    atomic_store_explicit(&callout->line, line, memory_order_release);
    atomic_store_explicit(&callout->kind, kind, memory_order_release);
    atomic_store_explicit(&callout->object, moment->object, memory_order_release);
    atomic_store_explicit(&callout->mode, mode, memory_order_release);
    atomic_store_explicit(&callout->begin_ns, moment->now_ns, memory_order_release);
}

static void begin_callout(struct activity *activity, struct moment *moment) {
    int depth = atomic_load_explicit(&activity->depth, memory_order_relaxed);
    uint32_t serial = atomic_load_explicit(&activity->serial, memory_order_relaxed);
    atomic_store_explicit(&activity->serial, serial + 1, memory_order_relaxed);
    if (depth < ACTIVITY_DEPTH) {
        describe(&activity->open[depth], runloop_current_mode(activity->loop), moment);
        moment->callout = &activity->open[depth];
    }
    atomic_store_explicit(&activity->depth, depth + 1, memory_order_release);
    atomic_store_explicit(&activity->serial, serial + 2, memory_order_release);
}

static void end_callout(struct activity *activity, struct moment *moment) {
    int depth = atomic_load_explicit(&activity->depth, memory_order_relaxed);
    // One in which the loop began to be followed returns unseen.
    if (depth == 0)
        return;
    set_depth(activity, depth - 1);
    if (depth <= ACTIVITY_DEPTH)
        moment->callout = &activity->open[depth - 1];
}

static void be_awake(struct activity *activity, int64_t now_ns) {
    counted_set(&activity->asleep_since_ns, 0);
    counted_set(&activity->awake_since_ns, now_ns);
    counted_set(&activity->awake_iterations, 0);
}

void activity_follow(struct activity *activity, struct moment *moment) {
    int64_t now_ns = moment->now_ns;
    switch (moment->point) {
    case RUNLOOP_TRACE_RUN_BEGIN:
        find_queue(activity);
        if (activity->run_depth++ == 0)
            be_awake(activity, now_ns);
        break;
    case RUNLOOP_TRACE_RUN_END:
        // Call-outs that were left by the end of the thread end here.
        if (--activity->run_depth <= 0)
            forget(activity);
        break;
    case RUNLOOP_TRACE_ITERATION:
        // The loop may have begun to be followed inside the run.
        if (activity->run_depth == 0) {
            activity->run_depth = 1;
            be_awake(activity, now_ns);
        }
        counted_add(&activity->awake_iterations, 1);
        break;
    case RUNLOOP_TRACE_SLEEP: counted_set(&activity->asleep_since_ns, now_ns); break;
    case RUNLOOP_TRACE_WAKE: be_awake(activity, now_ns); break;
    case RUNLOOP_TRACE_TASKS: break;
    case RUNLOOP_TRACE_RETURN: end_callout(activity, moment); break;
    default: begin_callout(activity, moment); break;
    }
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

static size_t read_name(const struct callout *callout, uint64_t words[CALLOUT_NAME_WORDS]) {
    for (size_t i = 0; i < CALLOUT_NAME_WORDS; i++)
        words[i] = atomic_load_explicit(&callout->name[i], memory_order_acquire);
    return strnlen((const char *)words, CALLOUT_NAME_WORDS * 8 - 1);
}

uint32_t callout_copy_name(const struct callout *callout, char *name, size_t size) {
    uint64_t words[CALLOUT_NAME_WORDS];
    size_t length = read_name(callout, words), cut = length < size ? 0 : length - size + 1;
    memcpy(name, (const char *)words + cut, length - cut);
    name[length - cut] = 0;
    return atomic_load_explicit(&callout->line, memory_order_relaxed);
}

void callout_copy(const struct callout *callout, struct callout_copy *copy) {
    uint64_t words[CALLOUT_NAME_WORDS];
    int length = (int)read_name(callout, words);
    uint32_t line = atomic_load_explicit(&callout->line, memory_order_acquire);
    copy->kind = atomic_load_explicit(&callout->kind, memory_order_acquire);
    copy->object = atomic_load_explicit(&callout->object, memory_order_acquire);
    copy->mode = atomic_load_explicit(&callout->mode, memory_order_acquire);
    copy->begin_ns = atomic_load_explicit(&callout->begin_ns, memory_order_acquire);
    snprintf(copy->name, sizeof copy->name, line ? "%.*s:%" PRIu32 : "%.*s", length, (const char *)words, line);
}

int activity_copy_callouts(const struct activity *activity, struct callout_copy *copies) {
    for (int attempt = 0; attempt < 3; attempt++) {
        uint32_t serial = atomic_load_explicit(&activity->serial, memory_order_acquire);
        int depth = atomic_load_explicit(&activity->depth, memory_order_acquire), count = 0;
        for (; count < depth && count < ACTIVITY_DEPTH; count++)
            callout_copy(&activity->open[count], &copies[count]);
        if (serial % 2 == 0 && serial == atomic_load_explicit(&activity->serial, memory_order_acquire))
            return count;
    }
    return 0;
}

void callout_find_function(struct callout_copy *copy) {
    Dl_info found;
    if (copy->kind == RUNLOOP_CALLOUT_TASK && dladdr(copy->object, &found) && found.dli_sname)
        snprintf(copy->name, sizeof copy->name, "%s", found.dli_sname);
}
