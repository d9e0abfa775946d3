// object.c — the source that an object is, and the client's context.

#ifdef __linux__
#include "base/object.h"
#include "runloop_bionic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

static char *describe(void *info) {
    const struct object *object = info;
    if (object->context.describe)
        return object->context.describe(object->context.info);
    return object->class->describe(object);
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    const struct object *object = info;
    if (object_is_inherited(object))
        runloop_source_invalidate(source);
    else
        object->class->ready(source, reasons, info);
}

static void schedule(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source;
    const struct object *object = info;
    if (!object_is_inherited(object))
        object->class->schedule(info, loop, mode);
}

static void cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    const struct object *object = info;
    if (object->class->cancel && !object_is_inherited(object))
        object->class->cancel(info, loop, mode);
    if (object->cancel)
        object->cancel(source, loop, mode, object->context.info);
}

static void invalidated(runloop_source *source, void *info) {
    (void)source;
    const struct object *object = info;
    if (object->class->invalidated && !object_is_inherited(object))
        object->class->invalidated(info);
}

static void free_with_descriptor(struct object *object) {
    close(object->descriptor);
    runloop__object_end(object);
    free(object);
}

/// To close a descriptor is a cancellation point, where the thread would end and leave the rest.
static void release(void *info) {
    const struct object *object = info;
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    if (object->class->free)
        object->class->free(info);
    else
        free_with_descriptor(info);
    pthread_setcancelstate(cancellation, NULL);
}

void *runloop__object_of(runloop_source *source, enum object_kind kind) {
    struct object *object = runloop_source_get_info_of(source, (void (*)(void))ready);
    return object && object->class->kind == kind ? object : NULL;
}

bool runloop__source_reads(runloop_source *source) {
    const struct object *object = runloop_source_get_info_of(source, (void (*)(void))ready);
    return !object || !object->class->has_read || object->class->has_read(object);
}

int runloop__object_begin(struct object *object, const struct object_config *config) {
    const runloop_descriptor_config source = {
        .context = {.info = object,
                    .release = release,
                    .describe = config->context.describe || config->class->describe ? describe : NULL},
        .descriptor = config->descriptor,
        .events = config->events ? config->events : RUNLOOP_READABLE,
        .ready = ready,
        .schedule = config->class->schedule ? schedule : NULL,
        .cancel = config->cancel || config->class->cancel ? cancel : NULL,
        .invalidated = invalidated,
    };
    int result = runloop_descriptor_source_create(&source, &object->source);
    if (result < 0)
        return result;
    object->class = config->class;
    object->descriptor = config->descriptor;
    object->cancel = config->cancel;
    object->generation = runloop_fork_generation();
    object->context = config->context;
    if (object->context.retain)
        object->context.info = object->context.retain(object->context.info);
    return 0;
}

void *runloop__object_make(size_t size, const struct object_config *config, int *error) {
    *error = config->descriptor;
    if (config->descriptor < 0)
        return NULL;
    struct object *object = calloc(1, size);
    *error = object ? runloop__object_begin(object, config) : -ENOMEM;
    if (*error == 0)
        return object;
    if (!config->class->free)
        close(config->descriptor);
    free(object);
    return NULL;
}

void runloop__object_end(struct object *object) {
    if (object->context.release)
        object->context.release(object->context.info);
}

int runloop__is_refused_by_epoll(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) < 0)
        return -errno;
    if (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode))
        return 0;
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0)
        return -errno;
    struct epoll_event nothing = {.events = 0};
    int error = epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &nothing) < 0 ? errno : 0;
    close(set);
    return error == EPERM ? 1 : -error;
}
#endif // __linux__
