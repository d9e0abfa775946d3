// report.h — what a report says, before it is written down in one of its forms.
#ifndef RUNLOOP_REPORT_PARTS_H
#define RUNLOOP_REPORT_PARTS_H

#include <stdio.h>

#include "activity.h"
#include "runloop_diagnostics.h"

/// What is so of an item that is due, signalled or ready, or is called.
enum standing {
    STANDING_IDLE,
    STANDING_CALLED,    ///< its call-out is open
    STANDING_AWAKE,     ///< it keeps the loop from sleeping
    STANDING_BEHIND,    ///< it waits for the call-out that runs now
    STANDING_UNKNOWN,   ///< one of these: the loop isn't followed
    STANDING_ELSEWHERE, ///< it waits for a run in its mode
    STANDING_OUTSIDE,   ///< it waits for the end of the run inside that of its mode
    STANDING_LOST,      ///< its descriptor was closed, or stands for another file
};

/// An item as it was found.
struct finding {
    runloop_item_kind kind;
    const void *item;
    char name[64];            ///< or ""
    bool is_due;              ///< a run would not sleep before it has been served
    bool is_served_elsewhere; ///< it is in the current mode as well
    bool is_lost;             ///< its descriptor was closed, or stands for another file
    enum standing standing;
    int64_t wait_ns; ///< timers: how long until the date, negative if that has passed; RUNLOOP_NEVER
    int64_t interval_ns;
    int descriptor; ///< or -1
    runloop_readiness events, ready;
};

/// What the loop has to do with a mode: nothing, if it doesn't run; it runs in it, or in one inside it, or not.
enum mode_role { MODE_WITHOUT_LOOP, MODE_CURRENT, MODE_OUTER, MODE_OTHER };

struct mode_findings {
    const char *name;
    bool is_common;
    enum mode_role role;
    bool serves_queue; ///< a run in it serves the main dispatch queue
    struct finding *items;
    uint32_t count, capacity;
    uint32_t sources, timers, observers;
};

/// Of a loop that isn't followed: whether it waits, in a sleep or in a wait that does not sleep, or is awake. Of another one, which of the
/// others.
enum loop_state { STATE_NOT_RUNNING, STATE_WAITING, STATE_AWAKE, STATE_ASLEEP, STATE_BUSY, STATE_SPINNING };

/// The main dispatch queue: whether the loop has it, whether it has work, and why that waits.
enum queue_state { QUEUE_NONE, QUEUE_IDLE, QUEUE_HAS_WORK, QUEUE_IS_INSIDE, QUEUE_IS_ELSEWHERE, QUEUE_IS_BEHIND };

struct findings {
    runloop *loop;
    bool is_main, has_statistics;
    enum loop_state state;
    const char *state_name;
    const char *mode; ///< in which it runs, or NULL
    // Only of a loop that is followed.
    int64_t now_ns;
    int64_t state_ns; ///< since when it is in this state; 0: unknown
    uint64_t awake_iterations;
    struct callout callouts[ACTIVITY_DEPTH]; ///< that are open, the outermost first
    int callout_count;
    char *stack; ///< or NULL
    enum queue_state queue;

    struct mode_findings *modes;
    size_t mode_count;
    const struct finding *longest;            ///< the timer that is overdue for the longest time, or NULL
    const struct mode_findings *longest_mode; ///< in which it is
    runloop_statistics statistics;
    char *tasks; ///< a line for each, or NULL
};

void report_write_text(FILE *text, const struct findings *findings);
void report_write_json(FILE *text, const struct findings *findings);

#endif // RUNLOOP_REPORT_PARTS_H
