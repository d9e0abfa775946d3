// instance.h — an inotify instance, which the watches that a thread makes have together.
//
// A user may have 128 of them. Each watch has it in an epoll set of its own, so whichever loop and mode can take a notification wakes up, and
// reads for all of them: a notification is noted in each tree that it concerns, and the other watches are made ready. The kernel
// bounds in how many sets, which are in sets, a descriptor may be (500, or 100 if a host has the loop), and wakes each of them, so an
// instance has a limited number of watches: few, as long as the user has instances, and up to that bound afterwards.
#ifndef RUNLOOP_INSTANCE_H
#define RUNLOOP_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/link.h"
#include "base/lock.h"

struct instance {
    int inotify;
    uint32_t generation;    ///< of forks
    pthread_t thread;       ///< that made it; one with the same name later may join it as well
    uint32_t users GUARDED; ///< lock of all instances: those that use it; with none it is not found any more
    _Atomic uint32_t references;
    struct instance *next GUARDED; ///< lock of all instances
    /// Guards the trees and what belongs to them. Not held in call-outs.
    struct steady_lock lock;
    struct link trees GUARDED;
};

/// The instance of the calling thread that has space for another watch, found or made. -EMFILE, -ENFILE, -ENOMEM.
int runloop__instance_join(struct instance **out);
/// The watch uses it no more. Whether it was the last one, which nobody else follows: the instance ends with its release.
bool runloop__instance_leave(struct instance *instance);
void runloop__instance_release(struct instance *instance);

#endif // RUNLOOP_INSTANCE_H
