// What scenarios do to their items and loops.
#include "dsl_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Private, but exported.
extern void _CFRunLoopStopMode(CFRunLoopRef loop, CFStringRef mode);

// The reference arms a descriptor for a due timer; until that is readable, the timer isn't due for its wait.
#define KERNEL_NOTICES_MS 0.6

struct item *item_named(const char *name) {
    for (int i = 0; i < stage.item_count; i++)
        if (strcmp(stage.items[i].name, name) == 0)
            return &stage.items[i];
    fprintf(stderr, "There is no item %s.\n", name);
    abort();
}

CFTypeRef object(const char *name) {
    return item_named(name)->object;
}

void item_add(struct item *item, CFRunLoopRef loop, const char *mode) {
    if (mode == NULL)
        return;
    CFStringRef string = mode_string(mode);
    trace_begin_sorted(&stage.trace);
    if (item->kind == TIMER)
        CFRunLoopAddTimer(loop, (CFRunLoopTimerRef)item->object, string);
    else if (item->kind == OBSERVER)
        CFRunLoopAddObserver(loop, (CFRunLoopObserverRef)item->object, string);
    else
        CFRunLoopAddSource(loop, (CFRunLoopSourceRef)item->object, string);
    trace_end_sorted(&stage.trace);
    if (item->kind == TIMER)
        nap(KERNEL_NOTICES_MS);
}

static void item_remove(struct item *item, CFRunLoopRef loop, const char *mode) {
    CFStringRef string = mode_string(mode);
    trace_begin_sorted(&stage.trace);
    if (item->kind == TIMER)
        CFRunLoopRemoveTimer(loop, (CFRunLoopTimerRef)item->object, string);
    else if (item->kind == OBSERVER)
        CFRunLoopRemoveObserver(loop, (CFRunLoopObserverRef)item->object, string);
    else
        CFRunLoopRemoveSource(loop, (CFRunLoopSourceRef)item->object, string);
    trace_end_sorted(&stage.trace);
    if (item->kind == TIMER)
        nap(KERNEL_NOTICES_MS);
}

void add(const char *name, const char *mode) {
    item_add(item_named(name), stage.loop, mode);
}

void take_out(const char *name, const char *mode) {
    item_remove(item_named(name), stage.loop, mode);
}

void add_to_other_loop(const char *name, const char *mode) {
    item_add(item_named(name), CFRunLoopGetCurrent(), mode);
}

void take_out_of_other_loop(const char *name, const char *mode) {
    item_remove(item_named(name), CFRunLoopGetCurrent(), mode);
}

void invalidate(const char *name) {
    struct item *item = item_named(name);
    trace_begin_sorted(&stage.trace);
    if (item->kind == TIMER)
        CFRunLoopTimerInvalidate((CFRunLoopTimerRef)item->object);
    else if (item->kind == OBSERVER)
        CFRunLoopObserverInvalidate((CFRunLoopObserverRef)item->object);
    else
        CFRunLoopSourceInvalidate((CFRunLoopSourceRef)item->object);
    trace_end_sorted(&stage.trace);
    if (item->kind == TIMER)
        nap(KERNEL_NOTICES_MS);
}

void let_go(const char *name) {
    struct item *item = item_named(name);
    CFTypeRef object = item->object;
    item->object = NULL;
    CFRelease(object);
}

void make_common(const char *mode) {
    trace_begin_sorted(&stage.trace);
    CFRunLoopAddCommonMode(stage.loop, mode_string(mode));
    trace_end_sorted(&stage.trace);
}

void loud(void) {
    stage.loud = true;
}

void count_references(void) {
    stage.counting = true;
}

void signal_source(const char *name) {
    CFRunLoopSourceSignal((CFRunLoopSourceRef)object(name));
}

void ready(const char *name) {
    struct item *item = item_named(name);
    uint64_t one = 1;
    size_t length = item->descriptor == item->read_end ? sizeof one : 1;
    if (write(item->descriptor, &one, length) != (ssize_t)length)
        abort();
}

void date(const char *name, double due_ms) {
    struct item *item = item_named(name);
    item->date = CFAbsoluteTimeGetCurrent() + due_ms / 1000;
    CFRunLoopTimerSetNextFireDate((CFRunLoopTimerRef)item->object, item->date);
    nap(KERNEL_NOTICES_MS);
}

//-- blocks ------------------------------------------------------------------------------------------------------------

// "P" is a string, "P,Q" an array, "{P,Q}" a set, and "" an array of nothing.
static CFTypeRef modes_object(const char *modes) {
    if (*modes && !strpbrk(modes, ",{"))
        return CFRetain(mode_string(modes));
    char text[128];
    snprintf(text, sizeof text, "%s", modes);
    const void *strings[8];
    CFIndex count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(text, "{},", &rest); name; name = strtok_r(NULL, "{},", &rest))
        strings[count++] = mode_string(name);
    if (*modes == '{')
        return CFSetCreate(NULL, strings, count, &kCFTypeSetCallBacks);
    return CFArrayCreate(NULL, strings, count, &kCFTypeArrayCallBacks);
}

void block(const char *name, const char *mode, action body) {
    struct item *item = item_new(name, SOURCE, body);
    CFTypeRef modes = modes_object(mode);
    CFRunLoopPerformBlock(stage.loop, modes, ^{
      call_out(item, item->name);
    });
    CFRelease(modes);
}

//-- running -----------------------------------------------------------------------------------------------------------

static const char *result_name(CFRunLoopRunResult result) {
    static const char *const names[] = {"?", "Finished", "Stopped", "TimedOut", "HandledSource"};
    return result >= 1 && result <= 4 ? names[result] : names[0];
}

static void run_and_print(const char *mode, double seconds, bool return_after_source, bool timed) {
    stage.events++;
    stage.trace.depth++;
    char activity_before = stage.activity;
    CFAbsoluteTime start = CFAbsoluteTimeGetCurrent();
    CFRunLoopRunResult result = CFRunLoopRunInMode(mode ? mode_string(mode) : NULL, seconds, return_after_source);
    double took = CFAbsoluteTimeGetCurrent() - start;
    trace_wait_for_turn(&stage.trace);
    stage.trace.depth--;
    stage.activity = activity_before;
    stage.events++;
    const char *when = !timed ? "" : took < seconds / 2 ? ", at once" : took >= seconds ? ", at the limit" : ", late";
    trace_line(&stage.trace, "-> %s%s", result_name(result), when);
}

void run(const char *mode, double seconds, bool return_after_source) {
    run_and_print(mode, seconds, return_after_source, false);
}

void timed_run(const char *mode, double seconds, bool return_after_source) {
    run_and_print(mode, seconds, return_after_source, true);
}

void run_default(void) {
    stage.trace.depth++;
    CFRunLoopRun();
    trace_wait_for_turn(&stage.trace);
    stage.trace.depth--;
    trace_line(&stage.trace, "-> returned");
}

void stop(void) {
    CFRunLoopStop(stage.loop);
}

void stop_mode(const char *mode) {
    _CFRunLoopStopMode(stage.loop, mode_string(mode));
}

void wake(void) {
    CFRunLoopWakeUp(stage.loop);
}
