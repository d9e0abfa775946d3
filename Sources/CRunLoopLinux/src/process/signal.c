// signal.c — a signal as a source: its arrivals are read from a catcher, merged, and reported.

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/object.h"
#include "process/catcher.h"
#include "runloop_signal.h"

/// Of the records that are read at once, and of such reads before the loop goes on: as many as a pipe has.
enum { BATCH = 128, MOST_BATCHES = 16 };

struct runloop_signal {
    struct object object;
    int32_t number;
    struct catcher *catcher;
    void (*receive)(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info);
};

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

static void ready(runloop_source *source, void *info) {
    (void)source;
    runloop_signal *signal = info;
    runloop_signal_arrival arrival = {.number = signal->number};
    collect(signal->catcher, signal->number < SIGRTMIN, &arrival);
    // Another loop may have been faster.
    if (arrival.count && signal->receive)
        signal->receive(signal, &arrival, signal->object.context.info);
}

static void free_signal(void *info) {
    runloop_signal *signal = info;
    runloop__catcher_release(signal->catcher);
    runloop__object_end(&signal->object);
    free(signal);
}

int runloop_signal_create(const runloop_signal_config *config, runloop_signal **out) {
    if (!config || !out || !runloop__signal_can_be_caught(config->number))
        return -EINVAL;
    runloop_signal *signal = calloc(1, sizeof *signal);
    if (!signal)
        return -ENOMEM;
    signal->number = config->number;
    signal->receive = config->receive;
    int result =
        runloop__catcher_open(catcher_bit(config->number), config->force ? CATCHER_FORCES : 0, &signal->catcher);
    if (result < 0) {
        free(signal);
        return result;
    }
    const struct object_config object = {
        .context = config->context,
        .descriptor = runloop__catcher_descriptor(signal->catcher),
        .ready = ready,
        .free = free_signal,
    };
    result = runloop__object_begin(&signal->object, &object);
    if (result < 0) {
        runloop__catcher_release(signal->catcher);
        free(signal);
        return result;
    }
    *out = signal;
    return 0;
}

runloop_signal *runloop_signal_retain(runloop_signal *signal) {
    runloop_source_retain(runloop_signal_get_source(signal));
    return signal;
}

void runloop_signal_release(runloop_signal *signal) {
    runloop_source_release(runloop_signal_get_source(signal));
}

runloop_source *runloop_signal_get_source(runloop_signal *signal) {
    return signal ? signal->object.source : NULL;
}

int32_t runloop_signal_get_number(runloop_signal *signal) {
    return signal ? signal->number : 0;
}

bool runloop_signal_is_caught(runloop_signal *signal) {
    return signal && runloop__catcher_signals(signal->catcher) != 0;
}

void runloop_signal_invalidate(runloop_signal *signal) {
    if (!signal)
        return;
    // The source's own invalidation may release the last reference but the caller's.
    runloop__catcher_end(signal->catcher);
    runloop_source_invalidate(signal->object.source);
}
