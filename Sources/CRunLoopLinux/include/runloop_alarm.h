// runloop_alarm.h — calls at an instant of the wall clock, or of the clock that goes on while the machine is suspended. Part of
// runloop_linux.h, whose general rules hold.
//
// The timers of the core live by CLOCK_MONOTONIC, which nobody can set, and which stands still while the machine is suspended:
// they are right for "five seconds from now". An alarm is right for "at 12:00" (RUNLOOP_CLOCK_WALL) and for "when the lease is an
// hour old" (RUNLOOP_CLOCK_BOOT).
//
// Local time is the caller's: daylight saving, calendars and time zones. A program that wants "every day at 9:00 in Berlin" makes an alarm
// without an interval, and in each call computes the next instant and sets it. An interval is a time, not a day.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_ALARM_H
#define RUNLOOP_ALARM_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A clock of the machine's.
typedef enum RUNLOOP_CLOSED runloop_clock_id {
    RUNLOOP_CLOCK_WALL = 0, ///< CLOCK_REALTIME: since 1970 in UTC. It can be set.
    RUNLOOP_CLOCK_BOOT = 1, ///< CLOCK_BOOTTIME: since the machine was started, suspensions included. Nobody sets it.
} runloop_clock_id;

/// The current instant of a clock, in nanoseconds, also in a loop that has a clock of its own. O(1).
/// Returns: the instant; RUNLOOP_NEVER if there is no such clock.
RUNLOOP_EXPORT int64_t runloop_clock_get_now_ns(runloop_clock_id clock);

/// A date of a clock, or a schedule of dates.
/// If it is in several loops, one of them serves a date.
typedef runloop_source runloop_alarm;

/// The configuration of an alarm, which is copied.
typedef struct runloop_alarm_config {
    runloop_context context;
    runloop_clock_id clock;
    /// Instant of the clock, and start of the schedule. In the past: due at once. RUNLOOP_NEVER: no date yet.
    int64_t date_ns;
    /// Of the schedule. 0: no schedule, and after its call the alarm has no date until one is set.
    int64_t interval_ns;
    /// On the loop's thread, in the modes of the source, not before the clock shows the date. One call for all dates of the
    /// schedule that have come since the last call: `date_ns` is the latest of them, `missed` the number of those before it. A
    /// run of the loop in the call serves further dates. May be NULL.
    void (*RUNLOOP_SENDABLE fire)(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info);
} runloop_alarm_config;

/// Makes an alarm. It has a timerfd, which the kernel moves when the wall clock is set. If the clock is set forward over dates, they are
/// one call, as after a suspension. If it is set back, the alarm waits until the clock shows its date; a date that has had its call does
/// not get another one. (After a great correction a program may want other dates: runloop_clock_watch.) Slewing is followed. An alarm keeps
/// its modes from being empty, also without a date. O(1).
/// Errors: -EINVAL: no such clock, or a negative interval; -EMFILE, -ENFILE: it needs a descriptor; -ENOMEM; -ENOSYS, -EPERM: in a sandbox
/// without timerfd_create or timerfd_settime.
RUNLOOP_EXPORT int runloop_alarm_create(const runloop_alarm_config *config, runloop_alarm **out);

/// The next date of an alarm that has had no call. As last set, if the alarm is invalid. O(1).
/// Returns: the instant; RUNLOOP_NEVER without a date, and in a forked child for the parent's alarm.
RUNLOOP_EXPORT int64_t runloop_alarm_get_date(runloop_alarm *alarm);
/// Moves the alarm, and starts its schedule there; RUNLOOP_NEVER takes its date away. Any thread. A loop that sleeps is neither woken nor
/// delayed. In its own callback, the next date is replaced; otherwise a call that is about to begin on another thread still happens. If two
/// threads set it at once, one of the two prevails. O(1), a timerfd_settime.
/// Errors: -EINVAL: the alarm is invalid; -ECHILD.
RUNLOOP_EXPORT int runloop_alarm_set_date(runloop_alarm *alarm, int64_t date_ns);

/// The clock and the interval of an alarm, as created. RUNLOOP_CLOCK_WALL and 0 for NULL. O(1).
RUNLOOP_EXPORT runloop_clock_id runloop_alarm_get_clock(runloop_alarm *alarm);
RUNLOOP_EXPORT int64_t runloop_alarm_get_interval(runloop_alarm *alarm);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_ALARM_H
