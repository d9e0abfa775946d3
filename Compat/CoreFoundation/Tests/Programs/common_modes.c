// A separate mode for tracking, declared common, so that timers and observers of the common modes work in it, too.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdio.h>

#define kTrackingMode CFSTR("com.example.tracking")

static void print_mode(const char *what) {
    CFStringRef mode = CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent());
    char name[64] = "none";
    if (mode) {
        CFStringGetCString(mode, name, sizeof name, kCFStringEncodingUTF8);
        CFRelease(mode);
    }
    printf("%s in %s\n", what, name);
}

static void everywhere(CFRunLoopTimerRef timer, void *info) {
    (void)timer, (void)info;
    print_mode("common timer");
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static void track(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    print_mode("tracking starts");
    // This timer fires in a run that continues after the tracking.
    printf("tracking ends: %d\n", (int)CFRunLoopRunInMode(kTrackingMode, 5, false));
    *(int *)info = 1;
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static void note_schedule(void *info, CFRunLoopRef loop, CFStringRef mode) {
    (void)loop;
    char name[64];
    CFStringGetCString(mode, name, sizeof name, kCFStringEncodingUTF8);
    printf("%s: scheduled in %s\n", (const char *)info, name);
}

static void *run(void *unused) {
    (void)unused;
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    print_mode("before any run");
    CFRunLoopSourceContext context = {0, "source", NULL, NULL, NULL, NULL, NULL, note_schedule, NULL, NULL};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop, source, kCFRunLoopCommonModes);
    CFRunLoopAddCommonMode(loop, kTrackingMode);
    printf("contained: %d %d %d\n", CFRunLoopContainsSource(loop, source, kCFRunLoopDefaultMode),
           CFRunLoopContainsSource(loop, source, kTrackingMode),
           CFRunLoopContainsSource(loop, source, kCFRunLoopCommonModes));

    CFAbsoluteTime now = CFAbsoluteTimeGetCurrent();
    int tracked = 0;
    CFRunLoopTimerContext timer_context = {0, &tracked, NULL, NULL, NULL};
    CFRunLoopTimerRef start = CFRunLoopTimerCreate(NULL, now + 0.01, 0, 0, 0, track, &timer_context);
    CFRunLoopTimerRef common = CFRunLoopTimerCreate(NULL, now + 0.03, 0.01, 0, 0, everywhere, NULL);
    CFRunLoopAddTimer(loop, start, kCFRunLoopDefaultMode);
    CFRunLoopAddTimer(loop, common, kCFRunLoopCommonModes);
    printf("earliest in default is start: %d\n",
           CFRunLoopGetNextTimerFireDate(loop, kCFRunLoopDefaultMode) == CFRunLoopTimerGetNextFireDate(start));
    SInt32 result = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 5, false);
    printf("result %d, tracked %d\n", (int)result, tracked);
    printf("result %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 5, false));

    CFArrayRef modes = CFRunLoopCopyAllModes(loop);
    CFRange all = {0, CFArrayGetCount(modes)};
    printf("modes: %d, default %d, tracking %d\n", (int)all.length,
           CFArrayContainsValue(modes, all, kCFRunLoopDefaultMode), CFArrayContainsValue(modes, all, kTrackingMode));
    CFRelease(modes);
    CFRunLoopTimerInvalidate(common);
    CFRunLoopSourceInvalidate(source);
    CFRelease(common);
    CFRelease(start);
    CFRelease(source);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    return 0;
}
