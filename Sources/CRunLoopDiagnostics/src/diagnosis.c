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

/// "the timer “main.c:12”", or "a task" without a name.
static void write_callout(char *text, size_t size, const runloop_diagnosis *diagnosis) {
    if (diagnosis->callout < 0)
        snprintf(text, size, "no call-out");
    else if (diagnosis->name[0])
        snprintf(text, size, "the %s “%s”", callout_kind_names[diagnosis->callout], diagnosis->name);
    else
        snprintf(text, size, "%s %s without a name", diagnosis->callout == RUNLOOP_CALLOUT_OBSERVER ? "an" : "a",
                 callout_kind_names[diagnosis->callout]);
}

static void write_spin(char *text, size_t size, const runloop_diagnosis *diagnosis, const char *culprit,
                       int descriptor) {
    int used = snprintf(text, size, "has made %" PRIu32 " iterations in a row without a sleep, and served ",
                        diagnosis->iterations);
    text += used, size -= (size_t)used;
    switch (diagnosis->callout) {
    case RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE:
        snprintf(text, size, "nothing but %s, whose descriptor %d stays ready: what is there is not taken", culprit,
                 descriptor);
        break;
    case RUNLOOP_CALLOUT_TIMER: snprintf(text, size, "nothing but %s, which is always due again", culprit); break;
    case RUNLOOP_CALLOUT_SIGNALLED_SOURCE:
        snprintf(text, size, "nothing but %s, which is always signalled again", culprit);
        break;
    default: snprintf(text, size, "nothing: something wakes it up all the time");
    }
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

static void write_sentence(char *text, size_t size, const runloop_diagnosis *diagnosis, int descriptor) {
    char culprit[160];
    write_callout(culprit, sizeof culprit, diagnosis);
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
    case RUNLOOP_DIAGNOSIS_SPIN: write_spin(text, size, diagnosis, culprit, descriptor); break;
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

void diagnosis_report(const struct watch *watch, runloop_diagnosis *diagnosis, int descriptor) {
    char sentence[512];
    diagnosis->loop = watch->loop;
    if (!diagnosis->mode)
        diagnosis->mode = runloop_current_mode(watch->loop);
    write_sentence(sentence, sizeof sentence, diagnosis, descriptor);
    diagnosis->sentence = sentence;
    const runloop_diagnosis_handler *handler = &watch->config.handler;
    if (handler->report)
        handler->report(handler->context, diagnosis);
    else
        write_to_standard_error(diagnosis);
}
