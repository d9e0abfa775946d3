// attendant.c — the thread that looks at loops from outside.

#ifdef __linux__
#include "attendant.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct {
    struct process_lock lock;
    _Atomic uint32_t generation; ///< of the process that it belongs to
    _Atomic int wake;            ///< an eventfd, made with the first thread; before that -1
    uint32_t engagements GUARDED_BY(attendant_lock);
    bool is_running GUARDED_BY(attendant_lock); ///< there is a thread, which looks at `engagements` before it ends
    struct watch *incoming GUARDED_BY(attendant_lock);
    struct watch *watches;                             ///< the thread's
    struct followed *first GUARDED_BY(attendant_lock); ///< all loops that are followed
    /// NULL until somebody wants reports.
    void (*write_reports)(runloop_report_form) GUARDED_BY(attendant_lock);
    _Atomic bool is_wanted[3];                         ///< reports, by form
    _Atomic pid_t thread;                              ///< its own; 0: there is none
    _Atomic bool is_last_look_wanted, has_looked_last; ///< the process is about to end
    bool has_publication GUARDED_BY(attendant_lock);   ///< published, or about to be
    struct publication *published GUARDED_BY(attendant_lock);
    struct publication *withdrawn GUARDED_BY(attendant_lock); ///< those that the thread is to free
} attendant = {.wake = -1};

/// Without the lock, so also in a signal handler: is what it has this process's?
static bool is_ours(void) {
    return atomic_load(&attendant.generation) == runloop_fork_generation();
}

UNCHECKED static void take(void) TAKES(attendant_lock) {
    process_lock(&attendant.lock);
    if (is_ours())
        return;
    // A forked child has neither its parent's thread nor anything for it to do.
    attendant.engagements = 0;
    attendant.is_running = attendant.has_publication = false;
    atomic_store(&attendant.thread, 0);
    attendant.incoming = attendant.watches = NULL;
    attendant.first = NULL;
    attendant.write_reports = NULL;
    attendant.published = attendant.withdrawn = NULL;
    for (int form = RUNLOOP_REPORT_TEXT; form <= RUNLOOP_REPORT_STACK; form++)
        atomic_store(&attendant.is_wanted[form], false);
    atomic_store(&attendant.wake, -1);
    atomic_store(&attendant.generation, runloop_fork_generation());
}

UNCHECKED static void give(void) GIVES(attendant_lock) {
    process_unlock(&attendant.lock);
}

static void wake(void) {
    int error = errno, descriptor = atomic_load(&attendant.wake);
    ssize_t written = descriptor < 0 ? 0 : write(descriptor, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;
    errno = error;
}

static void disengage(void) {
    take();
    ASSERT(attendant.engagements > 0, "The attendant was disengaged more often than engaged.");
    attendant.engagements--;
    give();
    wake();
}

//===-- the thread ---------------------------------------------------------------------------------------------------===//

static void take_incoming(void) {
    take();
    while (attendant.incoming) {
        struct watch *watch = attendant.incoming;
        attendant.incoming = watch->next;
        watch->next = attendant.watches;
        attendant.watches = watch;
    }
    give();
}

/// Frees the watches that are over, looks at the others, and says how long until they want to be looked at again.
static int64_t look_at_watches(bool is_last) {
    int64_t pause_ns = RUNLOOP_FOREVER;
    for (struct watch **place = &attendant.watches; *place;) {
        struct watch *watch = *place;
        if (atomic_load(&watch->is_stopped)) {
            *place = watch->next;
            watch_free(watch);
            disengage();
            continue;
        }
        int64_t wait_ns = watch_look(watch, is_last);
        pause_ns = wait_ns < pause_ns ? wait_ns : pause_ns;
        place = &watch->next;
    }
    return pause_ns;
}

static void write_wanted_reports(void) {
    for (int form = RUNLOOP_REPORT_TEXT; form <= RUNLOOP_REPORT_STACK; form++) {
        if (!atomic_exchange(&attendant.is_wanted[form], false))
            continue;
        take();
        void (*write_reports)(runloop_report_form) = attendant.write_reports;
        give();
        if (write_reports)
            write_reports((runloop_report_form)form);
    }
}

/// Frees what is no longer published. What is, or NULL.
static struct publication *take_publication(void) {
    take();
    struct publication *published = attendant.published, *withdrawn = attendant.withdrawn;
    attendant.withdrawn = NULL;
    give();
    while (withdrawn) {
        struct publication *next = withdrawn->next;
        publication_free(withdrawn);
        disengage();
        withdrawn = next;
    }
    return published;
}

static bool is_needed(void) {
    take();
    bool is_needed = attendant.is_running = attendant.engagements > 0;
    if (!is_needed)
        atomic_store(&attendant.thread, 0);
    give();
    return is_needed;
}

/// A process that has lowered its RLIMIT_NOFILE since then may not poll so many descriptors. How many are ready, or a negative number.
static int await(struct pollfd *polled, int count, int64_t pause_ns) {
    static const struct timespec rest = {.tv_nsec = 100000000};
    struct timespec pause = {.tv_sec = pause_ns / 1000000000, .tv_nsec = pause_ns % 1000000000};
    int ready = ppoll(polled, (nfds_t)count, pause_ns == RUNLOOP_FOREVER ? NULL : &pause, NULL);
    return ready < 0 && errno == EINVAL ? ppoll(NULL, 0, &rest, NULL) : ready;
}

static void *attend(void *unused) {
    prctl(PR_SET_NAME, "runloop-watch");
    atomic_store(&attendant.thread, gettid());
    do {
        take_incoming();
        write_wanted_reports();
        bool is_last = atomic_load(&attendant.is_last_look_wanted);
        int64_t pause_ns = look_at_watches(is_last);
        if (is_last)
            atomic_store(&attendant.has_looked_last, true);
        struct publication *publication = take_publication();
        struct pollfd polled[1 + PUBLICATION_DESCRIPTORS] = {{.fd = attendant.wake, .events = POLLIN}};
        int others = publication ? publication_await(publication, polled + 1, &pause_ns) : 0;
        int ready = await(polled, others + 1, pause_ns);
        // If it has been withdrawn meanwhile, it is freed in the next turn.
        if (ready > 0 && publication)
            publication_serve(publication, polled + 1, others);
        uint64_t count;
        ssize_t got = read(attendant.wake, &count, sizeof count);
        (void)got;
    } while (is_needed());
    return unused;
}

static int begin(void) HOLDS(attendant_lock) {
    ASSERT_HOLDS(&attendant.lock);
    if (attendant.wake < 0) {
        int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (descriptor < 0)
            return -errno;
        attendant.wake = descriptor;
    }
    int error = start_thread(attend, NULL);
    attendant.is_running = !error;
    return error;
}

//===-- its users ----------------------------------------------------------------------------------------------------===//

int attendant_engage(void) {
    take();
    int error = attendant.is_running ? 0 : begin();
    if (!error)
        attendant.engagements++;
    give();
    return error;
}

void attendant_wake(void) {
    if (is_ours())
        wake();
}

int attendant_serve_reports(void (*write_reports)(runloop_report_form form)) {
    int error = attendant_engage();
    if (error)
        return error;
    take();
    bool served_before = attendant.write_reports;
    attendant.write_reports = write_reports;
    give();
    if (served_before)
        disengage();
    return 0;
}

void attendant_want_reports(runloop_report_form form) {
    if (!is_ours())
        return;
    atomic_store(&attendant.is_wanted[form], true);
    wake();
}

//===-- the end of the process ---------------------------------------------------------------------------------------===//

static bool is_to_look_last(void) {
    // Without the lock, since a signal handler in a thread that has it may have called exit.
    pid_t thread = atomic_load(&attendant.thread);
    return is_ours() && thread != 0 && thread != gettid();
}

/// A hang that has lasted for its limit is reported, also if it ends with the process, and a report under way is finished. A handler that takes
/// longer doesn't hold up the end.
__attribute__((destructor)) static void look_last(void) {
    enum { MOST_MILLISECONDS = 2000 };
    if (!is_to_look_last())
        return;
    atomic_store(&attendant.is_last_look_wanted, true);
    wake();
    for (int i = 0; i < MOST_MILLISECONDS && !atomic_load(&attendant.has_looked_last); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

//===-- the publication ----------------------------------------------------------------------------------------------===//

int attendant_reserve_publication(void) {
    int error = attendant_engage();
    if (error)
        return error;
    take();
    bool is_busy = attendant.has_publication;
    attendant.has_publication = true;
    give();
    if (is_busy)
        disengage();
    return is_busy ? -EBUSY : 0;
}

void attendant_publish(struct publication *publication) {
    take();
    ASSERT(attendant.has_publication && !attendant.published, "Something was published without a reservation.");
    attendant.published = publication;
    attendant.has_publication = publication;
    give();
    if (publication)
        wake();
    else
        disengage();
}

void attendant_unpublish(void) {
    take();
    struct publication *publication = attendant.published;
    if (publication) {
        // Before somebody publishes there again.
        publication_withdraw(publication);
        publication->next = attendant.withdrawn;
        attendant.withdrawn = publication;
        attendant.published = NULL;
        attendant.has_publication = false;
    }
    give();
    wake();
}

//===-- followed loops -----------------------------------------------------------------------------------------------===//

void attendant_list(struct followed *followed) {
    followed->generation = runloop_fork_generation();
    take();
    followed->next = attendant.first;
    followed->place = &attendant.first;
    if (followed->next)
        followed->next->place = &followed->next;
    attendant.first = followed;
    give();
}

void attendant_unlist(struct followed *followed) {
    // One of the parent's is in the parent's list.
    if (followed->generation != runloop_fork_generation())
        return;
    take();
    ASSERT(*followed->place == followed, "A loop left the list of followed ones, and was not in it.");
    *followed->place = followed->next;
    if (followed->next)
        followed->next->place = followed->place;
    give();
}

runloop **attendant_copy_loops(void) {
    take();
    size_t count = 0;
    for (struct followed *followed = attendant.first; followed; followed = followed->next)
        count++;
    runloop **loops = malloc((count + 1) * sizeof(runloop *));
    if (loops) {
        runloop **next = loops;
        for (struct followed *followed = attendant.first; followed; followed = followed->next)
            *next++ = runloop_retain(followed->loop);
        *next = NULL;
    }
    give();
    return loops;
}

void attendant_give_watch(struct watch *watch) {
    take();
    watch->next = attendant.incoming;
    attendant.incoming = watch;
    give();
    wake();
}
#endif // __linux__
