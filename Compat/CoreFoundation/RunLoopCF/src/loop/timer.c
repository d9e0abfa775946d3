// timer.c — timers: created with dates of the wall clock, fired by instants of the loop's clock, moved, invalidated.
//
// A date that is past when it is set means now, and the fire schedule starts there. The getter still returns the date as it was given,
// until the timer fires. So a timer remembers both: the given date, and the instant to which its core timer was set.

#include "loop/loop.h"

#include <pthread.h>

/// Stands for the locks of all timers; never defined.
extern struct process_lock timer_lock;

/// Timers that were given a date in the past: only they know which date the getter of their mode returns. Taken after a timer's own lock.
static struct process_lock past_lock;
static struct __CFRunLoopTimer *past_timers GUARDED_BY(past_lock);
static _Thread_local char this_thread;

struct __CFRunLoopTimer {
    struct cf_item item;
    runloop_timer *core; ///< constant; one reference as long as the object is referenced
    CFRunLoopTimerCallBack callout;
    CFRunLoopTimerContext context;
    CFTimeInterval interval;
    CFIndex order;
    struct process_lock lock; ///< is held while the dates are passed to the core
    // Written under past_lock, too, so that its holder may read the dates of all timers.
    CFAbsoluteTime given GUARDED_BY(timer_lock); ///< the date as it was set
    int64_t set_ns GUARDED_BY(timer_lock);       ///< the instant to which the core timer was set
    /// The date of that instant: `given`, or the time of the call if `given` was past then.
    CFAbsoluteTime set_date GUARDED_BY(timer_lock);
    /// In the list of timers whose date was past.
    struct __CFRunLoopTimer *next_past GUARDED_BY(past_lock), **link_past GUARDED_BY(past_lock);
    _Atomic(const void *) bracket; ///< the thread whose callback is between a `retain` and a `release` of the info
    _Atomic bool info_is_released;
};

UNCHECKED static void take(CFRunLoopTimerRef timer) TAKES(timer_lock) {
    process_lock(&timer->lock);
}

UNCHECKED static void give(CFRunLoopTimerRef timer) GIVES(timer_lock) {
    process_unlock(&timer->lock);
}

CFTypeID CFRunLoopTimerGetTypeID(void) {
    return CF_TYPE_TIMER;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void remove_from_past(struct __CFRunLoopTimer *timer) HOLDS(past_lock) {
    ASSERT_HOLDS(&past_lock);
    if (!timer->link_past)
        return;
    *timer->link_past = timer->next_past;
    if (timer->next_past)
        timer->next_past->link_past = timer->link_past;
    timer->link_past = NULL;
}

static void add_to_past(struct __CFRunLoopTimer *timer) HOLDS(past_lock) {
    ASSERT_HOLDS(&past_lock);
    ASSERT(!timer->link_past, "A timer is in the list of past ones already.");
    timer->next_past = past_timers;
    timer->link_past = &past_timers;
    if (past_timers)
        past_timers->link_past = &timer->next_past;
    past_timers = timer;
}

static void release_owner(struct __CFRunLoopTimer *timer) {
    if (!cf__item_release(&timer->item))
        return;
    process_lock(&past_lock);
    remove_from_past(timer);
    process_unlock(&past_lock);
    free(timer);
}

static void finalize(CFTypeRef object) {
    struct __CFRunLoopTimer *timer = (struct __CFRunLoopTimer *)(uintptr_t)object;
    runloop_timer_release(timer->core);
    release_owner(timer);
}

static void revive(CFTypeRef object) {
    struct __CFRunLoopTimer *timer = (struct __CFRunLoopTimer *)(uintptr_t)object;
    cf__item_retain(&timer->item);
    runloop_timer_retain(timer->core);
}

static const struct cf_class class = {.type = CF_TYPE_TIMER, .finalize = finalize, .revive = revive};

static void release_info(CFRunLoopTimerRef timer) {
    if (!atomic_exchange(&timer->info_is_released, true) && timer->context.release)
        timer->context.release(timer->context.info);
}

struct firing {
    CFRunLoopTimerRef timer;
    void *info; ///< the callback's
};

/// Also if the callback has ended the thread.
static void end_firing(void *object) {
    const struct firing *firing = object;
    CFRunLoopTimerRef timer = firing->timer;
    if (timer->interval == 0)
        CFRunLoopTimerInvalidate(timer);
    atomic_store(&timer->bracket, NULL);
    if (timer->context.release)
        timer->context.release(firing->info);
}

/// With a `retain`, each callback gets the info that it returns, which is released afterwards (R89). The timer's own reference need
/// not outlast the callback then: it is released when the callback invalidates the timer, or when a timer that fires once has fired.
static void fire(runloop_timer *core, void *object) {
    (void)core;
    CFRunLoopTimerRef timer = object;
    if (!timer->context.retain) {
        if (timer->callout)
            timer->callout(timer, timer->context.info);
        return;
    }
    struct firing firing = {timer, (void *)(uintptr_t)timer->context.retain(timer->context.info)};
    atomic_store(&timer->bracket, &this_thread);
    pthread_cleanup_push(end_firing, &firing);
    if (timer->callout)
        timer->callout(timer, firing.info);
    pthread_cleanup_pop(true);
}

static void release_context(void *object) {
    release_info(object);
    release_owner(object);
}

static char *describe_info(void *object) {
    CFRunLoopTimerRef timer = object;
    return cf__copy_info_description(timer->context.copyDescription, timer->context.info);
}

static void assign_date(struct __CFRunLoopTimer *timer, CFAbsoluteTime date) HOLDS(timer_lock) {
    ASSERT_HOLDS(&timer->lock);
    CFAbsoluteTime given = date <= CF_GREATEST_DATE ? date : CF_GREATEST_DATE; // NaN too
    int64_t due_ns = cf__instant_of_date(given), now_ns = runloop_now_ns();
    bool is_past = due_ns <= now_ns;
    // The lock is needed for a future date, too: other timers change the links of this one.
    process_lock(&past_lock);
    remove_from_past(timer);
    timer->given = given;
    timer->set_ns = is_past ? now_ns : due_ns;
    timer->set_date = is_past ? cf__date_of_instant(now_ns) : given;
    if (is_past)
        add_to_past(timer);
    process_unlock(&past_lock);
}

CFRunLoopTimerRef CFRunLoopTimerCreate(CFAllocatorRef allocator, CFAbsoluteTime fireDate, CFTimeInterval interval,
                                       CFOptionFlags flags, CFIndex order, CFRunLoopTimerCallBack callout,
                                       CFRunLoopTimerContext *context) {
    (void)allocator, (void)flags;
    struct __CFRunLoopTimer *timer = cf__new(&class, sizeof *timer);
    if (!timer)
        return NULL;
    cf__item_init(&timer->item);
    timer->interval = interval > 0 ? interval : 0;
    take(timer);
    assign_date(timer, fireDate);
    int64_t set_ns = timer->set_ns;
    give(timer);
    struct runloop_timer_config config = {.order = cf__order(order),
                                          .fire_ns = set_ns,
                                          .fire = fire,
                                          .context = {.info = timer, .release = release_context}};
    config.interval_ns = cf__nanoseconds(timer->interval < CF_GREATEST_DELAY ? timer->interval : CF_GREATEST_DELAY);
    config.context.describe = context && context->copyDescription ? describe_info : NULL;
    if (runloop_timer_create(&config, &timer->core)) {
        release_owner(timer);
        return NULL;
    }
    cf__item_retain(&timer->item);
    timer->callout = callout;
    timer->order = order;
    if (context) {
        timer->context = *context;
        if (context->retain)
            timer->context.info = (void *)(uintptr_t)context->retain(context->info);
    }
    return timer;
}

//===-- in loops -----------------------------------------------------------------------------------------------------===//

void CFRunLoopAddTimer(CFRunLoopRef rl, CFRunLoopTimerRef timer, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    if (core && CF_IS(timer, CF_TYPE_TIMER))
        runloop_add_timer(core, timer->core, cf__mode_name(mode));
}

void CFRunLoopRemoveTimer(CFRunLoopRef rl, CFRunLoopTimerRef timer, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    if (core && CF_IS(timer, CF_TYPE_TIMER))
        runloop_remove_timer(core, timer->core, cf__mode_text(mode));
}

Boolean CFRunLoopContainsTimer(CFRunLoopRef rl, CFRunLoopTimerRef timer, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    return core && CF_IS(timer, CF_TYPE_TIMER) && runloop_contains_timer(core, timer->core, cf__mode_text(mode));
}

void CFRunLoopTimerInvalidate(CFRunLoopTimerRef timer) {
    if (!CF_IS(timer, CF_TYPE_TIMER))
        return;
    // Outside its callback, the reference of the loop, which ends here, may be the last one.
    bool is_in_callback = atomic_load(&timer->bracket) == &this_thread;
    runloop_timer_invalidate(timer->core);
    if (is_in_callback)
        release_info(timer);
}

Boolean CFRunLoopTimerIsValid(CFRunLoopTimerRef timer) {
    return CF_IS(timer, CF_TYPE_TIMER) && runloop_timer_is_valid(timer->core);
}

//===-- dates --------------------------------------------------------------------------------------------------------===//

CFAbsoluteTime CFRunLoopTimerGetNextFireDate(CFRunLoopTimerRef timer) {
    if (!CF_IS(timer, CF_TYPE_TIMER))
        return 0;
    take(timer);
    int64_t due_ns = runloop_timer_get_fire_date(timer->core);
    CFAbsoluteTime date = timer->given;
    if (due_ns == RUNLOOP_NEVER)
        date = 0;
    else if (due_ns != timer->set_ns)
        date = timer->set_date + (double)(due_ns - timer->set_ns) / 1e9;
    give(timer);
    return date;
}

void CFRunLoopTimerSetNextFireDate(CFRunLoopTimerRef timer, CFAbsoluteTime fireDate) {
    if (!CF_IS(timer, CF_TYPE_TIMER))
        return;
    take(timer);
    assign_date(timer, fireDate);
    runloop_timer_set_fire_date(timer->core, timer->set_ns);
    give(timer);
}

/// The date of an instant at which a timer is due: the date that this timer was given. Reads the dates of timers whose locks it does not have.
UNCHECKED static CFAbsoluteTime date_of_instant(int64_t instant_ns) {
    CFAbsoluteTime date = cf__date_of_instant(instant_ns);
    process_lock(&past_lock);
    for (const struct __CFRunLoopTimer *timer = past_timers; timer; timer = timer->next_past) {
        if (timer->set_ns == instant_ns)
            date = timer->given;
    }
    process_unlock(&past_lock);
    return date;
}

CFAbsoluteTime CFRunLoopGetNextTimerFireDate(CFRunLoopRef rl, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    int64_t instant_ns = core ? runloop_next_fire_date(core, cf__mode_text(mode)) : RUNLOOP_NEVER;
    return instant_ns == RUNLOOP_NEVER ? 0 : date_of_instant(instant_ns);
}

CFTimeInterval CFRunLoopTimerGetTolerance(CFRunLoopTimerRef timer) {
    return CF_IS(timer, CF_TYPE_TIMER) ? (double)runloop_timer_get_tolerance(timer->core) / 1e9 : 0;
}

void CFRunLoopTimerSetTolerance(CFRunLoopTimerRef timer, CFTimeInterval tolerance) {
    if (CF_IS(timer, CF_TYPE_TIMER))
        runloop_timer_set_tolerance(timer->core, cf__nanoseconds(tolerance));
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

CFTimeInterval CFRunLoopTimerGetInterval(CFRunLoopTimerRef timer) {
    return CF_IS(timer, CF_TYPE_TIMER) ? timer->interval : 0;
}

Boolean CFRunLoopTimerDoesRepeat(CFRunLoopTimerRef timer) {
    return CF_IS(timer, CF_TYPE_TIMER) && timer->interval > 0;
}

CFIndex CFRunLoopTimerGetOrder(CFRunLoopTimerRef timer) {
    return CF_IS(timer, CF_TYPE_TIMER) ? timer->order : 0;
}

void CFRunLoopTimerGetContext(CFRunLoopTimerRef timer, CFRunLoopTimerContext *context) {
    if (!CF_IS(timer, CF_TYPE_TIMER) || !context)
        return;
    *context = timer->context;
    if (!runloop_timer_is_valid(timer->core))
        context->info = NULL;
}
