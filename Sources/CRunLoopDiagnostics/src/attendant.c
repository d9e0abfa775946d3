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

/// That of a process. A forked child makes its own: its parent's has no thread there.
struct attendant {
    uint32_t generation;
    _Atomic int wake; ///< an eventfd, made with the first thread; before that -1
    struct process_lock lock;
    uint32_t engagements GUARDED_BY(attendant_lock);
    bool is_running GUARDED_BY(attendant_lock); ///< there is a thread, which looks at `engagements` before it ends
    struct watch *incoming GUARDED_BY(attendant_lock);
    struct watch *watches;                             ///< the thread's
    struct followed *first GUARDED_BY(attendant_lock); ///< all loops that are followed
    /// NULL until somebody wants reports.
    void (*write_reports)(runloop_report_form) GUARDED_BY(attendant_lock);
    _Atomic bool is_wanted[3];                       ///< reports, by form
    bool has_publication GUARDED_BY(attendant_lock); ///< published, or about to be
    struct publication *published GUARDED_BY(attendant_lock);
    struct publication *withdrawn GUARDED_BY(attendant_lock); ///< those that the thread is to free
    struct attendant *of_parent;
};

UNCHECKED static void take(struct attendant *attendant) TAKES(attendant_lock) {
    process_lock(&attendant->lock);
}

UNCHECKED static void give(struct attendant *attendant) GIVES(attendant_lock) {
    process_unlock(&attendant->lock);
}

static _Atomic(struct attendant *) newest;

/// NULL and the reason if there can't be one.
static struct attendant *make(struct attendant *of_parent, int *error) {
    struct attendant *attendant = calloc(1, sizeof *attendant);
    if (!attendant) {
        *error = -ENOMEM;
        return NULL;
    }
    *attendant = (struct attendant){.generation = runloop_fork_generation(), .wake = -1, .of_parent = of_parent};
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
    free(attendant);
    return before;
}

static void wake(struct attendant *attendant) {
    int error = errno, descriptor = atomic_load(&attendant->wake);
    ssize_t written = descriptor < 0 ? 0 : write(descriptor, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;
    errno = error;
}

//===-- the thread ---------------------------------------------------------------------------------------------------===//

static void take_incoming(struct attendant *attendant) {
    take(attendant);
    while (attendant->incoming) {
        struct watch *watch = attendant->incoming;
        attendant->incoming = watch->next;
        watch->next = attendant->watches;
        attendant->watches = watch;
    }
    give(attendant);
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

static void write_wanted_reports(struct attendant *attendant) {
    for (int form = RUNLOOP_REPORT_TEXT; form <= RUNLOOP_REPORT_STACK; form++) {
        if (!atomic_exchange(&attendant->is_wanted[form], false))
            continue;
        take(attendant);
        void (*write_reports)(runloop_report_form) = attendant->write_reports;
        give(attendant);
        if (write_reports)
            write_reports((runloop_report_form)form);
    }
}

/// Frees what is no longer published. What is, or NULL.
static struct publication *take_publication(struct attendant *attendant) {
    take(attendant);
    struct publication *published = attendant->published, *withdrawn = attendant->withdrawn;
    attendant->withdrawn = NULL;
    give(attendant);
    while (withdrawn) {
        struct publication *next = withdrawn->next;
        publication_free(withdrawn);
        attendant_disengage();
        withdrawn = next;
    }
    return published;
}

static bool is_needed(struct attendant *attendant) {
    take(attendant);
    bool is_needed = attendant->is_running = attendant->engagements > 0;
    give(attendant);
    return is_needed;
}

/// A process that has lowered its RLIMIT_NOFILE since then may not poll so many descriptors. How many are ready, or a negative number.
static int await(struct pollfd *polled, int count, int64_t pause_ns) {
    static const struct timespec rest = {.tv_nsec = 100000000};
    struct timespec pause = {.tv_sec = pause_ns / 1000000000, .tv_nsec = pause_ns % 1000000000};
    int ready = ppoll(polled, (nfds_t)count, pause_ns == RUNLOOP_FOREVER ? NULL : &pause, NULL);
    return ready < 0 && errno == EINVAL ? ppoll(NULL, 0, &rest, NULL) : ready;
}

static void *attend(void *context) {
    struct attendant *attendant = context;
    prctl(PR_SET_NAME, "runloop-watch");
    do {
        take_incoming(attendant);
        write_wanted_reports(attendant);
        int64_t pause_ns = look_at_watches(attendant);
        struct publication *publication = take_publication(attendant);
        struct pollfd polled[1 + PUBLICATION_DESCRIPTORS] = {{.fd = attendant->wake, .events = POLLIN}};
        int others = publication ? publication_await(publication, polled + 1, &pause_ns) : 0;
        int ready = await(polled, others + 1, pause_ns);
        // If it has been withdrawn meanwhile, it is freed in the next turn.
        if (ready > 0 && publication)
            publication_serve(publication, polled + 1, others);
        uint64_t count;
        ssize_t got = read(attendant->wake, &count, sizeof count);
        (void)got;
    } while (is_needed(attendant));
    return NULL;
}

/// With all signals blocked.
static int start_thread(struct attendant *attendant) HOLDS(attendant_lock) {
    ASSERT_HOLDS(&attendant->lock);
    if (attendant->wake < 0) {
        int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (descriptor < 0)
            return -errno;
        attendant->wake = descriptor;
    }
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
    take(attendant);
    if (!attendant->is_running)
        error = start_thread(attendant);
    if (!error)
        attendant->engagements++;
    give(attendant);
    return error;
}

void attendant_disengage(void) {
    struct attendant *attendant = existing();
    if (!attendant)
        return;
    take(attendant);
    ASSERT(attendant->engagements > 0, "The attendant was disengaged more often than engaged.");
    attendant->engagements--;
    give(attendant);
    wake(attendant);
}

void attendant_wake(void) {
    struct attendant *attendant = existing();
    if (attendant)
        wake(attendant);
}

int attendant_serve_reports(void (*write_reports)(runloop_report_form form)) {
    int error = attendant_engage();
    if (error)
        return error;
    struct attendant *attendant = existing();
    take(attendant);
    bool served_before = attendant->write_reports;
    attendant->write_reports = write_reports;
    give(attendant);
    if (served_before)
        attendant_disengage();
    return 0;
}

void attendant_want_reports(runloop_report_form form) {
    struct attendant *attendant = existing();
    if (!attendant)
        return;
    atomic_store(&attendant->is_wanted[form], true);
    wake(attendant);
}

//===-- the publication ----------------------------------------------------------------------------------------------===//

int attendant_reserve_publication(void) {
    int error = attendant_engage();
    if (error)
        return error;
    struct attendant *attendant = existing();
    take(attendant);
    bool is_busy = attendant->has_publication;
    attendant->has_publication = true;
    give(attendant);
    if (is_busy)
        attendant_disengage();
    return is_busy ? -EBUSY : 0;
}

void attendant_publish(struct publication *publication) {
    struct attendant *attendant = existing();
    take(attendant);
    ASSERT(attendant->has_publication && !attendant->published, "Something was published without a reservation.");
    attendant->published = publication;
    attendant->has_publication = publication;
    give(attendant);
    if (publication)
        wake(attendant);
    else
        attendant_disengage();
}

void attendant_unpublish(void) {
    struct attendant *attendant = existing();
    if (!attendant)
        return;
    take(attendant);
    struct publication *publication = attendant->published;
    if (publication) {
        // Before somebody publishes there again.
        publication_withdraw(publication);
        publication->next = attendant->withdrawn;
        attendant->withdrawn = publication;
        attendant->published = NULL;
        attendant->has_publication = false;
    }
    give(attendant);
    wake(attendant);
}

//===-- followed loops -----------------------------------------------------------------------------------------------===//

int attendant_list(struct followed *followed) {
    int error = 0;
    struct attendant *attendant = existing_or_new(&error);
    if (!attendant)
        return error;
    followed->generation = attendant->generation;
    take(attendant);
    followed->next = attendant->first;
    followed->place = &attendant->first;
    if (followed->next)
        followed->next->place = &followed->next;
    attendant->first = followed;
    give(attendant);
    return 0;
}

void attendant_unlist(struct followed *followed) {
    struct attendant *attendant = existing();
    // One of the parent's is in the parent's list.
    if (!attendant || followed->generation != attendant->generation)
        return;
    take(attendant);
    ASSERT(*followed->place == followed, "A loop left the list of followed ones, and was not in it.");
    *followed->place = followed->next;
    if (followed->next)
        followed->next->place = followed->place;
    give(attendant);
}

runloop **attendant_copy_loops(void) {
    struct attendant *attendant = existing();
    if (!attendant)
        return NULL;
    take(attendant);
    size_t count = 0;
    for (struct followed *followed = attendant->first; followed; followed = followed->next)
        count++;
    runloop **loops = malloc((count + 1) * sizeof(runloop *));
    if (loops) {
        runloop **next = loops;
        for (struct followed *followed = attendant->first; followed; followed = followed->next)
            *next++ = runloop_retain(followed->loop);
        *next = NULL;
    }
    give(attendant);
    return loops;
}

void attendant_give_watch(struct watch *watch) {
    struct attendant *attendant = existing();
    take(attendant);
    watch->next = attendant->incoming;
    attendant->incoming = watch;
    give(attendant);
    wake(attendant);
}
