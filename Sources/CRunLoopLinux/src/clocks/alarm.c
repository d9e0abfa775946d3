// alarm.c — dates of the wall clock, or of the one that goes on while the machine is suspended.
//
// A timerfd with an absolute date follows a clock that is set: the kernel moves its expiry, in both directions. But one that has
// expired stays readable if the clock is set back before the loop looks. So what counts is the clock at the time of the call, and
// a readable descriptor is a reason to look at it. The descriptor is never read: setting the next date, or none, makes it
// unreadable.

#ifdef __linux__
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "clocks/clock_timer.h"

struct alarm {
    struct object object;
    runloop_clock_id clock;
    int64_t interval_ns;
    void (*fire)(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info);
    /// Guards the date, and that the timer is set to it. Not held in calls of `fire`.
    struct process_lock lock;
    int64_t date_ns GUARDED;
};

static struct alarm *alarm_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_ALARM);
}

/// Only a sandbox refuses it.
HOLDS_LOCK static int set(struct alarm *alarm, int64_t date_ns) {
    ASSERT_HOLDS(&alarm->lock);
    alarm->date_ns = date_ns;
    return runloop__clock_timer_set(alarm->object.descriptor, date_ns);
}

/// Goes on to the next date if one has come: the latest that has, and how many there were before it.
HOLDS_LOCK static bool take_date(struct alarm *alarm, int64_t *date_ns, uint64_t *missed) {
    int64_t first = alarm->date_ns, now = runloop_clock_get_now_ns(alarm->clock), next = RUNLOOP_NEVER;
    if (first == RUNLOOP_NEVER || now < first) {
        // The clock was set back, or another thread was faster.
        set(alarm, first);
        return false;
    }
    *date_ns = first;
    *missed = 0;
    if (alarm->interval_ns) {
        // The difference of two instants may need all 64 bits.
        *missed = ((uint64_t)now - (uint64_t)first) / (uint64_t)alarm->interval_ns;
        *date_ns = (int64_t)((uint64_t)first + *missed * (uint64_t)alarm->interval_ns);
        if (__builtin_add_overflow(*date_ns, alarm->interval_ns, &next))
            next = RUNLOOP_NEVER;
    }
    set(alarm, next);
    return true;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct alarm *alarm = info;
    int64_t date_ns = 0;
    uint64_t missed = 0;
    lock_take(&alarm->lock);
    bool fires = runloop_source_is_valid(source) && take_date(alarm, &date_ns, &missed);
    lock_give(&alarm->lock);
    if (fires && alarm->fire)
        alarm->fire(alarm->object.source, date_ns, missed, alarm->object.context.info);
}

/// Time that is a program's passes to the next date of any timerfd, also to one that nobody waits for any more.
static void disarm(struct alarm *alarm) {
    runloop__clock_timer_set(alarm->object.descriptor, RUNLOOP_NEVER);
}

static void invalidated(void *info) {
    struct alarm *alarm = info;
    lock_take(&alarm->lock);
    disarm(alarm);
    lock_give(&alarm->lock);
}

static void free_alarm(void *info) {
    struct alarm *alarm = info;
    // In a forked child it is the parent's as well.
    if (!object_is_inherited(&alarm->object))
        disarm(alarm);
    close(alarm->object.descriptor);
    runloop__object_end(&alarm->object);
    free(alarm);
}

static const struct object_class alarm_class = {
    .kind = OBJECT_ALARM, .ready = ready, .invalidated = invalidated, .free = free_alarm};

int runloop_alarm_create(const runloop_alarm_config *config, runloop_alarm **out) {
    if (!config || !out || config->clock > RUNLOOP_CLOCK_BOOT || config->interval_ns < 0)
        return -EINVAL;
    const struct object_config object = {
        .context = config->context, .descriptor = runloop__clock_timer_open(config->clock), .class = &alarm_class};
    int result;
    struct alarm *alarm = runloop__object_make(sizeof *alarm, &object, &result);
    if (!alarm) {
        if (object.descriptor >= 0)
            close(object.descriptor);
        return result;
    }
    alarm->clock = config->clock;
    alarm->interval_ns = config->interval_ns;
    alarm->fire = config->fire;
    lock_take(&alarm->lock);
    result = set(alarm, config->date_ns);
    lock_give(&alarm->lock);
    if (result < 0) {
        object_give_up(&alarm->object);
        return result;
    }
    *out = alarm->object.source;
    return 0;
}

int64_t runloop_alarm_get_date(runloop_alarm *source) {
    struct alarm *alarm = alarm_of(source);
    if (!alarm || object_is_inherited(&alarm->object))
        return RUNLOOP_NEVER;
    lock_take(&alarm->lock);
    int64_t date_ns = alarm->date_ns;
    lock_give(&alarm->lock);
    return date_ns;
}

int runloop_alarm_set_date(runloop_alarm *source, int64_t date_ns) {
    struct alarm *alarm = alarm_of(source);
    if (!alarm || !runloop_source_is_valid(alarm->object.source))
        return -EINVAL;
    if (object_is_inherited(&alarm->object))
        return -ECHILD;
    lock_take(&alarm->lock);
    int64_t former_ns = alarm->date_ns;
    // Another thread may have invalidated it meanwhile.
    int result = runloop_source_is_valid(alarm->object.source) ? set(alarm, date_ns) : 0;
    if (result < 0)
        alarm->date_ns = former_ns;
    lock_give(&alarm->lock);
    return result;
}

runloop_clock_id runloop_alarm_get_clock(runloop_alarm *source) {
    struct alarm *alarm = alarm_of(source);
    return alarm ? alarm->clock : RUNLOOP_CLOCK_WALL;
}

int64_t runloop_alarm_get_interval(runloop_alarm *source) {
    struct alarm *alarm = alarm_of(source);
    return alarm ? alarm->interval_ns : 0;
}
#endif // __linux__
