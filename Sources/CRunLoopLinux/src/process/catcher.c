// catcher.c — the catchers of the process, and what the handler of handling.c writes to them.
//
// The handler walks a list of catchers that only grows; a catcher that has ended is used again. So that it never writes to a descriptor
// that was closed, it enters a catcher before it uses it: `users` counts the owner and the handlers inside, and the last to leave after
// the end closes the pipe.
//
// No arrival is lost. An arrival is a record in the pipe. If the pipe is full, it is counted first, and then the handler tries to write
// a record that is no arrival. If that does not fit either, the pipe is full after the counting, so a reader will still read a record,
// and take the count after that.

#ifdef __linux__
#include "process/catcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "process/handling.h"
#include "process/signal_notes.h"
#include "runloop_signal.h"

/// In `users`: it has ended, so no handler enters; it may be used again.
enum { ENDED = 1 << 30, IDLE = 1 << 29 };

struct catcher {
    struct catcher *next; ///< constant
    /// The owner and the handlers inside, or ENDED and those that are still inside, or IDLE. Opened with release, entered with acquire: a
    /// handler that is inside sees the fields below.
    _Atomic uint32_t users;
    // Constant while it is open: what is caught and how, and the pipe.
    uint64_t signals, wanted;
    /// The process that made the pipe. A forked child has the same pipe, and its signals are not the parent's.
    uint32_t generation;
    int reader, writer;
    unsigned flags;
    /// Arrivals that did not fit in the pipe.
    _Atomic uint64_t unrecorded;
    /// When the first signal arrived, for CATCHER_ONCE. 0: none has.
    _Atomic int64_t first_ns;
};

/// The newest catcher, from which all others are found. Stored with release, once each is complete.
static _Atomic(struct catcher *) newest;

//===-- in the handler -----------------------------------------------------------------------------------------------===//

static bool enter(struct catcher *catcher) {
    uint32_t users = atomic_load_explicit(&catcher->users, memory_order_relaxed);
    while (!(users & (ENDED | IDLE)))
        if (atomic_compare_exchange_weak_explicit(&catcher->users, &users, users + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/// The release orders what the caller did before the closing; the acquire, the closing after what others did.
static void leave(struct catcher *catcher) {
    if (atomic_fetch_sub_explicit(&catcher->users, 1, memory_order_acq_rel) != (ENDED | 1))
        return;
    // As `put`.
    syscall(SYS_close, catcher->reader);
    syscall(SYS_close, catcher->writer);
    atomic_store_explicit(&catcher->users, IDLE, memory_order_release);
}

/// Is it the first arrival at a catcher that records only one? Ends the process for one that is neither the first nor belongs to it.
static bool is_first(struct catcher *catcher, const struct catcher_record *record) {
    int64_t now = runloop_get_now_ns(NULL), first = 0;
    if (atomic_compare_exchange_strong(&catcher->first_ns, &first, now))
        return true;
    if (now - first > CATCHER_GRACE_NS || record->code == SI_TIMER)
        runloop_end_process_by_signal(record->number);
    return false;
}

/// Does not block. Not the function of the C library, in which a thread that is to be cancelled would end, inside the handler.
static bool put(struct catcher *catcher, const struct catcher_record *record) {
    return syscall(SYS_write, catcher->writer, record, sizeof *record) == (long)sizeof *record;
}

static void deliver(struct catcher *catcher, const struct catcher_record *record) {
    if ((catcher->flags & CATCHER_ONCE) && !is_first(catcher, record))
        return;
    if (put(catcher, record))
        return;
    atomic_fetch_add(&catcher->unrecorded, 1);
    const struct catcher_record look = {0};
    put(catcher, &look);
}

/// To all that catch the signal.
static void deliver_to_all(uint32_t generation, const struct catcher_record *record) {
    for (struct catcher *catcher = atomic_load_explicit(&newest, memory_order_acquire); catcher;
         catcher = catcher->next) {
        if (!enter(catcher))
            continue;
        if (catcher->generation == generation && (catcher->signals & catcher_bit(record->number)))
            deliver(catcher, record);
        leave(catcher);
    }
}

//===-- the life of a catcher ----------------------------------------------------------------------------------------===//

/// An idle one, or a new one that is idle.
HOLDS_LOCK static struct catcher *idle_catcher(void) {
    for (struct catcher *catcher = newest; catcher; catcher = catcher->next)
        if (atomic_load_explicit(&catcher->users, memory_order_acquire) == IDLE)
            return catcher;
    struct catcher *catcher = calloc(1, sizeof *catcher);
    if (!catcher)
        return NULL;
    catcher->next = newest;
    atomic_init(&catcher->users, IDLE);
    atomic_store_explicit(&newest, catcher, memory_order_release);
    return catcher;
}

HOLDS_LOCK static int open_catcher(uint64_t signals, unsigned flags, struct catcher **out) {
    ASSERT_HOLDS(&runloop__handling_lock.lock);
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
        return -errno;
    struct catcher *catcher = idle_catcher();
    if (!catcher) {
        close(ends[0]);
        close(ends[1]);
        return -ENOMEM;
    }
    catcher->signals = signals;
    catcher->flags = flags;
    catcher->generation = runloop__handling_generation();
    catcher->reader = ends[0];
    catcher->writer = ends[1];
    atomic_store(&catcher->unrecorded, 0);
    atomic_store(&catcher->first_ns, 0);
    // Before the first signal is caught, or one could be lost.
    atomic_store_explicit(&catcher->users, 1, memory_order_release);
    *out = catcher;
    return 0;
}

int runloop__catcher_open(uint64_t signals, unsigned flags, struct catcher **out) {
    const uint64_t wanted = signals;
    steady_take(&runloop__handling_lock);
    runloop__handling_begin_process();
    signals = runloop__handling_without_ignored(signals, flags);
    int result = open_catcher(signals, flags, out);
    if (result == 0 && (result = runloop__handling_begin(signals, flags, deliver_to_all)) < 0) {
        atomic_fetch_or(&(*out)->users, ENDED);
        leave(*out);
    }
    steady_give(&runloop__handling_lock);
    if (result == 0) {
        (*out)->wanted = wanted;
        runloop__note_ignored(wanted & ~signals);
    }
    return result;
}

HOLDS_LOCK static void end(struct catcher *catcher) {
    if (atomic_load(&catcher->users) & ENDED)
        return;
    // An inherited one is not counted here.
    if (catcher->generation == runloop__handling_generation() && catcher->generation == runloop_fork_generation())
        runloop__handling_end(catcher->signals, catcher->flags);
    atomic_fetch_or(&catcher->users, ENDED);
}

void runloop__catcher_end(struct catcher *catcher) {
    steady_take(&runloop__handling_lock);
    end(catcher);
    steady_give(&runloop__handling_lock);
}

void runloop__catcher_release(struct catcher *catcher) {
    runloop__catcher_end(catcher);
    leave(catcher);
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

int runloop__catcher_descriptor(const struct catcher *catcher) {
    return catcher->reader;
}

uint64_t runloop__catcher_wanted(const struct catcher *catcher) {
    return catcher->wanted;
}

uint64_t runloop__catcher_signals(struct catcher *catcher) {
    return atomic_load(&catcher->users) & ENDED ? 0 : catcher->signals;
}

size_t runloop__catcher_read(struct catcher *catcher, struct catcher_record *records, size_t capacity) {
    long bytes;
    // As `put`: what was read before would be lost with the thread.
    do
        bytes = syscall(SYS_read, catcher->reader, records, capacity * sizeof *records);
    while (bytes < 0 && errno == EINTR);
    return bytes > 0 ? (size_t)bytes / sizeof *records : 0;
}

uint64_t runloop__catcher_take_unrecorded(struct catcher *catcher) {
    return atomic_exchange(&catcher->unrecorded, 0);
}
#endif // __linux__
