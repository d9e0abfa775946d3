// timer.c — timers: created with dates of the wall clock, fired by instants of the loop's clock, moved, invalidated.
//
// A date that is past when it is set means now, and the grid starts there; the getter still answers the date as it was given, until the
// timer fires. So a timer has both: what it was given, and what its core timer was set to.

#include "internal.h"

struct __CFRunLoopTimer {
    struct cf_item item;
    runloop_timer *core; ///< constant; one reference as long as somebody references the object
    CFRunLoopTimerCallBack callout;
    CFRunLoopTimerContext context;
    CFTimeInterval interval;
    CFIndex order;
    pthread_mutex_t lock;    ///< guards the dates, and is held while they are told to the core
    CFAbsoluteTime given;    ///< the date as it was set …
    int64_t set_ns;          ///< … and the instant that it became …
    CFAbsoluteTime set_date; ///< … whose date this is: `given`, or the time at which it was past already
};

CFTypeID CFRunLoopTimerGetTypeID(void) {
    return CF_TYPE_TIMER;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void leave(struct __CFRunLoopTimer *timer) {
    if (!cf__item_leave(&timer->item))
        return;
    pthread_mutex_destroy(&timer->lock);
    free(timer);
}

static void finalize(CFTypeRef object) {
    struct __CFRunLoopTimer *timer = (struct __CFRunLoopTimer *)(uintptr_t)object;
    runloop_timer_release(timer->core);
    leave(timer);
}

static void revive(CFTypeRef object) {
    struct __CFRunLoopTimer *timer = (struct __CFRunLoopTimer *)(uintptr_t)object;
    cf__item_keep(&timer->item);
    runloop_timer_retain(timer->core);
}

const struct cf_class cf__timer_class = {
    .type = CF_TYPE_TIMER, .name = "CFRunLoopTimer", .finalize = finalize, .revive = revive};

static void release_info(CFRunLoopTimerRef timer) {
    if (timer->context.release)
        timer->context.release(timer->context.info);
}

/// With a `retain`, each callback stands between it and a `release`, which comes after a timer that does not repeat has become
/// invalid (R89).
static void fire(runloop_timer *core, void *object) {
    CFRunLoopTimerRef timer = object;
    bool is_bracketed = timer->context.retain != NULL;
    if (is_bracketed)
        timer->context.retain(timer->context.info);
    if (timer->callout)
        timer->callout(timer, timer->context.info);
    if (!is_bracketed)
        return;
    if (timer->interval == 0)
        runloop_timer_invalidate(core);
    release_info(timer);
}

static void release_context(void *object) {
    release_info(object);
    leave(object);
}

static char *describe_info(void *object) {
    CFRunLoopTimerRef timer = object;
    return cf__copy_info_description(timer->context.copyDescription, timer->context.info);
}

/// HOLDS: lock, or the timer is new.
static void take_date(struct __CFRunLoopTimer *timer, CFAbsoluteTime date) {
    timer->given = timer->set_date = date <= CF_GREATEST_DATE ? date : CF_GREATEST_DATE; // NaN too
    timer->set_ns = cf__instant_of_date(timer->given);
    int64_t now_ns = runloop_now_ns();
    if (timer->set_ns <= now_ns) {
        timer->set_ns = now_ns;
        timer->set_date = cf__date_of_instant(now_ns);
    }
}

CFRunLoopTimerRef CFRunLoopTimerCreate(CFAllocatorRef allocator, CFAbsoluteTime fireDate, CFTimeInterval interval,
                                       CFOptionFlags flags, CFIndex order, CFRunLoopTimerCallBack callout,
                                       CFRunLoopTimerContext *context) {
    (void)allocator, (void)flags;
    struct __CFRunLoopTimer *timer = cf__new(&cf__timer_class, sizeof *timer);
    if (!timer)
        return NULL;
    cf__item_init(&timer->item);
    pthread_mutex_init(&timer->lock, NULL);
    timer->interval = interval > 0 ? interval : 0;
    take_date(timer, fireDate);
    struct runloop_timer_config config = {.order = cf__order(order),
                                          .fire_ns = timer->set_ns,
                                          .fire = fire,
                                          .context = {.info = timer, .release = release_context}};
    config.interval_ns = cf__nanoseconds(interval <= CF_GREATEST_DELAY ? interval : CF_GREATEST_DELAY);
    config.context.describe = context && context->copyDescription ? describe_info : NULL;
    if (interval != interval)
        config.interval_ns = 0;
    if (runloop_timer_create(&config, &timer->core)) {
        leave(timer);
        return NULL;
    }
    cf__item_keep(&timer->item);
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
    if (CF_IS(timer, CF_TYPE_TIMER))
        runloop_timer_invalidate(timer->core);
}

Boolean CFRunLoopTimerIsValid(CFRunLoopTimerRef timer) {
    return CF_IS(timer, CF_TYPE_TIMER) && runloop_timer_is_valid(timer->core);
}

//===-- dates --------------------------------------------------------------------------------------------------------===//

CFAbsoluteTime CFRunLoopTimerGetNextFireDate(CFRunLoopTimerRef timer) {
    if (!CF_IS(timer, CF_TYPE_TIMER))
        return 0;
    pthread_mutex_lock(&timer->lock);
    int64_t due_ns = runloop_timer_get_fire_date(timer->core);
    CFAbsoluteTime date = timer->given;
    if (due_ns == RUNLOOP_NEVER)
        date = 0;
    else if (due_ns != timer->set_ns)
        date = timer->set_date + (double)(due_ns - timer->set_ns) / 1e9;
    pthread_mutex_unlock(&timer->lock);
    return date;
}

void CFRunLoopTimerSetNextFireDate(CFRunLoopTimerRef timer, CFAbsoluteTime fireDate) {
    if (!CF_IS(timer, CF_TYPE_TIMER))
        return;
    pthread_mutex_lock(&timer->lock);
    take_date(timer, fireDate);
    runloop_timer_set_fire_date(timer->core, timer->set_ns);
    pthread_mutex_unlock(&timer->lock);
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
