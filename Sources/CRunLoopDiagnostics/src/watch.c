// watch.c — the attendant's half of the watchdog: how long it is since a loop has come back.

#ifdef __linux__
#include "watch.h"

#include <poll.h>
#include <stdlib.h>

static const int64_t longest_pause_ns = 1000000000;
/// For spins, which nobody has to hear of at once.
static const int64_t pause_for_spins_ns = 250000000;

static const struct callout no_callout = {.kind = -1};

static struct callout innermost_callout(const struct watch *watch) {
    struct callout open[ACTIVITY_DEPTH];
    int count = activity_copy_callouts(watch->activity, open);
    return count > 0 ? open[count - 1] : no_callout;
}

//===-- hangs --------------------------------------------------------------------------------------------------------===//

static void report_hang(struct watch *watch, int64_t now_ns) {
    watch->culprit = innermost_callout(watch);
    // It may have come back meanwhile; then it is reported as over right after this.
    runloop_diagnosis diagnosis = {
        .kind = RUNLOOP_DIAGNOSIS_HANG,
        .duration_ns = now_ns - watch->seen_beat / 2 - watch->discounted_ns,
    };
    diagnosis_report(watch, &diagnosis, &watch->culprit, NULL);
}

static void report_end(struct watch *watch, int64_t beat) {
    // 0: the loop's thread has seen that it was awaited.
    int64_t ended_ns = atomic_load(&watch->awaited) == 0 ? atomic_load(&watch->ended_ns) : beat / 2;
    atomic_store(&watch->awaited, 0);
    watch->is_hung = false;
    runloop_diagnosis diagnosis = {
        .kind = RUNLOOP_DIAGNOSIS_HANG_ENDED,
        .duration_ns = ended_ns - watch->seen_beat / 2 - watch->discounted_ns,
    };
    diagnosis_report(watch, &diagnosis, &watch->culprit, NULL);
}

/// `counted_ns` of the time since the last look are time in which the loop could run as well as this thread; `late_ns` are not.
static void look_for_hang(struct watch *watch, int64_t now_ns, int64_t counted_ns, int64_t late_ns) {
    int64_t beat = atomic_load(&watch->beat);
    if (watch->is_hung && beat != watch->seen_beat)
        report_end(watch, beat);
    if (beat != watch->seen_beat) {
        int64_t since_ns = now_ns - beat / 2;
        watch->seen_beat = beat;
        watch->stuck_ns = since_ns < counted_ns ? since_ns : counted_ns;
        watch->discounted_ns = since_ns - watch->stuck_ns < late_ns ? since_ns - watch->stuck_ns : late_ns;
    } else {
        watch->stuck_ns += counted_ns;
        watch->discounted_ns += late_ns;
    }
    if (!(beat & BEAT_IS_BUSY) || watch->is_hung || watch->stuck_ns < watch->config.limit_ns)
        return;
    atomic_store(&watch->awaited, beat);
    watch->is_hung = true;
    report_hang(watch, now_ns);
}

//===-- a main queue that is not served ----------------------------------------------------------------------------------===//

/// A loop that serves the queue as often as anything else has more to do than it can; that is no starvation.
static void report_starvation(struct watch *watch, const char *mode) {
    static const struct callout queue_work = {.kind = RUNLOOP_CALLOUT_MAIN_QUEUE};
    bool is_inside = activity_is_in_queue_work(watch->activity);
    if (!is_inside && runloop_mode_is_common(watch->loop, mode))
        return;
    runloop_diagnosis diagnosis = {
        .kind = RUNLOOP_DIAGNOSIS_STARVATION,
        .mode = mode,
        .duration_ns = watch->starved_ns,
    };
    watch->is_starved = true;
    diagnosis_report(watch, &diagnosis, is_inside ? &queue_work : &no_callout, NULL);
}

static void look_for_starvation(struct watch *watch, int64_t counted_ns) {
    // Before the question, so that work which is there and has not been served since was there all the time.
    uint32_t served = atomic_load(&watch->queue_served);
    struct pollfd queue = {.fd = atomic_load(&watch->activity->queue), .events = POLLIN};
    // A hang is reported as one, and a loop that does not run has no chance to serve the queue. What was reported stays so.
    const char *mode = queue.fd < 0 || watch->is_hung ? NULL : runloop_current_mode(watch->loop);
    if (!mode) {
        watch->starved_ns = 0;
        return;
    }
    bool is_seen = poll(&queue, 1, 0) > 0 && (queue.revents & POLLIN);
    bool has_work = is_seen || (runloop_main_queue_batch() > 1 && activity_is_in_queue_work(watch->activity));
    watch->is_supposed = !is_seen;
    if (!has_work || served != watch->seen_served) {
        watch->seen_served = served;
        // Which a sum that begins now never is.
        watch->starved_ns = has_work ? 1 : 0;
        watch->is_starved = false;
        return;
    }
    watch->starved_ns += watch->starved_ns ? counted_ns : 1;
    if (watch->starved_ns > watch->config.limit_ns && !watch->is_starved)
        report_starvation(watch, mode);
}

//===-- spins --------------------------------------------------------------------------------------------------------===//

static void look_for_spin(struct watch *watch) {
    if (!atomic_load_explicit(&watch->has_spun, memory_order_acquire))
        return;
    const struct spin *spin = &watch->found;
    runloop_diagnosis diagnosis = {
        .kind = RUNLOOP_DIAGNOSIS_SPIN, .duration_ns = spin->duration_ns, .iterations = spin->iterations};
    diagnosis_report(watch, &diagnosis, spin->count > 0 ? &spin->items[0].callout : &no_callout, spin);
    atomic_store_explicit(&watch->has_spun, false, memory_order_release);
}

//===-- sources whose descriptors were closed ------------------------------------------------------------------------===//

/// The core notes what it learns by the question, on the loop's thread.
static void ask(void *loop, runloop_item_kind kind, void *item) {
    if (kind == RUNLOOP_ITEM_DESCRIPTOR_SOURCE)
        runloop_source_is_lost(item, loop);
}

/// Soon, since such a source is mostly one that has just been made, and then seldom: each is a question to the kernel.
static void look_for_lost_descriptors(struct watch *watch, int64_t now_ns) {
    static const int64_t first_pause_ns = 1000000000, last_pause_ns = 64 * first_pause_ns;
    const char *mode = runloop_current_mode(watch->loop);
    if (!watch->sources_pause_ns)
        watch->sources_pause_ns = first_pause_ns, watch->sources_looked_ns = now_ns;
    if (!mode || now_ns - watch->sources_looked_ns < watch->sources_pause_ns)
        return;
    runloop_visit_items(watch->loop, mode, ask, watch->loop);
    watch->sources_looked_ns = now_ns;
    if (watch->sources_pause_ns < last_pause_ns)
        watch->sources_pause_ns *= 2;
}

//===-- looking ------------------------------------------------------------------------------------------------------===//

int64_t watch_look(struct watch *watch, bool is_last) {
    int64_t limit_ns = watch->config.limit_ns, now_ns = runloop_get_now_ns(NULL);
    int64_t pause_ns = limit_ns / 4 < longest_pause_ns ? limit_ns / 4 : longest_pause_ns;
    if (watch->config.spin_limit && (!limit_ns || pause_ns > pause_for_spins_ns))
        pause_ns = pause_for_spins_ns;
    int64_t since_ns = watch->looked_ns ? now_ns - watch->looked_ns : 0;
    // Looked at early because of something else.
    if (watch->looked_ns && since_ns < pause_ns && !is_last)
        return pause_ns - since_ns;
    watch->looked_ns = now_ns;
    // Late by as much again as it should have slept: this thread did not get to run, so neither, it may be, did the loop's.
    int64_t late_ns = since_ns > 2 * pause_ns ? since_ns - pause_ns : 0;
    if (limit_ns) {
        look_for_hang(watch, now_ns, since_ns - late_ns, late_ns);
        look_for_starvation(watch, since_ns - late_ns);
    }
    look_for_spin(watch);
    look_for_lost_descriptors(watch, now_ns);
    // What the handlers took is not lateness.
    watch->looked_ns = runloop_get_now_ns(NULL);
    return pause_ns;
}

void watch_free(struct watch *watch) {
    runloop_diagnosis_handler *handler = &watch->config.handler;
    if (handler->release)
        handler->release(handler->context);
    runloop_release(watch->loop);
    activity_release(watch->activity);
    free(watch);
}
#endif // __linux__
