// What the steps of a program do, and what its items print.
#include "program.h"

#include <Block.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

extern void _CFRunLoopStopMode(CFRunLoopRef loop, CFStringRef mode);

const char *const mode_names[MODES] = {"P", "Q", "R"};

CFStringRef program_mode(const char *name) {
    static CFStringRef strings[MODES + 1]; // the last one is "drain", see comparable.c
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (strcmp(name, "kCFRunLoopCommonModes") == 0)
        return kCFRunLoopCommonModes;
    int index = 0;
    while (index < MODES && strcmp(name, mode_names[index]) != 0)
        index++;
    pthread_mutex_lock(&lock);
    if (strings[index] == NULL)
        strings[index] = CFStringCreateWithCString(NULL, name, kCFStringEncodingUTF8);
    CFStringRef string = strings[index];
    pthread_mutex_unlock(&lock);
    return string;
}

struct thing *thing_named(struct play *play, const char *name) {
    for (int i = 0; i < play->thing_count; i++)
        if (strcmp(play->things[i].name, name) == 0)
            return &play->things[i];
    return NULL;
}

static struct thing *thing_new(struct play *play, const struct step *step, enum thing_kind kind) {
    struct thing *thing = &play->things[play->thing_count++];
    memset(thing, 0, sizeof *thing);
    memcpy(thing->name, step->name, sizeof thing->name);
    memcpy(thing->modes, step->mode, sizeof thing->modes);
    thing->kind = kind;
    thing->play = play;
    thing->descriptor = -1;
    return thing;
}

//-- call-outs ---------------------------------------------------------------------------------------------------------

static void begin_callout(struct thing *thing, const char *suffix) {
    struct play *play = thing->play;
    woken(play);
    if (thing->kind != A_BLOCK)
        innermost(play)->batch = 0;
    trace_line(&play->trace, "%s%s", thing->name, suffix);
    thing->calls++;
    play->budget--;
}

static void steps_of(struct thing *thing) {
    if (thing->play->budget > 0)
        play_steps(thing->play, thing->name, thing->calls);
}

static void source_performs(void *info) {
    struct thing *thing = info;
    thing->signalled = false;
    begin_callout(thing, "");
    struct level *level = innermost(thing->play);
    level->performing++;
    steps_of(thing);
    level->performing--;
}

static void counter_performs(void *info) {
    struct thing *thing = info;
    thing->pending = false;
    begin_callout(thing, "");
    innermost(thing->play)->takes_wakes = false;
    steps_of(thing);
}

static void timer_fires(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    struct thing *thing = info;
    thing->due = thing->soon = false;
    thing->firing = innermost(thing->play)->mode;
    begin_callout(thing, "");
    innermost(thing->play)->takes_wakes = false;
    steps_of(thing);
    thing->firing = NULL;
    thing->due = thing->due && thing->repeats;
}

static const char *letter_of(CFRunLoopActivity activity) {
    switch (activity) {
    case kCFRunLoopEntry: return "Entry";
    case kCFRunLoopBeforeTimers: return "T";
    case kCFRunLoopBeforeSources: return "S";
    case kCFRunLoopBeforeWaiting: return "W";
    case kCFRunLoopAfterWaiting: return "A";
    default: return "X";
    }
}

static void observer_told(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer;
    char suffix[8];
    snprintf(suffix, sizeof suffix, ":%c", letter_of(activity)[0]);
    begin_callout(info, suffix);
    steps_of(info);
}

static void block_runs(struct thing *thing) {
    struct play *play = thing->play;
    struct level *level = innermost(play);
    // A block that wasn't queued when the last drain of this run began shows that another drain has begun. That drain
    // dequeued all blocks that are queued now, except those that outer drains hold.
    if (level->batch == 0 || thing->batch != level->batch) {
        level->batch = ++play->batches;
        for (int i = 0; i < play->thing_count; i++)
            if (play->things[i].queued && !block_in_hand(play, &play->things[i]))
                play->things[i].batch = level->batch;
    }
    thing->queued = false;
    begin_callout(thing, "");
    steps_of(thing);
}

static void membership_line(const char *verb, struct thing *thing, CFStringRef mode) {
    char name[64] = "";
    CFStringGetCString(mode, name, sizeof name, kCFStringEncodingUTF8);
    trace_line(&thing->play->trace, "  %s %s %s", verb, thing->name, name);
}

static void source_scheduled(void *info, CFRunLoopRef loop, CFStringRef mode) {
    (void)loop;
    membership_line("schedule", info, mode);
}

static void source_cancelled(void *info, CFRunLoopRef loop, CFStringRef mode) {
    (void)loop;
    membership_line("cancel", info, mode);
}

static int port_of(void *info) {
    return ((struct thing *)info)->descriptor;
}

//-- furniture: items that every program has ---------------------------------------------------------------------------

static void phase_told(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer;
    struct play *play = info;
    woken(play);
    struct level *level = innermost(play);
    char before = level->phase;
    level->phase = activity == kCFRunLoopExit ? 'X' : letter_of(activity)[0];
    level->batch = 0;
    if (level->phase == 'E' || (level->phase == 'T' && before != 'E') || level->phase == 'A')
        level->wake_pending = false;
    if (level->phase == 'E' || level->phase == 'T')
        level->takes_wakes = true;
    if (level->phase == 'A')
        level->takes_wakes = false;
    trace_line(&play->trace, "%s", letter_of(activity));
}

static void last_before_sleep(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer;
    (void)activity;
    struct play *play = info;
    woken(play);
    before_sleep(play);
    play->about_to_sleep = true;
}

static void keep(struct play *play, CFTypeRef object) {
    play->furniture[play->furniture_count++] = object;
}

static void nothing(void *info) {
    (void)info;
}

static void no_fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    (void)info;
}

static void add_quiet_source(struct play *play, CFStringRef mode) {
    CFRunLoopSourceContext quiet = {.info = play, .perform = nothing};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &quiet);
    CFRunLoopAddSource(play->loop, source, mode);
    keep(play, source);
}

// Each mode has an observer ahead of all others, and one after them for BeforeWaiting. P and Q have a source that is
// never signalled, so that they are never empty, and a distant timer; R has neither, and no timer is ever added to it.
void play_furnish(struct play *play) {
    for (int i = 0; i < MODES; i++) {
        CFStringRef mode = program_mode(mode_names[i]);
        CFRunLoopObserverContext context = {.info = play};
        CFRunLoopObserverRef first =
            CFRunLoopObserverCreate(NULL, kCFRunLoopAllActivities, true, -1000000, phase_told, &context);
        CFRunLoopObserverRef last =
            CFRunLoopObserverCreate(NULL, kCFRunLoopBeforeWaiting, true, 1000000, last_before_sleep, &context);
        CFRunLoopAddObserver(play->loop, first, mode);
        CFRunLoopAddObserver(play->loop, last, mode);
        keep(play, first);
        keep(play, last);
        if (strcmp(mode_names[i], "R") == 0)
            continue;
        add_quiet_source(play, mode);
        CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 1e7, 0, 0, 0, no_fire, NULL);
        CFRunLoopAddTimer(play->loop, timer, mode);
        keep(play, timer);
    }
    add_quiet_source(play, program_mode("drain"));
}

//-- steps -------------------------------------------------------------------------------------------------------------

static void kernel_notices(struct play *play) {
    struct timespec duration = {0, 600000};
    nanosleep(&duration, NULL);
    if (play->depth > 0)
        innermost(play)->naps++;
}

static void thing_add(struct thing *thing, const char *mode, bool remove) {
    struct play *play = thing->play;
    CFStringRef string = program_mode(mode);
    if (string == kCFRunLoopCommonModes)
        thing->made_common = !remove;
    if (thing->kind == A_TIMER) {
        (remove ? CFRunLoopRemoveTimer : CFRunLoopAddTimer)(play->loop, (CFRunLoopTimerRef)thing->object, string);
        kernel_notices(play);
    } else if (thing->kind == AN_OBSERVER) {
        (remove ? CFRunLoopRemoveObserver : CFRunLoopAddObserver)(play->loop, (CFRunLoopObserverRef)thing->object,
                                                                  string);
    } else if (thing->kind != A_BLOCK) {
        (remove ? CFRunLoopRemoveSource : CFRunLoopAddSource)(play->loop, (CFRunLoopSourceRef)thing->object, string);
    }
}

static void thing_invalidate(struct thing *thing) {
    thing->signalled = thing->due = thing->soon = thing->made_common = false;
    if (thing->kind == A_TIMER) {
        CFRunLoopTimerInvalidate((CFRunLoopTimerRef)thing->object);
        kernel_notices(thing->play);
    } else if (thing->kind == AN_OBSERVER) {
        CFRunLoopObserverInvalidate((CFRunLoopObserverRef)thing->object);
    } else if (thing->kind != A_BLOCK) {
        CFRunLoopSourceInvalidate((CFRunLoopSourceRef)thing->object);
    }
}

bool thing_valid(struct thing *thing) {
    switch (thing->kind) {
    case A_TIMER: return CFRunLoopTimerIsValid((CFRunLoopTimerRef)thing->object);
    case AN_OBSERVER: return CFRunLoopObserverIsValid((CFRunLoopObserverRef)thing->object);
    case A_BLOCK: return thing->queued;
    default: return CFRunLoopSourceIsValid((CFRunLoopSourceRef)thing->object);
    }
}

bool thing_in_mode(struct play *play, struct thing *thing, const char *mode) {
    CFStringRef string = program_mode(mode);
    switch (thing->kind) {
    case A_TIMER: return CFRunLoopContainsTimer(play->loop, (CFRunLoopTimerRef)thing->object, string);
    case AN_OBSERVER: return CFRunLoopContainsObserver(play->loop, (CFRunLoopObserverRef)thing->object, string);
    case A_BLOCK: return false;
    default: return CFRunLoopContainsSource(play->loop, (CFRunLoopSourceRef)thing->object, string);
    }
}

static CFAbsoluteTime due_date(const char *due) {
    double from_now = strcmp(due, "past") == 0 ? -1 : strcmp(due, "soon") == 0 ? .012 : 1e6;
    return CFAbsoluteTimeGetCurrent() + from_now;
}

static void make_source(struct play *play, const struct step *step) {
    struct thing *thing = thing_new(play, step, A_SOURCE);
    CFRunLoopSourceContext context = {
        .info = thing, .schedule = source_scheduled, .cancel = source_cancelled, .perform = source_performs};
    thing->object = CFRunLoopSourceCreate(NULL, atoi(step->words[0]), &context);
    thing_add(thing, step->mode, false);
}

static void make_counter(struct play *play, const struct step *step) {
    struct thing *thing = thing_new(play, step, A_COUNTER);
    thing->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CFRunLoopSourceContext1 context = {.version = 1, .info = thing, .getPort = port_of, .perform = counter_performs};
    thing->object = CFRunLoopSourceCreate(NULL, 0, (CFRunLoopSourceContext *)&context);
    thing_add(thing, step->mode, false);
}

static void make_timer(struct play *play, const struct step *step) {
    struct thing *thing = thing_new(play, step, A_TIMER);
    CFRunLoopTimerContext context = {.info = thing};
    thing->repeats = strcmp(step->words[1], "repeats") == 0;
    thing->due = strcmp(step->words[0], "past") == 0;
    thing->soon = strcmp(step->words[0], "soon") == 0;
    thing->object =
        CFRunLoopTimerCreate(NULL, due_date(step->words[0]), thing->repeats ? 1e5 : 0, 0, 0, timer_fires, &context);
    thing_add(thing, step->mode, false);
}

static void make_observer(struct play *play, const struct step *step) {
    static const char all[] = "ETSWAX";
    static const CFOptionFlags values[] = {kCFRunLoopEntry,         kCFRunLoopBeforeTimers, kCFRunLoopBeforeSources,
                                           kCFRunLoopBeforeWaiting, kCFRunLoopAfterWaiting, kCFRunLoopExit};
    struct thing *thing = thing_new(play, step, AN_OBSERVER);
    CFOptionFlags activities = 0;
    for (const char *letter = step->words[0]; *letter; letter++)
        activities |= values[strchr(all, *letter) - all];
    CFRunLoopObserverContext context = {.info = thing};
    thing->object = CFRunLoopObserverCreate(NULL, activities, strcmp(step->words[2], "repeats") == 0,
                                            atoi(step->words[1]), observer_told, &context);
    thing_add(thing, step->mode, false);
}

static void make_block(struct play *play, const struct step *step) {
    struct thing *thing = thing_new(play, step, A_BLOCK);
    char names[24];
    memcpy(names, step->mode, sizeof names);
    const void *modes[4];
    CFIndex count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        modes[count++] = program_mode(name);
    CFTypeRef object = count == 1 ? CFRetain(modes[0]) : CFArrayCreate(NULL, modes, count, &kCFTypeArrayCallBacks);
    thing->queued = true;
    CFRunLoopPerformBlock(play->loop, object, ^{
      block_runs(thing);
    });
    CFRelease(object);
}

static void ask(struct play *play, struct thing *thing) {
    char text[64] = "";
    for (int i = 0; i < MODES; i++)
        if (thing_in_mode(play, thing, mode_names[i]))
            strncat(text, mode_names[i], 4);
    trace_line(&play->trace, "  = %s in %s%s", thing_valid(thing) ? "valid" : "invalid", *text ? text : "none",
               thing_in_mode(play, thing, "kCFRunLoopCommonModes") ? " common" : "");
}

void step_perform(struct play *play, struct step *step) {
    struct thing *thing = thing_named(play, step->name);
    uint64_t one = 1;
    trace_begin_sorted(&play->trace);
    switch (step->verb) {
    case MAKE_SOURCE: make_source(play, step); break;
    case MAKE_COUNTER: make_counter(play, step); break;
    case MAKE_TIMER: make_timer(play, step); break;
    case MAKE_OBSERVER: make_observer(play, step); break;
    case MAKE_BLOCK: make_block(play, step); break;
    case ADD: thing_add(thing, step->mode, false); break;
    case REMOVE: thing_add(thing, step->mode, true); break;
    case INVALIDATE: thing_invalidate(thing); break;
    case SIGNAL:
        thing->signalled = thing->signalled || thing_valid(thing);
        CFRunLoopSourceSignal((CFRunLoopSourceRef)thing->object);
        break;
    case READY:
        thing->pending = true;
        if (write(thing->descriptor, &one, sizeof one) != sizeof one)
            abort();
        break;
    case DATE:
        thing->due = strcmp(step->words[0], "past") == 0 && thing_valid(thing);
        CFRunLoopTimerSetNextFireDate((CFRunLoopTimerRef)thing->object, due_date(step->words[0]));
        kernel_notices(play);
        break;
    case STOP: CFRunLoopStop(play->loop); break;
    case STOP_MODE: _CFRunLoopStopMode(play->loop, program_mode(step->mode)); break;
    case WAKE: CFRunLoopWakeUp(play->loop); break;
    case MAKE_COMMON:
        play->common[*step->mode - *mode_names[0]] = true;
        CFRunLoopAddCommonMode(play->loop, program_mode(step->mode));
        break;
    case ASK: ask(play, thing); break;
    default: break;
    }
    trace_end_sorted(&play->trace);
}
