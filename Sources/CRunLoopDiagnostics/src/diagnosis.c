// diagnosis.c — a report in a sentence, and on standard error if nobody else wants it.

#ifdef __linux__
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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

static void write_starvation(char *text, size_t size, const runloop_diagnosis *diagnosis) {
    int used = snprintf(text, size, "has left work for the main dispatch queue waiting for %.3f s: it is run ",
                        seconds(diagnosis->duration_ns));
    text += used, size -= (size_t)used;
    if (diagnosis->callout == RUNLOOP_CALLOUT_MAIN_QUEUE)
        snprintf(text, size, "from inside such work, and the queue goes on only when that has returned.");
    else
        snprintf(text, size, "in mode “%s”, and only runs in common modes serve the queue.", diagnosis->mode);
}

static void write_sentence(char *text, size_t size, const runloop_diagnosis *diagnosis, const struct callout *callout,
                           const struct spin *spin) {
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
    case RUNLOOP_DIAGNOSIS_STARVATION: write_starvation(text, size, diagnosis); break;
    }
}

static void write_to_standard_error(const runloop_diagnosis *diagnosis) {
    const char *stack = diagnosis->stack ? diagnosis->stack : "";
    const char *parts[] = {"runloop: ", diagnosis->sentence, "\n", stack};
    struct iovec vectors[sizeof parts / sizeof *parts];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i], .iov_len = strlen(parts[i])};
    // One write, so that nothing comes between; there is nowhere to report that it failed.
    ssize_t count = writev(STDERR_FILENO, vectors, sizeof parts / sizeof *parts);
    (void)count;
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
    write_sentence(sentence, sizeof sentence, diagnosis, callout, spin);
    diagnosis->sentence = sentence;
    const runloop_diagnosis_handler *handler = &watch->config.handler;
    if (handler->report)
        handler->report(handler->context, diagnosis);
    else
        write_to_standard_error(diagnosis);
}
#endif // __linux__
