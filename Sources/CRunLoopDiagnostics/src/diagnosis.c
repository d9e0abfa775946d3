// diagnosis.c — a report in a sentence, and on standard error if nobody else wants it.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kind_names.h"
#include "watch.h"

static double seconds(int64_t duration_ns) {
    return (double)duration_ns / 1e9;
}

/// What has to be so for its being called again without a sleep.
static void write_reason(char *text, size_t size, const struct share *share) {
    static const char *const reasons[] = {
        [RUNLOOP_CALLOUT_TIMER] = ", which is due again and again",
        [RUNLOOP_CALLOUT_SIGNALLED_SOURCE] = ", which is signalled again and again",
        [RUNLOOP_CALLOUT_TASK] = ", which is posted again and again",
        [RUNLOOP_CALLOUT_MAIN_QUEUE] = "",
    };
    if (share->callout.kind == RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE)
        snprintf(text, size, ", whose descriptor %d is ready again and again", share->descriptor);
    else
        snprintf(text, size, "%s", reasons[share->callout.kind]);
}

/// Those with a tenth or more.
static void write_spin(char *text, size_t size, const runloop_diagnosis *diagnosis, const struct shares *shares) {
    enum { MOST = 3, LEAST_PERCENT = 10 };
    size_t used = (size_t)snprintf(text, size,
                                   "has made %" PRIu64 " iterations in %.3f s without a sleep: ", diagnosis->iterations,
                                   seconds(diagnosis->duration_ns));
    if (shares->calls == 0)
        snprintf(text + used, size - used, "it served nothing, so something wakes it up all the time.");
    else if (diagnosis->share_percent < LEAST_PERCENT)
        snprintf(text + used, size - used,
                 "it served many items, none in a tenth of its calls, so it has more to do than it can.");
    for (int i = 0; i < shares->count && i < MOST; i++) {
        const struct share *share = &shares->items[i];
        char callout[160], reason[64];
        int percent = shares_percent(shares, share);
        if (percent < LEAST_PERCENT)
            break;
        write_callout(callout, sizeof callout, share->callout.kind, share->callout.name);
        write_reason(reason, sizeof reason, share);
        used +=
            (size_t)snprintf(text + used, size - used, i == 0 ? "%d %% of its calls were of %s%s" : "; %d %% of %s%s",
                             percent, callout, reason);
    }
    if (diagnosis->share_percent >= LEAST_PERCENT)
        snprintf(text + used, size - used, ".");
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

static void write_sentence(char *text, size_t size, const runloop_diagnosis *diagnosis, const struct shares *shares) {
    char culprit[160];
    write_callout(culprit, sizeof culprit, diagnosis->callout, diagnosis->name);
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
    case RUNLOOP_DIAGNOSIS_SPIN: write_spin(text, size, diagnosis, shares); break;
    case RUNLOOP_DIAGNOSIS_STARVATION: write_starvation(text, size, diagnosis); break;
    }
}

static void write_to_standard_error(const runloop_diagnosis *diagnosis) {
    const char *stack = diagnosis->stack ? diagnosis->stack : "";
    const char *parts[] = {"runloop: ", diagnosis->sentence, "\n", stack};
    struct iovec vectors[sizeof parts / sizeof *parts];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i], .iov_len = strlen(parts[i])};
    // One write, so that nothing comes between; nobody can be told that it failed.
    ssize_t count = writev(STDERR_FILENO, vectors, sizeof parts / sizeof *parts);
    (void)count;
}

void diagnosis_report(const struct watch *watch, runloop_diagnosis *diagnosis, const struct shares *shares) {
    char sentence[1024];
    diagnosis->loop = watch->loop;
    if (!diagnosis->mode)
        diagnosis->mode = runloop_current_mode(watch->loop);
    write_sentence(sentence, sizeof sentence, diagnosis, shares);
    diagnosis->sentence = sentence;
    const runloop_diagnosis_handler *handler = &watch->config.handler;
    if (handler->report)
        handler->report(handler->context, diagnosis);
    else
        write_to_standard_error(diagnosis);
}
