// kernel.h — the kernel's side of waiting: the poller and the wake word. Knows nothing of modes, items or runs.
#ifndef RUNLOOP_KERNEL_H
#define RUNLOOP_KERNEL_H

#include <sys/epoll.h>

#include "base/base.h"

//===-- the poller (poller.c): epoll, eventfd, timerfd ---------------------------------------------------------------===//

struct poller {
    int set;           ///< epoll
    _Atomic int waker; ///< eventfd, watched for edges and never read; threads read the number while it is replaced
    int timer;         ///< timerfd, likewise; -1 until it is first armed
    int outer;         ///< epoll, with the set in it during a hosted run: what a host waits for; -1 until one asks
    bool is_hosted;    ///< the set is in the outer one
    bool
        is_readable; ///< thread: the eventfd was written since the set was last asked, so the set is readable until it is asked again
};

/// What a wait reports: conditions in `events` (EPOLLIN, …), and in `data.u64` the tag under which the descriptor is watched.
typedef struct epoll_event poller_event;

/// Tags of the poller's own descriptors. Other tags are the caller's.
#define TAG_WAKER UINT64_MAX
#define TAG_TIMER (UINT64_MAX - 1)

/// How many events one wait fetches. Twice as many gained nothing in measurements, one at a time cost 40 %.
enum { POLLER_BATCH = 64 };

/// Is the descriptor an eventfd, a timerfd or the like, whose 8 bytes the loop may read?
bool runloop__is_counter(int descriptor);

/// Each answers 0 or a negative errno, unless its comment says otherwise.
int runloop__poller_open(struct poller *poller);
/// Puts an empty set in place of the old one, under the same number if that still is a set: the caller watches everything anew.
int runloop__poller_reopen(struct poller *poller);
void runloop__poller_close(struct poller *poller);
/// `operation`: EPOLL_CTL_ADD, _MOD or _DEL. -EBADF for the poller's own descriptors: the program has closed one of its own whose
/// number the poller got since.
int runloop__poller_watch(struct poller *poller, int operation, int descriptor, uint64_t tag, uint32_t events);
/// False if the set's number is that of another set, which the program has made after closing it.
static inline bool poller_is_own(const struct poller *poller) {
    // Its eventfd has been in the set from the beginning.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = TAG_WAKER};
    return epoll_ctl(poller->set, EPOLL_CTL_MOD, poller->waker, &event) == 0 || errno != ENOENT;
}
/// Arms the timer for an instant of CLOCK_MONOTONIC. Makes its descriptor if there is none.
int runloop__poller_arm(struct poller *poller, int64_t instant_ns);
/// Puts the set into the outer one, which is then readable while the set has anything to report, or takes it out. The outer set is made at
/// the first call, and stays the same when the set is made anew: its descriptor is the answer, or a negative errno. Only the thread that
/// waits.
int runloop__poller_host(struct poller *poller, bool is_hosted);
/// Ends a wait under way, or the next one. Any thread, signal handlers included.
void runloop__poller_wake(struct poller *poller);
/// Makes the set readable until it is asked again, which is an edge as well. Only the thread that waits.
void runloop__poller_keep_readable(struct poller *poller);
/// Waits until something is ready, at most `timeout_ns` (0: does not sleep; RUNLOOP_FOREVER). Takes and holds no lock. How many
/// events it stored, at most POLLER_BATCH; 0 when the time is over; -EINTR after a signal; -EBADF if the set was closed.
int runloop__poller_wait(struct poller *poller, int64_t timeout_ns, poller_event *events);

//===-- the wake word (wake.c) ---------------------------------------------------------------------------------------===//

struct wake {
    _Atomic uint32_t word; ///< WAKE_ bits
};

enum {
    WAKE_RUNNING = 1, ///< a run is active
    WAKE_STOPPED = 2, ///< it was asked to stop
    WAKE_WOKEN = 4,   ///< a wake-up has come: the wait consumes it, or the next iteration ignores it
    WAKE_ASLEEP = 8,  ///< the thread is in a wait that may sleep, or on its way into one
    WAKE_KICKED = 16, ///< a sleeper is to look again, without observers being notified
    WAKE_UNNOTIFIED =
        32, ///< in or under a hosted run: since the host called last, it was not notified; whoever comes first writes the eventfd
};

/// Any thread, signal handlers included: sets `bit` if the word has `required`, and ends the sleep if that is the first reason to. An
/// iteration that begins later sees all that this thread has written (wake.c).
void runloop__wake_set(struct wake *wake, struct poller *poller, uint32_t required, uint32_t bit);
static inline uint32_t wake_word(const struct wake *wake) {
    return atomic_load_explicit(&wake->word, memory_order_relaxed);
}

/// A run begins. Returns the word of the outer run, which is kept for it. `bits`: WAKE_UNNOTIFIED or 0.
static inline uint32_t wake_enter(struct wake *wake, uint32_t bits) {
    return atomic_exchange(&wake->word, WAKE_RUNNING | bits);
}

/// The run ends, and its word is forgotten. An outer run sees what was written before that; without one, nobody looks
/// before the exchange of the next run.
static inline void wake_leave(struct wake *wake, uint32_t outer) {
    if (outer)
        atomic_exchange(&wake->word, outer);
    else
        atomic_store_explicit(&wake->word, 0, memory_order_release);
}

/// Any thread, after the change that it wakes the loop for, if that ended with a read-modify-write of what the loop looks at before a
/// sleep. After any other change: runloop__wake_set.
static inline void wake_up(struct wake *wake, struct poller *poller) {
    uint32_t word = atomic_load(&wake->word);
    if ((word & (WAKE_RUNNING | WAKE_WOKEN)) == WAKE_RUNNING || (word & WAKE_UNNOTIFIED))
        runloop__wake_set(wake, poller, WAKE_RUNNING, WAKE_WOKEN);
}

/// The host called in, so it has seen every earlier notification.
static inline void wake_host_called(struct wake *wake) {
    atomic_fetch_or(&wake->word, WAKE_UNNOTIFIED);
}

/// The thread notifies the host: it writes the eventfd after this.
static inline void wake_notify_host(struct wake *wake) {
    if (wake_word(wake) & WAKE_UNNOTIFIED)
        atomic_fetch_and(&wake->word, ~(uint32_t)WAKE_UNNOTIFIED);
}

/// An iteration begins, and the wait of the one before is over: wake-ups that came since are ignored.
static inline void wake_ignore(struct wake *wake) {
    if (wake_word(wake) & WAKE_WOKEN)
        atomic_fetch_and(&wake->word, ~(uint32_t)WAKE_WOKEN);
}

/// The loop's thread is about to sleep. True if it must not, since a wake-up or a stop came before.
static inline bool wake_announce_sleep(struct wake *wake) {
    return atomic_fetch_or(&wake->word, WAKE_ASLEEP) & (WAKE_WOKEN | WAKE_STOPPED);
}

/// After a wait: WAKE_WOKEN, WAKE_STOPPED and WAKE_KICKED, as they have come. Takes the kick. Whoever ended the wait changed the word before
/// it wrote the eventfd, so what the kernel passed on is seen here.
static inline uint32_t wake_take_news(struct wake *wake) {
    uint32_t word = atomic_load(&wake->word);
    if (word & WAKE_KICKED)
        word = atomic_fetch_and(&wake->word, ~(uint32_t)WAKE_KICKED);
    return word & (WAKE_WOKEN | WAKE_STOPPED | WAKE_KICKED);
}

/// Has anything come for a sleep that was announced, and written the eventfd?
static inline bool wake_has_come(const struct wake *wake) {
    return wake_word(wake) & (WAKE_WOKEN | WAKE_STOPPED | WAKE_KICKED);
}

/// The wait is over, and has consumed what came.
static inline void wake_finish_wait(struct wake *wake) {
    const uint32_t of_the_wait = WAKE_WOKEN | WAKE_ASLEEP | WAKE_KICKED;
    if (wake_word(wake) & of_the_wait)
        atomic_fetch_and(&wake->word, ~of_the_wait);
}

/// Has a stop or a wake-up come? A hint only.
static inline bool wake_has_news(const struct wake *wake) {
    return wake_word(wake) & (WAKE_WOKEN | WAKE_STOPPED);
}

static inline bool wake_take_stop(struct wake *wake) {
    return (wake_word(wake) & WAKE_STOPPED) && (atomic_fetch_and(&wake->word, ~(uint32_t)WAKE_STOPPED) & WAKE_STOPPED);
}

#endif // RUNLOOP_KERNEL_H
