// watch.h — what the watchdog knows of a loop: written by the loop's thread, looked at by the attendant.
#ifndef RUNLOOP_WATCH_H
#define RUNLOOP_WATCH_H

#include "activity.h"
#include "runloop_diagnostics.h"

/// Iterations without a sleep, and the calls in them: of all items, and of the eight that were called first, the greatest number first.
struct spin {
    uint64_t iterations;
    int64_t duration_ns;
    uint32_t calls;
    int count;
    struct spin_item {
        struct callout callout;
        int descriptor; ///< or -1
        uint32_t calls;
    } items[8];
};

/// Instants of the heartbeat are doubled, and odd while the loop is busy.
enum { BEAT_IS_BUSY = 1 };

struct watch {
    struct watch *next;        ///< attendant's lock, then its thread
    runloop *loop;             ///< retained
    struct activity *activity; ///< retained
    runloop_watchdog_config config;
    _Atomic bool is_stopped; ///< the loop's thread no longer has it

    // Written by the loop's thread.
    _Atomic int64_t beat;     ///< when it last came back
    _Atomic int64_t ended_ns; ///< when it came back after `awaited`
    _Atomic bool has_spun;    ///< `found` is to be reported, and the attendant's until it has set this back
    struct spin found;
    _Atomic uint32_t queue_served; ///< how often it was
    // Written by the attendant; the loop's thread takes it back when it comes.
    _Atomic int64_t awaited; ///< the beat that was the last before a hang, or 0

    // The loop's thread.
    int64_t unwatched_iterations; ///< since the last sleep, before the watchdog was started
    struct spin spin;             ///< since the last sleep, its calls from half of the limit on

    // The attendant.
    int64_t looked_ns;         ///< when it last looked, or 0
    int64_t sources_looked_ns; ///< when it last looked for lost descriptors
    int64_t sources_pause_ns;  ///< and how long until the next look
    int64_t seen_beat, stuck_ns, discounted_ns;
    struct callout culprit; ///< of the hang that has been reported
    bool is_hung;
    uint32_t seen_served;
    int64_t starved_ns; ///< how long work has been seen in the main queue, or may have waited in it; or 0
    bool is_starved;    ///< which has been reported
    bool is_supposed;   ///< none was seen, but may be behind the work that the loop is in
};

/// The attendant: looks at the loop and reports what it finds; before the end of the process without a pause since the last look. How long until
/// it wants to look again.
int64_t watch_look(struct watch *watch, bool is_last);
/// The attendant: with it goes the handler's context.
void watch_free(struct watch *watch);

/// Completes the diagnosis by the call-out that it is about, or by the spin's items, the sentence, and for a loop that is held up the stack, and
/// hands it to the handler.
void diagnosis_report(const struct watch *watch, runloop_diagnosis *diagnosis, const struct callout *callout,
                      const struct spin *spin);

#endif // RUNLOOP_WATCH_H
