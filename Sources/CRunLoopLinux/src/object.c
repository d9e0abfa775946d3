// object.c — the source that an object is, and the client's context.

#include "object.h"

static char *describe(void *info) {
    const struct object *object = info;
    return object->context.describe(object->context.info);
}

static void ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    const struct object *object = info;
    if (object_is_inherited(object))
        runloop_source_invalidate(source);
    else
        object->ready(source, info);
}

int runloop__object_begin(struct object *object, const struct object_config *config) {
    const runloop_descriptor_config source = {
        .context = {.info = object, .release = config->free, .describe = config->context.describe ? describe : NULL},
        .descriptor = config->descriptor,
        .events = config->events ? config->events : RUNLOOP_READABLE,
        .ready = ready,
    };
    int result = runloop_descriptor_source_create(&source, &object->source);
    if (result < 0)
        return result;
    object->ready = config->ready;
    object->generation = runloop_fork_generation();
    object->context = config->context;
    if (object->context.retain)
        object->context.info = object->context.retain(object->context.info);
    return 0;
}

void runloop__object_end(struct object *object) {
    if (object->context.release)
        object->context.release(object->context.info);
}
