// instance.c — the inotify instances of a process.

#ifdef __linux__
#include "files/instance.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <unistd.h>

#include "runloop_watch.h"

static struct steady_lock instances_lock;
static struct instance *first GUARDED;

HOLDS_LOCK static struct instance *find(void) {
    ASSERT_HOLDS(&instances_lock.lock);
    struct instance *instance = first;
    while (instance && (!pthread_equal(instance->thread, pthread_self()) || object_is_inherited(&instance->object)))
        instance = instance->next;
    return instance;
}

HOLDS_LOCK static int make(const struct object_class *class, struct instance **out) {
    ASSERT_HOLDS(&instances_lock.lock);
    struct instance *instance = malloc(sizeof *instance + NOTIFICATIONS_SIZE);
    if (!instance)
        return -ENOMEM;
    *instance =
        (struct instance){.inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), .thread = pthread_self(), .next = first};
    const struct object_config object = {.descriptor = instance->inotify, .class = class};
    int result = instance->inotify < 0 ? -errno : runloop__object_begin(&instance->object, &object);
    if (result < 0) {
        if (instance->inotify >= 0)
            close(instance->inotify);
        free(instance);
        return result;
    }
    runloop_source_set_name(instance->object.source, "inotify", 0);
    list_init(&instance->trees);
    *out = first = instance;
    return 0;
}

int runloop__instance_join(const struct object_class *class, struct instance **out) {
    int result = 0;
    steady_take(&instances_lock);
    if ((*out = find()))
        runloop_source_retain((*out)->object.source);
    else
        result = make(class, out);
    if (result == 0)
        (*out)->users++;
    steady_give(&instances_lock);
    return result;
}

bool runloop__instance_leave(struct instance *instance) {
    steady_take(&instances_lock);
    bool is_last = --instance->users == 0;
    struct instance **link = &first;
    while (is_last && *link != instance)
        link = &(*link)->next;
    if (is_last)
        *link = instance->next;
    steady_give(&instances_lock);
    return is_last;
}

UNCHECKED void runloop__instance_free(void *info) {
    struct instance *instance = info;
    // The kernel's watches end with the last descriptor of the instance, so a forked child does not end its parent's.
    close(instance->inotify);
    tdestroy(instance->kernel_watches, free);
    runloop__object_end(&instance->object);
    free(instance);
}

const char *runloop_watch_describe_limit(int result) {
    switch (result) {
    case -ENOSPC: return "The user has no watches left: raise fs.inotify.max_user_watches.";
    case -EMFILE:
        return "The process has no descriptors left (ulimit -n), or the user no inotify instances: raise "
               "fs.inotify.max_user_instances.";
    default: return NULL;
    }
}
#endif // __linux__
