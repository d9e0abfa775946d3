// diagnosis.c — a report in a sentence, and on standard error if nobody else wants it.

#ifdef __linux__
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stack.h"
#include "watch.h"

static double seconds(int64_t duration_ns) {
    return (double)duration_ns / 1e9;
}

static int percent_of(const struct spin *spin, int place) {
    return place < spin->count ? (int)(((uint64_t)spin->items[place].calls * 100 + spin->calls / 2) / spin->calls) : 0;
}

/// What has to be so for its being called again without a sleep.
static void write_reason(char *text, size_t size, const struct spin_item *item) {
    static const char *const reasons[] = {
        [RUNLOOP_CALLOUT_TIMER] = ", which is due again and again",
        [RUNLOOP_CALLOUT_SIGNALLED_SOURCE] = ", which is signalled again and again",
        [RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE] = ", whose descriptor %d is ready again and again",
        [RUNLOOP_CALLOUT_TASK] = ", which is posted again and again",
        [RUNLOOP_CALLOUT_MAIN_QUEUE] = "",
    };
    snprintf(text, size, reasons[item->callout.kind], item->descriptor);
}

/// With the items of a tenth of the calls or more.
static void write_spin(char *text, size_t size, const struct spin *spin) {
    enum { MOST = 3, LEAST_PERCENT = 10 };
    int place = 0;
    size_t used =
        (size_t)snprintf(text, size, "has made %" PRIu64 " iterations in %.3f s without a sleep: ", spin->iterations,
                         seconds(spin->duration_ns));
    for (; place < MOST && percent_of(spin, place) >= LEAST_PERCENT; place++) {
        char callout[160], reason[64];
        const struct spin_item *item = &spin->items[place];
        callout_write(&item->callout, callout, sizeof callout);
        write_reason(reason, sizeof reason, item);
        used += (size_t)snprintf(text + used, size - used, "%s%d %% of %s%s%s", place ? "; " : "",
                                 percent_of(spin, place), place ? "" : "its calls were of ", callout, reason);
    }
    const char *end = place > 0 ? ""
                      : spin->calls > 0
                          ? "it served many items, none in a tenth of its calls, so it has more to do than it can"
                          : "it served nothing, so something wakes it up all the time";
    snprintf(text + used, size - used, "%s.", end);
}

static void write_starvation(char *text, size_t size, const runloop_diagnosis *diagnosis, bool is_supposed) {
    if (is_supposed) {
        snprintf(
            text, size,
            "has been run for %.3f s from inside work for the main dispatch queue: whatever was queued behind that "
            "goes on only when it has returned.",
            seconds(diagnosis->duration_ns));
        return;
    }
    int used = snprintf(text, size, "has left work for the main dispatch queue waiting for %.3f s: it is run ",
                        seconds(diagnosis->duration_ns));
    text += used, size -= (size_t)used;
    if (diagnosis->callout == RUNLOOP_CALLOUT_MAIN_QUEUE)
        snprintf(text, size, "from inside such work, and the queue goes on only when that has returned.");
    else
        snprintf(text, size, "in mode “%s”, and only runs in common modes serve the queue.", diagnosis->mode);
}

static void write_sentence(char *text, size_t size, const runloop_diagnosis *diagnosis, const struct callout *callout,
                           const struct spin *spin, bool is_supposed) {
    char culprit[160];
    callout_write(callout, culprit, sizeof culprit);
    int used = snprintf(text, size, "run loop %p%s ", (void *)diagnosis->loop,
                        diagnosis->loop == runloop_main() ? " of the main thread" : "");
    text += used, size -= (size_t)used;
    switch (diagnosis->kind) {
    case RUNLOOP_DIAGNOSIS_HANG:
        snprintf(text, size, "has not come back for %.3f s: it is in %s.", seconds(diagnosis->duration_ns), culprit);
        break;
    case RUNLOOP_DIAGNOSIS_HANG_ENDED:
        snprintf(text, size, "has come back after %.3f s: it was in %s.", seconds(diagnosis->duration_ns), culprit);
        break;
    case RUNLOOP_DIAGNOSIS_SPIN: write_spin(text, size, spin); break;
    case RUNLOOP_DIAGNOSIS_STARVATION: write_starvation(text, size, diagnosis, is_supposed); break;
    }
}

/// In one write, so that nothing comes between. There is nowhere to report that it failed.
static void write_to_standard_error(const char *const *parts, int count) {
    struct iovec vectors[3];
    for (int i = 0; i < count; i++)
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i], .iov_len = strlen(parts[i])};
    ssize_t written = writev(STDERR_FILENO, vectors, count);
    (void)written;
}

/// Of a loop that is held up at this moment.
static char *copy_stack(const struct watch *watch, runloop_diagnosis_kind kind) {
    bool is_held_up = kind == RUNLOOP_DIAGNOSIS_HANG || kind == RUNLOOP_DIAGNOSIS_STARVATION;
    return is_held_up && !watch->config.omits_stack ? stack_copy(watch->activity->thread, watch->config.signal) : NULL;
}

/// The sentence first: to name the functions of a large program takes a while, in which the process may end.
static void write_diagnosis(const struct watch *watch, const runloop_diagnosis *diagnosis) {
    write_to_standard_error((const char *const[]){"runloop: ", diagnosis->sentence, "\n"}, 3);
    char *stack = copy_stack(watch, diagnosis->kind);
    if (stack)
        write_to_standard_error((const char *const *)&stack, 1);
    free(stack);
}

void diagnosis_report(const struct watch *watch, runloop_diagnosis *diagnosis, const struct callout *callout,
                      const struct spin *spin) {
    char sentence[1024], name[96];
    callout_write_name(callout, name, sizeof name);
    diagnosis->loop = watch->loop;
    diagnosis->callout = callout->kind;
    diagnosis->name = name;
    diagnosis->share_percent = spin ? percent_of(spin, 0) : 0;
    if (!diagnosis->mode)
        diagnosis->mode = runloop_current_mode(watch->loop);
    write_sentence(sentence, sizeof sentence, diagnosis, callout, spin, watch->is_supposed);
    diagnosis->sentence = sentence;
    const runloop_diagnosis_handler *handler = &watch->config.handler;
    if (!handler->report) {
        write_diagnosis(watch, diagnosis);
        return;
    }
    char *stack = copy_stack(watch, diagnosis->kind);
    diagnosis->stack = stack;
    handler->report(handler->context, diagnosis);
    free(stack);
}
#endif // __linux__
