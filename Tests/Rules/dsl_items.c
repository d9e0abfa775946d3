// The items of a scenario: creating them, and what their callbacks print.
#include "dsl_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct item *item_new(const char *name, enum item_kind kind, action body) {
    if (stage.item_count == (int)(sizeof stage.items / sizeof stage.items[0]))
        abort();
    struct item *item = &stage.items[stage.item_count++];
    snprintf(item->name, sizeof item->name, "%s", name);
    item->kind = kind;
    item->body = body ? (action)Block_copy(body) : NULL;
    item->descriptor = item->read_end = -1;
    return item;
}

//-- callbacks ---------------------------------------------------------------------------------------------------------

void call_out(struct item *item, const char *text) {
    trace_wait_for_turn(&stage.trace);
    stage.events++;
    if (!item->silent)
        trace_line(&stage.trace, "%s", text);
    if (item->body)
        item->body();
    stage.events++;
}

static void perform(void *info) {
    struct item *item = info;
    call_out(item, item->name);
}

static int get_port(void *info) {
    return ((struct item *)info)->read_end;
}

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    perform(info);
}

static const char *activity_name(CFRunLoopActivity activity) {
    switch (activity) {
    case kCFRunLoopEntry: return "Entry";
    case kCFRunLoopBeforeTimers: return "T";
    case kCFRunLoopBeforeSources: return "S";
    case kCFRunLoopBeforeWaiting: return "W";
    case kCFRunLoopAfterWaiting: return "A";
    case kCFRunLoopExit: return "Exit";
    default: return "?";
    }
}

static void tell(CFRunLoopObserverRef ref, CFRunLoopActivity activity, void *info) {
    (void)ref;
    struct item *item = info;
    const char *name = activity_name(activity);
    char text[64];
    if (item->anonymous)
        snprintf(text, sizeof text, "%s", name);
    else
        snprintf(text, sizeof text, "%s:%s", item->name, name);
    char before = stage.activity;
    stage.activity = activity == kCFRunLoopExit ? 'X' : name[0];
    call_out(item, text);
    stage.activity = before;
}

static void membership_line(const char *verb, struct item *item, CFRunLoopRef loop, CFStringRef mode) {
    if (!stage.loud || item->silent)
        return;
    char name[64] = "";
    CFStringGetCString(mode, name, sizeof name, kCFStringEncodingUTF8);
    trace_line(&stage.trace, "%s %s in %s%s", verb, item->name, name, loop == stage.loop ? "" : " of another loop");
}

static void schedule(void *info, CFRunLoopRef loop, CFStringRef mode) {
    membership_line("schedule", info, loop, mode);
}

static void cancel(void *info, CFRunLoopRef loop, CFStringRef mode) {
    membership_line("cancel", info, loop, mode);
}

static const void *retain(const void *info) {
    trace_line(&stage.trace, "retain %s", ((const struct item *)info)->name);
    return info;
}

static void release(const void *info) {
    trace_line(&stage.trace, "release %s", ((const struct item *)info)->name);
}

static Boolean equal(const void *left, const void *right) {
    return ((const struct item *)left)->number == ((const struct item *)right)->number;
}

static CFHashCode hash(const void *info) {
    return (CFHashCode)((const struct item *)info)->number;
}

//-- creating them -----------------------------------------------------------------------------------------------------

static void make_source(struct item *item, int order, bool with_equal) {
    CFRunLoopSourceContext context = {.info = item,
                                      .schedule = schedule,
                                      .cancel = cancel,
                                      .perform = perform,
                                      .equal = with_equal ? equal : NULL,
                                      .hash = with_equal ? hash : NULL};
    if (item->counted) {
        context.retain = retain;
        context.release = release;
    }
    item->object = CFRunLoopSourceCreate(NULL, order, &context);
}

static struct item *new_counted(const char *name, enum item_kind kind, action body) {
    struct item *item = item_new(name, kind, body);
    item->counted = stage.counting;
    return item;
}

void source(const char *name, int order, const char *mode, action body) {
    struct item *item = new_counted(name, SOURCE, body);
    make_source(item, order, false);
    item_add(item, stage.loop, mode);
}

void equal_source(const char *name, int order, int number, const char *mode, action body) {
    struct item *item = new_counted(name, SOURCE, body);
    item->number = number;
    make_source(item, order, true);
    item_add(item, stage.loop, mode);
}

void quiet(const char *mode) {
    struct item *item = item_new("quiet", SOURCE, NULL);
    item->silent = true;
    make_source(item, 0, false);
    item_add(item, stage.loop, mode);
}

static void make_descriptor_source(struct item *item, const char *mode) {
    CFRunLoopSourceContext1 context = {.version = 1, .info = item, .getPort = get_port, .perform = perform};
    item->object = CFRunLoopSourceCreate(NULL, 0, (CFRunLoopSourceContext *)&context);
    item_add(item, stage.loop, mode);
}

void counter(const char *name, const char *mode, action body) {
    struct item *item = item_new(name, DESCRIPTOR, body);
    item->descriptor = item->read_end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    make_descriptor_source(item, mode);
}

void pipe_source(const char *name, const char *mode, action body) {
    struct item *item = item_new(name, DESCRIPTOR, body);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        abort();
    item->read_end = ends[0];
    item->descriptor = ends[1];
    make_descriptor_source(item, mode);
}

void counter_of(const char *name, const char *other, const char *mode, action body) {
    struct item *item = item_new(name, DESCRIPTOR, body);
    item->read_end = item_named(other)->read_end;
    item->borrowed = true;
    make_descriptor_source(item, mode);
}

int bytes_left(const char *name) {
    char bytes[64];
    ssize_t count = read(item_named(name)->read_end, bytes, sizeof bytes);
    return count < 0 ? 0 : (int)count;
}

void no_port(const char *name, const char *mode) {
    make_descriptor_source(item_new(name, DESCRIPTOR, NULL), mode);
}

void ordered_timer(const char *name, double due_ms, double interval_ms, int order, const char *mode, action body) {
    struct item *item = new_counted(name, TIMER, body);
    CFRunLoopTimerContext context = {.info = item};
    if (item->counted) {
        context.retain = retain;
        context.release = release;
    }
    item->date = CFAbsoluteTimeGetCurrent() + due_ms / 1000;
    item->object = CFRunLoopTimerCreate(NULL, item->date, interval_ms / 1000, 0, order, fire, &context);
    item_add(item, stage.loop, mode);
}

void timer(const char *name, double due_ms, double interval_ms, const char *mode, action body) {
    ordered_timer(name, due_ms, interval_ms, 0, mode, body);
}

static struct item *make_observer(const char *name, const char *letters, int order, bool repeats, action body) {
    CFOptionFlags activities = 0;
    for (const char *letter = letters; *letter; letter++) {
        static const char all[] = "ETSWAX";
        static const CFOptionFlags values[] = {kCFRunLoopEntry,         kCFRunLoopBeforeTimers, kCFRunLoopBeforeSources,
                                               kCFRunLoopBeforeWaiting, kCFRunLoopAfterWaiting, kCFRunLoopExit};
        const char *found = strchr(all, *letter);
        if (found == NULL)
            abort();
        activities |= values[found - all];
    }
    struct item *item = new_counted(name, OBSERVER, body);
    item->letters = letters;
    item->once = !repeats;
    CFRunLoopObserverContext context = {.info = item};
    if (item->counted) {
        context.retain = retain;
        context.release = release;
    }
    item->object = CFRunLoopObserverCreate(NULL, activities, repeats, order, tell, &context);
    return item;
}

void observer(const char *name, const char *letters, int order, const char *mode, action body) {
    item_add(make_observer(name, letters, order, true, body), stage.loop, mode);
}

void observer_once(const char *name, const char *letters, int order, const char *mode, action body) {
    item_add(make_observer(name, letters, order, false, body), stage.loop, mode);
}

void watch(const char *mode) {
    struct item *item = make_observer("watch", "ETSWAX", 0, true, NULL);
    item->anonymous = true;
    item->counted = false;
    item_add(item, stage.loop, mode);
}
