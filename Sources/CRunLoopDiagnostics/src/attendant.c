// attendant.c — the thread that looks at loops from outside.

#include "attendant.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/// That of a process. A forked child makes its own: its parent's has no thread there, and may be locked for ever.
struct attendant {
    uint32_t generation;
    int wake; ///< an eventfd
    pthread_mutex_t lock;
    uint32_t engagements;   ///< lock
    bool is_running;        ///< lock: there is a thread, which looks at `engagements` before it ends
    struct watch *incoming; ///< lock
    struct watch *watches;  ///< the thread's
    struct attendant *of_parent;
};

static _Atomic(struct attendant *) newest;

/// NULL and the reason if there can't be one.
static struct attendant *make(struct attendant *of_parent, int *error) {
    struct attendant *attendant = calloc(1, sizeof *attendant);
    int wake = attendant ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (wake < 0) {
        *error = attendant ? -errno : -ENOMEM;
        free(attendant);
        return NULL;
    }
    *attendant = (struct attendant){.generation = runloop_fork_generation(), .wake = wake, .of_parent = of_parent};
    pthread_mutex_init(&attendant->lock, NULL);
    return attendant;
}

/// This process's, or NULL if it has none yet.
static struct attendant *existing(void) {
    struct attendant *attendant = atomic_load(&newest);
    return attendant && attendant->generation == runloop_fork_generation() ? attendant : NULL;
}

static struct attendant *existing_or_new(int *error) {
    struct attendant *attendant = existing();
    if (attendant)
        return attendant;
    struct attendant *before = atomic_load(&newest);
    if (before && before->generation == runloop_fork_generation())
        return before;
    if (!(attendant = make(before, error)))
        return NULL;
    if (atomic_compare_exchange_strong(&newest, &before, attendant))
        return attendant;
    // Another thread was faster.
    close(attendant->wake);
    free(attendant);
    return before;
}

static void wake(struct attendant *attendant) {
    int error = errno;
    ssize_t written = write(attendant->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;
    errno = error;
}

//===-- the thread ---------------------------------------------------------------------------------------------------===//

static void take_incoming(struct attendant *attendant) {
    pthread_mutex_lock(&attendant->lock);
    while (attendant->incoming) {
        struct watch *watch = attendant->incoming;
        attendant->incoming = watch->next;
        watch->next = attendant->watches;
        attendant->watches = watch;
    }
    pthread_mutex_unlock(&attendant->lock);
}

/// Frees the watches that are over, looks at the others, and says how long until they want to be looked at again.
static int64_t look_at_watches(struct attendant *attendant) {
    int64_t pause_ns = RUNLOOP_FOREVER;
    for (struct watch **place = &attendant->watches; *place;) {
        struct watch *watch = *place;
        if (atomic_load(&watch->is_stopped)) {
            *place = watch->next;
            watch_free(watch);
            attendant_disengage();
            continue;
        }
        int64_t wait_ns = watch_look(watch);
        pause_ns = wait_ns < pause_ns ? wait_ns : pause_ns;
        place = &watch->next;
    }
    return pause_ns;
}

static bool is_needed(struct attendant *attendant) {
    pthread_mutex_lock(&attendant->lock);
    bool is_needed = attendant->is_running = attendant->engagements > 0;
    pthread_mutex_unlock(&attendant->lock);
    return is_needed;
}

static void *attend(void *context) {
    struct attendant *attendant = context;
    prctl(PR_SET_NAME, "runloop-watch");
    do {
        take_incoming(attendant);
        int64_t pause_ns = look_at_watches(attendant);
        struct pollfd wakes = {.fd = attendant->wake, .events = POLLIN};
        struct timespec pause = {.tv_sec = pause_ns / 1000000000, .tv_nsec = pause_ns % 1000000000};
        ppoll(&wakes, 1, pause_ns == RUNLOOP_FOREVER ? NULL : &pause, NULL);
        uint64_t count;
        ssize_t got = read(attendant->wake, &count, sizeof count);
        (void)got;
    } while (is_needed(attendant));
    return NULL;
}

/// With all signals blocked. HOLDS: attendant->lock.
static int start_thread(struct attendant *attendant) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, attend, attendant);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    attendant->is_running = !error;
    return -error;
}

//===-- who engages it -----------------------------------------------------------------------------------------------===//

int attendant_engage(void) {
    int error = 0;
    struct attendant *attendant = existing_or_new(&error);
    if (!attendant)
        return error;
    pthread_mutex_lock(&attendant->lock);
    if (!attendant->is_running)
        error = start_thread(attendant);
    if (!error)
        attendant->engagements++;
    pthread_mutex_unlock(&attendant->lock);
    return error;
}

void attendant_disengage(void) {
    struct attendant *attendant = existing();
    if (!attendant)
        return;
    pthread_mutex_lock(&attendant->lock);
    attendant->engagements--;
    pthread_mutex_unlock(&attendant->lock);
    wake(attendant);
}

void attendant_wake(void) {
    struct attendant *attendant = existing();
    if (attendant)
        wake(attendant);
}

void attendant_give_watch(struct watch *watch) {
    struct attendant *attendant = existing();
    pthread_mutex_lock(&attendant->lock);
    watch->next = attendant->incoming;
    attendant->incoming = watch;
    pthread_mutex_unlock(&attendant->lock);
    wake(attendant);
}
