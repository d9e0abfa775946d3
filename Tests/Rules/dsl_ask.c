// Questions whose answers are part of the trace.
#include "dsl_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern Boolean CFRunLoopSourceIsSignalled(CFRunLoopSourceRef source);
extern Boolean _CFRunLoopFinished(CFRunLoopRef loop, CFStringRef mode);

void say(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trace_line(&stage.trace, "%s", text);
}

static const char *yes_or_no(bool answer) {
    return answer ? "yes" : "no";
}

void contains(const char *name, const char *mode) {
    struct item *item = item_named(name);
    CFStringRef string = mode_string(mode);
    bool answer;
    if (item->kind == TIMER)
        answer = CFRunLoopContainsTimer(stage.loop, (CFRunLoopTimerRef)item->object, string);
    else if (item->kind == OBSERVER)
        answer = CFRunLoopContainsObserver(stage.loop, (CFRunLoopObserverRef)item->object, string);
    else
        answer = CFRunLoopContainsSource(stage.loop, (CFRunLoopSourceRef)item->object, string);
    say("%s in %s? %s", name, mode, yes_or_no(answer));
}

void is_valid(const char *name) {
    struct item *item = item_named(name);
    bool answer;
    if (item->kind == TIMER)
        answer = CFRunLoopTimerIsValid((CFRunLoopTimerRef)item->object);
    else if (item->kind == OBSERVER)
        answer = CFRunLoopObserverIsValid((CFRunLoopObserverRef)item->object);
    else
        answer = CFRunLoopSourceIsValid((CFRunLoopSourceRef)item->object);
    say("%s valid? %s", name, yes_or_no(answer));
}

void is_signalled(const char *name) {
    say("%s signalled? %s", name, yes_or_no(CFRunLoopSourceIsSignalled((CFRunLoopSourceRef)object(name))));
}

void fire_date(const char *name) {
    struct item *item = item_named(name);
    CFAbsoluteTime date = CFRunLoopTimerGetNextFireDate((CFRunLoopTimerRef)item->object);
    say("date of %s: %s", name, date == item->date ? "as set" : date == 0 ? "none" : "another");
}

void on_grid(const char *name, int at_least) {
    struct item *item = item_named(name);
    CFRunLoopTimerRef timer = (CFRunLoopTimerRef)item->object;
    CFAbsoluteTime date = CFRunLoopTimerGetNextFireDate(timer);
    double intervals = (date - item->date) / CFRunLoopTimerGetInterval(timer);
    long ticks = (long)(intervals + .5);
    // The dates are sums of fractions, and the reference turns them into those of another clock and back.
    bool on = intervals - (double)ticks > -.01 && intervals - (double)ticks < .01;
    on = on && ticks - item->ticks >= at_least && CFAbsoluteTimeGetCurrent() > date - 1e-4;
    say("%s", on ? "on the grid" : "off the grid");
    item->ticks = ticks;
}

void has_info(const char *name) {
    struct item *item = item_named(name);
    void *info = NULL;
    if (item->kind == TIMER) {
        CFRunLoopTimerContext context = {0};
        CFRunLoopTimerGetContext((CFRunLoopTimerRef)item->object, &context);
        info = context.info;
    } else if (item->kind == OBSERVER) {
        CFRunLoopObserverContext context = {0};
        CFRunLoopObserverGetContext((CFRunLoopObserverRef)item->object, &context);
        info = context.info;
    } else if (item->kind == SOURCE) {
        CFRunLoopSourceContext context = {0};
        CFRunLoopSourceGetContext((CFRunLoopSourceRef)item->object, &context);
        info = context.info;
    } else {
        CFRunLoopSourceContext1 context = {.version = 1};
        CFRunLoopSourceGetContext((CFRunLoopSourceRef)item->object, (CFRunLoopSourceContext *)&context);
        info = context.info;
    }
    say("info of %s: %s", name, info == item ? "its own" : info == NULL ? "none" : "another");
}

void describe_item(const char *name) {
    struct item *item = item_named(name);
    if (item->kind == TIMER) {
        CFRunLoopTimerRef timer = (CFRunLoopTimerRef)item->object;
        say("%s: order %ld, every %g s, repeats? %s", name, (long)CFRunLoopTimerGetOrder(timer),
            CFRunLoopTimerGetInterval(timer), yes_or_no(CFRunLoopTimerDoesRepeat(timer)));
    } else if (item->kind == OBSERVER) {
        CFRunLoopObserverRef observer = (CFRunLoopObserverRef)item->object;
        say("%s: order %ld, activities %#lx, repeats? %s", name, (long)CFRunLoopObserverGetOrder(observer),
            (unsigned long)CFRunLoopObserverGetActivities(observer), yes_or_no(CFRunLoopObserverDoesRepeat(observer)));
    } else {
        say("%s: order %ld", name, (long)CFRunLoopSourceGetOrder((CFRunLoopSourceRef)item->object));
    }
}

void next_date(const char *mode) {
    CFAbsoluteTime date = CFRunLoopGetNextTimerFireDate(stage.loop, mode_string(mode));
    const char *answer = date == 0 ? "none" : "another";
    for (int i = 0; i < stage.item_count; i++)
        if (stage.items[i].kind == TIMER && stage.items[i].date == date)
            answer = stage.items[i].name;
    say("next date of %s: %s", mode, answer);
}

void current_mode(void) {
    CFStringRef mode = CFRunLoopCopyCurrentMode(stage.loop);
    char name[64] = "none";
    if (mode) {
        CFStringGetCString(mode, name, sizeof name, kCFStringEncodingUTF8);
        CFRelease(mode);
    }
    say("current mode: %s", name);
}

void is_waiting(void) {
    say("waiting? %s", yes_or_no(CFRunLoopIsWaiting(stage.loop)));
}

static int compare_names(const void *left, const void *right) {
    return strcmp(left, right);
}

void all_modes(void) {
    CFArrayRef modes = CFRunLoopCopyAllModes(stage.loop);
    char names[16][48];
    CFIndex count = CFArrayGetCount(modes);
    for (CFIndex i = 0; i < count && i < 16; i++)
        CFStringGetCString((CFStringRef)CFArrayGetValueAtIndex(modes, i), names[i], sizeof names[i],
                           kCFStringEncodingUTF8);
    CFRelease(modes);
    qsort(names, (size_t)count, sizeof names[0], compare_names);
    char text[256] = "";
    for (CFIndex i = 0; i < count; i++) {
        strncat(text, " ", sizeof text - strlen(text) - 1);
        strncat(text, names[i], sizeof text - strlen(text) - 1);
    }
    say("modes:%s", text);
}

void finished(const char *mode) {
    say("%s finished? %s", mode, yes_or_no(_CFRunLoopFinished(stage.loop, mode_string(mode))));
}
