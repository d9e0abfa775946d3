// catcher.h — signals of the process become records in pipes.
//
// A catcher has a pipe, and a set of signals for which the handler writes records to it. What does not fit in the pipe is counted.
#ifndef RUNLOOP_CATCHER_H
#define RUNLOOP_CATCHER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catcher;

/// One arrival. 32 bytes, so that a page of a pipe has no half of one.
struct catcher_record {
    int32_t number; ///< 0: no arrival, but a reason to look at what was counted
    int32_t code;
    int32_t pid;
    uint32_t uid;
    int64_t value;
    int64_t padding;
};

enum { LAST_SIGNAL = 64 };

/// A set of signals: signal n is bit n - 1.
static inline uint64_t catcher_bit(int number) {
    return UINT64_C(1) << (number - 1);
}

/// Is it a number of a signal that can be caught? (signal_numbers.c)
bool runloop__signal_can_be_caught(int32_t number);

enum {
    CATCHER_FORCES = 1, ///< also signals that are ignored
    /// Only the first arrival is recorded. One that is later by more than CATCHER_GRACE_NS, or comes from a timer, ends the process as
    /// the signal does by default.
    CATCHER_ONCE = 2,
};
/// Some senders send a signal twice: to a process, and to its group.
#define CATCHER_GRACE_NS INT64_C(250000000)

/// Begins to catch the signals. 0; -EMFILE, -ENFILE, -ENOMEM, -EINVAL.
int runloop__catcher_open(uint64_t signals, unsigned flags, struct catcher **out);
/// Those that it was opened with, the ignored ones, too.
uint64_t runloop__catcher_wanted(const struct catcher *catcher);
/// Readable when there are records.
int runloop__catcher_descriptor(const struct catcher *catcher);
/// Those of the signals that are caught; none after the end.
uint64_t runloop__catcher_signals(struct catcher *catcher);
/// Reads at most `capacity` records. 0 if there are none.
size_t runloop__catcher_read(struct catcher *catcher, struct catcher_record *records, size_t capacity);
/// The number of arrivals that did not fit in the pipe, which is 0 then. To be called after a read.
uint64_t runloop__catcher_take_unrecorded(struct catcher *catcher);

/// Looks whether all that is caught still is. What libdispatch has taken is noticed through libdispatch from then on; of anything else a
/// note on standard error names the owner.
void runloop__catchers_check(void);
/// Those of the signals whose handler is ours, or which are noticed through libdispatch.
uint64_t runloop__signals_caught(uint64_t signals);
/// Is it noticed through libdispatch, which does not say which process sent it, and how?
bool runloop__signal_is_shared(int number);

/// What the kernel says of an arrival (record.c). Async-signal-safe, as the next one.
struct catcher_record runloop__catcher_record_of(int number, const siginfo_t *info);
/// Does the kernel pass the handler of the signal more than its number?
bool runloop__signal_has_info(int number);

/// Ends it: signals that nobody else catches have their former effect again. Idempotent.
void runloop__catcher_end(struct catcher *catcher);
/// Ends and frees it. Nobody reads from it any more.
void runloop__catcher_release(struct catcher *catcher);

#endif // RUNLOOP_CATCHER_H
