// The environment of a scenario: its thread, its helper, its mode names, its end.
#include "dsl_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct stage stage;

CFRunLoopRef loop(void) {
    return stage.loop;
}

char activity(void) {
    return stage.activity;
}

//-- names of modes ----------------------------------------------------------------------------------------------------

// The same string object for the same name, but a new one, without the "=", for a name that begins with "=".
CFStringRef mode_string(const char *mode) {
    static struct {
        char name[32];
        CFStringRef string;
    } table[512];
    static size_t count;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (strcmp(mode, DEFAULT) == 0)
        return kCFRunLoopDefaultMode;
    if (strcmp(mode, COMMON) == 0)
        return kCFRunLoopCommonModes;
    CFStringRef result = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && *mode != '='; i++)
        if (strcmp(table[i].name, mode) == 0)
            result = table[i].string;
    if (result == NULL) {
        if (count == sizeof table / sizeof table[0])
            abort();
        result = CFStringCreateWithCString(NULL, mode + (*mode == '='), kCFStringEncodingUTF8);
        snprintf(table[count].name, sizeof table[count].name, "%s", mode);
        table[count++].string = result;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

//-- time and threads --------------------------------------------------------------------------------------------------

void nap(double milliseconds) {
    long nanoseconds = (long)(milliseconds * 1e6);
    struct timespec duration = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (nanosleep(&duration, &duration) != 0)
        ;
}

void outlast(const char *name) {
    nap((item_named(name)->date - CFAbsoluteTimeGetCurrent()) * 1e3 + 5);
}

static void *act(void *body) {
    ((action)body)();
    return NULL;
}

void elsewhere(action body) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, act, (void *)body) != 0)
        abort();
    pthread_join(thread, NULL);
}

static bool loop_looks_asleep(void) {
    return CFRunLoopIsWaiting(stage.loop) && thread_is_asleep(stage.thread);
}

// A loop is asleep if it is waiting, its thread sleeps in the kernel, and it made no call-out between two checks.
static bool loop_is_asleep(void) {
    unsigned long events = stage.events;
    if (!loop_looks_asleep())
        return false;
    nap(0.3);
    return loop_looks_asleep() && stage.events == events;
}

static void *help(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&stage.trace.turn);
        int next = stage.helper_done < stage.helper_count ? stage.helper_done : -1;
        pthread_mutex_unlock(&stage.trace.turn);
        if (stage.body_is_over)
            return NULL;
        if (next < 0 || !loop_is_asleep()) {
            nap(0.1);
            continue;
        }
        pthread_mutex_lock(&stage.trace.turn);
        stage.helper_actions[next]();
        stage.helper_done = next + 1;
        stage.events++;
        pthread_mutex_unlock(&stage.trace.turn);
        nap(0.3);
    }
}

void when_asleep(action body) {
    pthread_mutex_lock(&stage.trace.turn);
    bool first = stage.helper_count == 0;
    stage.helper_actions[stage.helper_count++] = (action)Block_copy(body);
    pthread_mutex_unlock(&stage.trace.turn);
    if (first && pthread_create(&stage.helper, NULL, help, NULL) != 0)
        abort();
}

//-- the stage ---------------------------------------------------------------------------------------------------------

void stage_open(void) {
    memset(&stage, 0, sizeof stage);
    trace_open(&stage.trace);
    trace_if_hung = &stage.trace;
}

// On the scenario's thread. Lines printed while that thread ends are sorted.
void stage_run(void (*body)(void)) {
    stage.loop = CFRunLoopGetCurrent();
    stage.thread = gettid();
    body();
    stage.body_is_over = true;
    if (stage.helper_count > 0)
        pthread_join(stage.helper, NULL);
    if (stage.helper_done < stage.helper_count)
        trace_line(&stage.trace, "(%d things for when the loop sleeps were not done)",
                   stage.helper_count - stage.helper_done);
    stage.trace.prefix = "at the end of the thread: ";
    trace_begin_sorted(&stage.trace);
}

void stage_close(void) {
    trace_end_sorted(&stage.trace);
    for (int i = 0; i < stage.item_count; i++) {
        struct item *item = &stage.items[i];
        item->counted = false;
        if (item->object)
            CFRelease(item->object);
        if (item->body)
            Block_release(item->body);
        if (item->read_end >= 0 && !item->borrowed)
            close(item->read_end);
        if (item->descriptor >= 0 && item->descriptor != item->read_end)
            close(item->descriptor);
    }
    for (int i = 0; i < stage.helper_count; i++)
        Block_release(stage.helper_actions[i]);
    trace_if_hung = NULL;
    trace_close(&stage.trace);
}
