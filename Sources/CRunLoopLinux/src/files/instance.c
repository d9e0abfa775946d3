// instance.c — the inotify instances of a process.

#include "files/instance.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

/// As many as it has as a rule, and where the user has no further instance.
enum { MOST_USERS = 32, MOST_USERS_IN_NEED = 96 };

static struct process_lock instances_lock;
static struct instance *first GUARDED;

/// That of the thread with the fewest users, if these are less than that many.
HOLDS_LOCK static struct instance *find(uint32_t most) {
    ASSERT_HOLDS(&instances_lock);
    struct instance *found = NULL;
    for (struct instance *instance = first; instance; instance = instance->next)
        if (pthread_equal(instance->thread, pthread_self()) && instance->generation == runloop_fork_generation() &&
            instance->users < (found ? found->users : most))
            found = instance;
    return found;
}

HOLDS_LOCK static int make(struct instance **out) {
    ASSERT_HOLDS(&instances_lock);
    struct instance *instance = malloc(sizeof *instance);
    if (!instance)
        return -ENOMEM;
    *instance = (struct instance){.inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC),
                                  .generation = runloop_fork_generation(),
                                  .thread = pthread_self(),
                                  .next = first};
    if (instance->inotify < 0) {
        int result = -errno;
        free(instance);
        return result;
    }
    link_init(&instance->trees);
    *out = first = instance;
    return 0;
}

int runloop__instance_join(struct instance **out) {
    lock_take(&instances_lock);
    *out = find(MOST_USERS);
    int result = *out ? 0 : make(out);
    if (result == -EMFILE && (*out = find(MOST_USERS_IN_NEED)))
        result = 0;
    if (result == 0) {
        (*out)->users++;
        atomic_fetch_add(&(*out)->references, 1);
    }
    lock_give(&instances_lock);
    return result;
}

bool runloop__instance_leave(struct instance *instance) {
    lock_take(&instances_lock);
    bool is_last = --instance->users == 0;
    struct instance **link = &first;
    while (is_last && *link != instance)
        link = &(*link)->next;
    if (is_last)
        *link = instance->next;
    lock_give(&instances_lock);
    return is_last;
}

void runloop__instance_release(struct instance *instance) {
    if (atomic_fetch_sub(&instance->references, 1) > 1)
        return;
    // The kernel's watches end with the last descriptor of the instance, so a forked child does not end its parent's.
    close(instance->inotify);
    free(instance);
}
