// recorder.c — a ring of the latest events of a loop.

#ifdef __linux__
#include "recorder.h"

#include <pthread.h>
#include <unistd.h>

#include "runloop_diagnostics.h"

static struct recorder *recorder_of(struct follower *follower) {
    return (struct recorder *)follower;
}

UNCHECKED static void take(struct recorder *recorder) TAKES(recorder_lock) {
    process_lock(&recorder->lock);
}

UNCHECKED static void give(struct recorder *recorder) GIVES(recorder_lock) {
    process_unlock(&recorder->lock);
}

static void record(struct follower *follower, const struct moment *moment) {
    struct recorder *recorder = recorder_of(follower);
    take(recorder);
    struct event *event = &recorder->events[recorder->count++ % recorder->capacity];
    event->time_ns = moment->now_ns;
    event->value = (int32_t)moment->value;
    event->point = (uint8_t)moment->point;
    const struct callout *begun = callout_kind(moment->point) < 0 ? NULL : moment->callout;
    bool is_task = moment->point == RUNLOOP_TRACE_TASK;
    event->line_or_function = is_task ? (uintptr_t)moment->object : begun ? begun->line : 0;
    const char *mode = moment->point == RUNLOOP_TRACE_RUN_BEGIN ? moment->object : "";
    copy_name(event->name, sizeof event->name, begun ? begun->name : mode, 0);
    give(recorder);
}

UNCHECKED static void free_recorder(struct follower *follower) {
    free(recorder_of(follower)->events);
}

static void prepare(struct follower *follower) {
    follower->free = free_recorder;
    follower->trace = record;
}

int runloop_recorder_start(uint32_t capacity) {
    if (capacity > RUNLOOP_RECORDER_EVENTS_MAX)
        return -EINVAL;
    if (capacity == 0)
        capacity = RUNLOOP_RECORDER_EVENTS;
    struct event *events = calloc(capacity, sizeof *events);
    if (!events)
        return -ENOMEM;
    struct follower *follower;
    int error = followed_start(ROLE_RECORDER, sizeof(struct recorder), prepare, &follower);
    if (error) {
        free(events);
        return error;
    }
    struct recorder *recorder = recorder_of(follower);
    take(recorder);
    struct event *former = recorder->events;
    recorder->events = events;
    recorder->capacity = capacity;
    recorder->count = 0;
    recorder->thread.id = gettid();
    pthread_getname_np(pthread_self(), recorder->thread.name, sizeof recorder->thread.name);
    give(recorder);
    free(former);
    follower->is_active = true;
    return 0;
}

void runloop_recorder_stop(void) {
    followed_stop(ROLE_RECORDER);
}

struct event *recorder_copy(struct recorder *recorder, uint32_t *count, struct recorded_thread *thread, bool *failed) {
    take(recorder);
    *thread = recorder->thread;
    uint64_t total = recorder->count;
    uint32_t there = total < recorder->capacity ? (uint32_t)total : recorder->capacity;
    struct event *copy = there ? malloc(there * sizeof *copy) : NULL;
    for (uint32_t i = 0; copy && i < there; i++)
        copy[i] = recorder->events[(total - there + i) % recorder->capacity];
    give(recorder);
    *failed = there && !copy;
    *count = copy ? there : 0;
    return copy;
}
#endif // __linux__
