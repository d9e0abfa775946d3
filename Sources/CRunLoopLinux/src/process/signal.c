// signal.c — a signal as a source: its arrivals are read from a catcher, merged, and reported.

#ifdef __linux__
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/object.h"
#include "process/catcher.h"
#include "process/sentry.h"
#include "process/signal_notes.h"
#include "runloop_signal.h"

/// Of the records that are read at once, and of such reads before the loop goes on: as many as a pipe has.
/// A batch is on the stack.
enum { BATCH = 16, MOST_BATCHES = 128 };

struct signal {
    struct object object;
    int32_t number;
    struct catcher *catcher;
    struct probe sentry;
    void (*receive)(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info);
};

static struct signal *signal_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_SIGNAL);
}

static void note(runloop_signal_arrival *arrival, const struct catcher_record *record) {
    if (record->number == 0)
        return;
    arrival->count++;
    arrival->code = record->code;
    arrival->pid = record->pid;
    arrival->uid = record->uid;
    arrival->value = (intptr_t)record->value;
}

/// Standard signals are merged. A real-time signal has a value, so one is read at a time; the loop calls again for the next.
static void collect(struct catcher *catcher, bool merges, runloop_signal_arrival *arrival) {
    struct catcher_record records[BATCH];
    size_t capacity = merges ? BATCH : 1, most = merges ? MOST_BATCHES : 1;
    for (size_t batch = 0; batch < most; batch++) {
        size_t count = runloop__catcher_read(catcher, records, capacity);
        for (size_t i = 0; i < count; i++)
            note(arrival, &records[i]);
        if (count < capacity)
            break;
    }
    arrival->count += runloop__catcher_take_unrecorded(catcher);
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons;
    struct signal *signal = info;
    runloop_signal_arrival arrival = {.number = signal->number};
    collect(signal->catcher, signal->number < SIGRTMIN, &arrival);
    // Another loop may have been faster.
    if (arrival.count && signal->receive)
        signal->receive(signal->object.source, &arrival, signal->object.context.info);
}

static void schedule(void *object, runloop *loop, const char *mode) {
    runloop__probe_enter(&((struct signal *)object)->sentry, &runloop__sentry, NULL, loop, mode);
}

static void cancel(void *object, runloop *loop, const char *mode) {
    runloop__probe_leave(&((struct signal *)object)->sentry, loop, mode);
}

static void free_signal(void *info) {
    struct signal *signal = info;
    runloop__probe_end(&signal->sentry);
    runloop__catcher_release(signal->catcher);
    runloop__object_end(&signal->object);
    free(signal);
}

static void invalidated(void *info) {
    struct signal *signal = info;
    runloop__catcher_end(signal->catcher);
}

static char *describe(const void *object) {
    const struct signal *signal = object;
    uint64_t signals = runloop__catcher_wanted(signal->catcher);
    return runloop__describe_signals(signals, runloop__signals_caught(signals));
}

static const struct object_class signal_class = {
    .kind = OBJECT_SIGNAL,
    .ready = ready,
    .schedule = schedule,
    .cancel = cancel,
    .invalidated = invalidated,
    .describe = describe,
    .free = free_signal,
};

int runloop_signal_create(const runloop_signal_config *config, runloop_signal **out) {
    if (!config || !out || !runloop__signal_can_be_caught(config->number))
        return -EINVAL;
    struct catcher *catcher;
    int result = runloop__catcher_open(catcher_bit(config->number), config->force ? CATCHER_FORCES : 0, &catcher);
    if (result < 0)
        return result;
    const struct object_config object = {
        .context = config->context, .descriptor = runloop__catcher_descriptor(catcher), .class = &signal_class};
    struct signal *signal = runloop__object_make(sizeof *signal, &object, &result);
    if (!signal) {
        runloop__catcher_release(catcher);
        return result;
    }
    signal->number = config->number;
    signal->receive = config->receive;
    signal->catcher = catcher;
    runloop__sentry_begin();
    *out = signal->object.source;
    return 0;
}

int32_t runloop_signal_get_number(runloop_signal *source) {
    struct signal *signal = signal_of(source);
    return signal ? signal->number : 0;
}

bool runloop_signal_is_caught(runloop_signal *source) {
    struct signal *signal = signal_of(source);
    return signal && runloop__catcher_signals(signal->catcher) != 0;
}
#endif // __linux__
