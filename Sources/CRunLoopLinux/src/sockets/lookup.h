// lookup.h — the addresses of a name, from getaddrinfo, on a thread that is made for it.
#ifndef RUNLOOP_LOOKUP_H
#define RUNLOOP_LOOKUP_H

#include <netdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runloop.h"
#include "runloop_list.h"

struct lookup {
    struct list node; ///< among those that wait for a thread
    uint32_t generation;
    int family;
    runloop_source *source; ///< signalled when it is done, unless it was ended before: not retained
    bool is_running, is_abandoned;
    /// Written last by the thread, with release: a thread that has seen it may read what follows, which is not written again.
    _Atomic bool is_done;
    int error;              ///< a negative errno value, or 0
    const char *name_error; ///< of gai_strerror, or NULL
    struct addrinfo *found; ///< NULL after an error
    char host[];
};

/// Begins. The source is woken by its result, until runloop__lookup_end. -ENOMEM; -EAGAIN: no thread.
int runloop__lookup_begin(const char *host, int family, runloop_source *source, struct lookup **out);

static inline bool lookup_is_done(const struct lookup *lookup) {
    return atomic_load_explicit(&lookup->is_done, memory_order_acquire);
}

/// Frees it, with what was found; if a thread still works at it, when getaddrinfo returns. NULL is ignored.
void runloop__lookup_end(struct lookup *lookup);

#endif // RUNLOOP_LOOKUP_H
