// runloop_binding.h — for libraries that are built on this one: an object of theirs for each loop, objects that are sources, and the
// number of forks. Part of runloop.h, which includes it, and whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_BINDING_H
#define RUNLOOP_BINDING_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Gives a loop an object of a language binding, so that one loop is always one object there. `key` is an address that only its
/// owner uses; each key has one object. The loop takes over one reference, which `release` releases on the ending thread, after
/// everything else of the loop's end; a main loop whose thread does not end keeps it. `retain` returns the object with one more
/// reference, on the thread that asked, and makes no call of this library. The object cannot be replaced or removed. After an
/// error the object remains the caller's. O(keys).
/// Errors: -EEXIST: the key has an object already; -EINVAL; -ESHUTDOWN; -ENOMEM; -ECHILD.
RUNLOOP_EXPORT int runloop_set_associated(runloop *loop, const void *key, void *object,
                                          void *(*RUNLOOP_SENDABLE retain)(void *object),
                                          void (*RUNLOOP_SENDABLE release)(void *object));

/// The object of the calling thread's loop. A few loads; O(keys).
/// Returns: the object, borrowed: valid on this thread until its loop ends. NULL if there is no loop (none is created) or no such
/// key, or the loop has ended.
RUNLOOP_EXPORT void *runloop_current_associated(const void *key);
/// The object of any loop. O(keys).
/// Returns: the object, retained; NULL if there is no such key, or the loop's thread has ended.
RUNLOOP_EXPORT void *runloop_copy_associated(runloop *loop, const void *key);

/// The number of forks between the process that loaded the library, where it is 0, and this one. What was created under another
/// number belongs to another process. O(1).
RUNLOOP_EXPORT uint32_t runloop_fork_generation(void);

/// The info of a source that was made with that `perform` or `ready`, cast to a function without parameters: so a library whose
/// objects are sources distinguishes them from other sources. O(1).
/// Returns: the pointer; NULL if the source was made with another function.
RUNLOOP_EXPORT void *runloop_source_get_info_of(runloop_source *source, void (*RUNLOOP_SENDABLE callback)(void));

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_BINDING_H
