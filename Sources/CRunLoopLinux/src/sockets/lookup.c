// lookup.c — names are looked up by getaddrinfo, which may take as long as it likes and can't be interrupted.
//
// So it has a thread, for which the caller does not wait: it takes the result when its source is called, or leaves the look-up behind, and
// the thread frees it. A thread allocates nothing but what getaddrinfo does.

#ifdef __linux__
#include "sockets/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/lock.h"

/// Those whose look-up nobody waits for any more don't count among the first, but there is an end of them, too.
enum { MOST_THREADS = 16, MOST_WITH_ABANDONED = 128 };

static struct {
    /// Guards what follows, and of each look-up its node, source, `is_running` and `is_abandoned`.
    struct steady_lock lock;
    uint32_t generation GUARDED;
    int threads GUARDED, abandoned GUARDED;
    struct list waiting GUARDED;
} lookups = {.waiting = {&lookups.waiting, &lookups.waiting}};

TAKES_LOCK static void take(void) {
    steady_take(&lookups.lock);
    if (lookups.generation == runloop_fork_generation())
        return;
    // A forked child has neither its parent's threads nor anything for them to do.
    lookups.generation = runloop_fork_generation();
    lookups.threads = lookups.abandoned = 0;
    list_init(&lookups.waiting);
}

GIVES_LOCK static void give(void) {
    steady_give(&lookups.lock);
}

static void free_lookup(struct lookup *lookup) {
    // In a forked child the thread may have been about to write it.
    if (lookup_is_done(lookup) && lookup->found)
        freeaddrinfo(lookup->found);
    free(lookup);
}

/// What getaddrinfo says, as an errno value. All that is not listed means that there is no address.
static int error_of(int code) {
    switch (code) {
    case 0: return 0;
    case EAI_SYSTEM: return errno ? -errno : -EIO;
    case EAI_MEMORY: return -ENOMEM;
    case EAI_AGAIN: return -EAGAIN;
    case EAI_FAIL: return -EIO;
    default: return -ENOENT;
    }
}

/// Without descriptors getaddrinfo finds no name, and says the same as of a name that is not there. 0, or why it could not look.
static int shortage(void) {
    int descriptor = epoll_create1(EPOLL_CLOEXEC), error = descriptor < 0 ? -errno : 0;
    if (descriptor >= 0)
        close(descriptor);
    return error == -EMFILE || error == -ENFILE ? error : 0;
}

static void look_up(struct lookup *lookup) {
    const struct addrinfo hints = {.ai_family = lookup->family, .ai_socktype = SOCK_STREAM};
    int code = getaddrinfo(lookup->host, NULL, &hints, &lookup->found);
    lookup->error = error_of(code);
    int missing = lookup->error == -ENOENT || lookup->error == -EAGAIN ? shortage() : 0;
    lookup->error = missing ? missing : lookup->error;
    lookup->name_error = code == 0 || code == EAI_SYSTEM || missing ? NULL : gai_strerror(code);
    lookup->found = code == 0 ? lookup->found : NULL;
}

HOLDS_LOCK static void hand_over(struct lookup *lookup) {
    ASSERT_HOLDS(&lookups.lock.lock);
    atomic_store_explicit(&lookup->is_done, true, memory_order_release);
    if (lookup->is_abandoned) {
        lookups.abandoned--;
        free_lookup(lookup);
    } else {
        runloop_source_wake(lookup->source);
    }
}

/// Serves the look-ups that wait, and ends.
static void *serve(void *unused) {
    take();
    while (!list_is_empty(&lookups.waiting)) {
        struct lookup *lookup = LIST_ENTRY(lookups.waiting.next, struct lookup, node);
        list_remove(&lookup->node);
        lookup->is_running = true;
        give();
        look_up(lookup);
        take();
        hand_over(lookup);
    }
    lookups.threads--;
    give();
    return unused;
}

HOLDS_LOCK static int start_one_more(void) {
    ASSERT_HOLDS(&lookups.lock.lock);
    if (lookups.threads - lookups.abandoned >= MOST_THREADS || lookups.threads >= MOST_WITH_ABANDONED)
        return 0;
    int result = start_thread(serve, NULL);
    lookups.threads += result == 0;
    return result;
}

/// Threads that are there come to it, too, before they end.
static int enqueue(struct lookup *lookup) {
    take();
    int result = start_one_more();
    if (lookups.threads > 0) {
        list_insert_before(&lookups.waiting, &lookup->node);
        result = 0;
    }
    give();
    return result;
}

int runloop__lookup_begin(const char *host, int family, runloop_source *source, struct lookup **out) {
    size_t size = strlen(host) + 1;
    struct lookup *lookup = calloc(1, sizeof *lookup + size);
    if (!lookup)
        return -ENOMEM;
    list_init(&lookup->node);
    memcpy(lookup->host, host, size);
    lookup->family = family;
    lookup->generation = runloop_fork_generation();
    lookup->source = source;
    int result = enqueue(lookup);
    if (result < 0)
        free_lookup(lookup);
    else
        *out = lookup;
    return result;
}

void runloop__lookup_end(struct lookup *lookup) {
    if (!lookup)
        return;
    if (lookup->generation != runloop_fork_generation()) {
        free_lookup(lookup);
        return;
    }
    take();
    list_remove(&lookup->node);
    lookup->is_abandoned = lookup->is_running && !lookup_is_done(lookup);
    if (!lookup->is_abandoned)
        free_lookup(lookup);
    else
        lookups.abandoned++;
    // Its thread may hang for long: others don't wait for that. If there is no thread, it is a little later for them.
    if (!list_is_empty(&lookups.waiting))
        start_one_more();
    give();
}
#endif // __linux__
