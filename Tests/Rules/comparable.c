// Which steps can be compared, and what one side needs so that the differences by decision don't show.
//
// Only this file knows the decisions. Random programs are compared as they are, with these exceptions:
//
// Omitted on both sides, because the reference's outcome depends on something that a decision removed:
//   0010  a wake-up or stop before the wait together with a ready event (the reference serves one of the two), an
//         event or a nested run while such a wake-up is pending
//   0012  due timers and ready counters at the same time (the reference follows the kernel's order)
//   0013  two ready counters when a run of another mode begins, or when one isn't in the running mode
//   0014  changes to timers and counters, and nested runs, in AfterWaiting observers
//   0015  removing sources from a dispatch in progress: invalidation, or nested runs that perform them
//   0011  runs that sleep inside a run with a short limit
//   0009  timers in a mode without another timer (R), whose stale expiry would cause an iteration, and nested runs in a
//         mode of a timer that is firing in another mode, whose expiry is stale there
//   0025  a timer that in its own call-out is added to a mode, or is in several and is given a date (the reference arms
//         only one)
//   0029  a mode becoming common while several observers or counters are common items (the reference adds them in no
//         specified order)
// Added on one side:
//   0007  the reference is woken before a sleep that ours skips because there is work
//   0008  the reference is woken when another thread has emptied the mode in which it sleeps
//   0010  the reference makes a polling run in another mode after a run that may have left a wake-up behind
//   0019  ours is woken when another thread has given a timer a date
#include "program.h"

#include <string.h>

#ifdef REFERENCE
static const bool reference = true;
#else
static const bool reference = false;
#endif

enum { MOST_NAPS = 6 };

struct level *innermost(struct play *play) {
    return play->depth > 0 ? &play->levels[play->depth - 1] : NULL;
}

//-- what we know ------------------------------------------------------------------------------------------------------

static bool same(const char *left, const char *right) {
    return strcmp(left, right) == 0;
}

static bool common(const char *mode) {
    return same(mode, "kCFRunLoopCommonModes");
}

static bool any_wake_pending(struct play *play) {
    for (int i = 0; i < play->depth; i++)
        if (play->levels[i].wake_pending)
            return true;
    return false;
}

static bool thing_is_due(const struct thing *thing) {
    return thing->kind == A_TIMER && thing->due && !thing->firing;
}

static int count_pending_counters(struct play *play) {
    int count = 0;
    for (int i = 0; i < play->thing_count; i++)
        count += play->things[i].pending;
    return count;
}

static bool any_due(struct play *play) {
    for (int i = 0; i < play->thing_count; i++)
        if (thing_is_due(&play->things[i]) || play->things[i].soon)
            return true;
    return false;
}

static struct thing *soon_timer(struct play *play) {
    for (int i = 0; i < play->thing_count; i++)
        if (play->things[i].soon)
            return &play->things[i];
    return NULL;
}

static bool port_is_ready(struct play *play, const char *mode) {
    for (int i = 0; i < play->thing_count; i++) {
        struct thing *thing = &play->things[i];
        if ((thing->pending || thing_is_due(thing)) && thing_in_mode(play, thing, mode))
            return true;
    }
    return false;
}

static bool any_short_limit(struct play *play) {
    for (int i = 0; i < play->depth; i++)
        if (play->levels[i].limit == 's')
            return true;
    return false;
}

// A block that a drain has dequeued and not yet performed is not in the queue.
bool block_in_hand(struct play *play, const struct thing *block) {
    for (int i = 0; i < play->depth; i++)
        if (play->levels[i].batch != 0 && play->levels[i].batch == block->batch)
            return true;
    return false;
}

static bool block_matches(struct play *play, const struct thing *block, const char *mode) {
    if (!block->queued || block_in_hand(play, block))
        return false;
    if (common(block->modes))
        return play->common[*mode - *mode_names[0]];
    return strstr(block->modes, mode) != NULL;
}

static bool mode_is_empty(struct play *play, const char *mode) {
    if (!same(mode, "R"))
        return false; // the furniture
    for (int i = 0; i < play->thing_count; i++) {
        struct thing *thing = &play->things[i];
        if (thing->kind == A_BLOCK ? block_matches(play, thing, mode)
                                   : thing->kind != AN_OBSERVER && thing_in_mode(play, thing, mode))
            return false;
    }
    return true;
}

static bool has_work(struct play *play, const char *mode) {
    for (int i = 0; i < play->thing_count; i++) {
        struct thing *thing = &play->things[i];
        if (thing->kind == A_BLOCK && block_matches(play, thing, mode))
            return true;
        if (thing->kind == A_SOURCE && thing->signalled && thing_in_mode(play, thing, mode))
            return true;
    }
    return play->stopped[*mode - *mode_names[0]] || mode_is_empty(play, mode);
}

//-- omitted -----------------------------------------------------------------------------------------------------------

static bool stop_is_comparable(struct play *play, const struct level *level) {
    return level == NULL || !level->takes_wakes || !port_is_ready(play, level->mode);
}

// May a counter or a timer become ready now? `counter` is the counter, or NULL for a timer.
static bool readiness_is_comparable(struct play *play, const struct level *level, const struct thing *counter) {
    if (any_wake_pending(play) || (level != NULL && level->phase == 'A'))
        return false;
    if (counter == NULL)
        return count_pending_counters(play) == 0;
    if (any_due(play))
        return false;
    bool others = count_pending_counters(play) > (counter->pending ? 1 : 0);
    return !others || (level != NULL && thing_in_mode(play, (struct thing *)counter, level->mode));
}

static bool naps_are_comparable(struct play *play, const struct level *level) {
    return soon_timer(play) == NULL && (level == NULL || level->naps < MOST_NAPS || level->limit != 's') &&
           (level == NULL || level->phase != 'A');
}

static bool timer_is_comparable(struct play *play, const struct step *step) {
    struct level *level = innermost(play);
    if (!naps_are_comparable(play, level) || same(step->mode, "R"))
        return false;
    if (same(step->words[0], "soon"))
        return readiness_is_comparable(play, level, NULL) && play->depth <= 1 && !common(step->mode) &&
               !any_short_limit(play) && (level == NULL || same(level->mode, step->mode));
    return same(step->words[0], "far") || readiness_is_comparable(play, level, NULL);
}

static bool membership_is_comparable(struct play *play, const struct step *step, struct thing *thing) {
    struct level *level = innermost(play);
    switch (thing->kind) {
    case A_BLOCK: return false;
    case A_TIMER:
        if (!naps_are_comparable(play, level) || same(step->mode, "R") || (thing->firing && step->verb == ADD))
            return false;
        return !thing_is_due(thing) || step->verb != ADD || readiness_is_comparable(play, level, NULL);
    case A_COUNTER:
        if (level != NULL && level->phase == 'A')
            return false;
        return !thing->pending || readiness_is_comparable(play, level, thing);
    case A_SOURCE:
        // A source that is part of this dispatch, or of an outer one, must not be removed from it.
        if (step->verb == INVALIDATE && thing->signalled)
            for (int i = 0; i < play->depth; i++)
                if (play->levels[i].performing > 0)
                    return false;
        return true;
    default: return true;
    }
}

static bool becoming_common_is_comparable(struct play *play, const char *mode) {
    int observers = 0, ports = 0;
    for (int i = 0; i < play->thing_count; i++) {
        struct thing *thing = &play->things[i];
        observers += thing->made_common && thing->kind == AN_OBSERVER;
        ports += thing->made_common && (thing->kind == A_COUNTER || thing->kind == A_TIMER);
        if (thing->kind == A_BLOCK && thing->queued && common(thing->modes))
            return false;
    }
    return !same(mode, "R") && observers < 2 && ports == 0;
}

// Does a run in that mode leave the dispatches in progress unchanged?
static bool pass_is_left_alone(struct play *play, const char *mode) {
    bool in_pass = false;
    for (int i = 0; i < play->depth; i++)
        in_pass = in_pass || play->levels[i].performing > 0;
    for (int i = 0; i < play->thing_count && in_pass; i++)
        if (play->things[i].kind == A_SOURCE && play->things[i].signalled &&
            thing_in_mode(play, &play->things[i], mode))
            return false;
    return true;
}

static bool nested_run_is_comparable(struct play *play, const struct step *step, const struct level *level) {
    if (play->depth >= 4 || any_wake_pending(play) || level->phase == 'A')
        return false;
    if (count_pending_counters(play) > 1 && !same(level->mode, step->mode))
        return false;
    if (any_short_limit(play) && !same(step->words[0], "0"))
        return false;
    for (int i = 0; i < play->thing_count; i++) {
        struct thing *thing = &play->things[i];
        if (thing->firing && !same(thing->firing, step->mode) && thing_in_mode(play, thing, step->mode))
            return false;
    }
    return pass_is_left_alone(play, step->mode);
}

static bool run_is_comparable(struct play *play, const struct step *step) {
    struct level *level = innermost(play);
    struct thing *soon = soon_timer(play);
    if (play->helping || (level != NULL && !nested_run_is_comparable(play, step, level)))
        return false;
    if (count_pending_counters(play) > 1 && level == NULL && !same(step->mode, play->last_mode))
        return false;
    if (soon != NULL && !same(step->words[0], "0"))
        return same(step->words[0], "short") ? false : thing_in_mode(play, soon, step->mode);
    return true;
}

static bool date_is_comparable(struct play *play, const struct step *step, struct thing *timer) {
    if (timer == NULL || timer->kind != A_TIMER || !naps_are_comparable(play, innermost(play)))
        return false;
    if (timer->firing && (timer->made_common || (thing_in_mode(play, timer, "P") && thing_in_mode(play, timer, "Q"))))
        return false;
    return same(step->words[0], "far") || (!play->helping && readiness_is_comparable(play, innermost(play), NULL));
}

bool step_is_comparable(struct play *play, const struct step *step) {
    struct level *level = innermost(play);
    struct thing *thing = thing_named(play, step->name);
    switch (step->verb) {
    case MAKE_SOURCE:
    case MAKE_OBSERVER:
    case MAKE_BLOCK: return thing == NULL && play->thing_count < MAX_THINGS;
    case MAKE_COUNTER: return thing == NULL && play->thing_count < MAX_THINGS && (level == NULL || level->phase != 'A');
    case MAKE_TIMER: return thing == NULL && play->thing_count < MAX_THINGS && timer_is_comparable(play, step);
    case ADD:
    case REMOVE:
    case INVALIDATE: return thing != NULL && membership_is_comparable(play, step, thing);
    case SIGNAL: return thing != NULL && thing->kind == A_SOURCE;
    case READY:
        return thing != NULL && thing->kind == A_COUNTER && thing_valid(thing) &&
               readiness_is_comparable(play, level, thing);
    case DATE: return date_is_comparable(play, step, thing);
    case STOP:
    case STOP_MODE:
    case WAKE: return stop_is_comparable(play, level);
    case MAKE_COMMON: return becoming_common_is_comparable(play, step->mode);
    case RUN: return run_is_comparable(play, step);
    default: return thing != NULL && thing->kind != A_BLOCK;
    }
}

//-- added -------------------------------------------------------------------------------------------------------------

void before_sleep(struct play *play) {
    struct level *level = innermost(play);
    if (reference && has_work(play, level->mode) && !port_is_ready(play, level->mode) && !level->wake_pending)
        CFRunLoopWakeUp(play->loop);
}

static bool timer_has_loop(struct play *play, struct thing *timer) {
    return thing_in_mode(play, timer, "P") || thing_in_mode(play, timer, "Q") ||
           CFRunLoopContainsTimer(play->loop, (CFRunLoopTimerRef)timer->object, kCFRunLoopDefaultMode);
}

void after_helper(struct play *play, const struct step *step) {
    struct level *level = innermost(play);
    bool removed = step->verb == REMOVE || step->verb == INVALIDATE;
    bool dated = step->verb == DATE && timer_has_loop(play, thing_named(play, step->name));
    if (reference ? removed && mode_is_empty(play, level->mode) : dated)
        CFRunLoopWakeUp(play->loop);
}

void after_run(struct level *level) {
    if (reference && level->wake_pending)
        CFRunLoopRunInMode(program_mode("drain"), 0, false);
}
