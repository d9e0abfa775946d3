// The activities of a run, in the order in which observers are notified.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdio.h>

static const char *name_of(CFRunLoopActivity activity) {
    switch (activity) {
    case kCFRunLoopEntry: return "entry";
    case kCFRunLoopBeforeTimers: return "before timers";
    case kCFRunLoopBeforeSources: return "before sources";
    case kCFRunLoopBeforeWaiting: return "before waiting";
    case kCFRunLoopAfterWaiting: return "after waiting";
    case kCFRunLoopExit: return "exit";
    default: return "?";
    }
}

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer;
    printf("  %s%s\n", (const char *)info, name_of(activity));
}

static void observe_once(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    printf("  once: %s, still valid: %d\n", name_of(activity), CFRunLoopObserverIsValid(observer));
    (void)info;
}

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer, (void)info;
    printf("  timer\n");
}

static void perform(void *info) {
    printf("  source\n");
    CFRunLoopSourceRef *again = info;
    if (*again) {
        CFRunLoopSourceSignal(*again);
        *again = NULL;
    }
}

static void *logged(void *unused) {
    (void)unused;
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    CFRunLoopSourceRef again = NULL;
    CFRunLoopSourceContext source_context = {0, &again, NULL, NULL, NULL, NULL, NULL, NULL, NULL, perform};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &source_context);
    CFRunLoopAddSource(loop, source, kCFRunLoopDefaultMode);

    CFRunLoopObserverContext first = {0, "a: ", NULL, NULL, NULL}, second = {0, "b: ", NULL, NULL, NULL};
    CFRunLoopObserverRef a = CFRunLoopObserverCreate(NULL, kCFRunLoopAllActivities, true, 1, observe, &first);
    CFRunLoopObserverRef b =
        CFRunLoopObserverCreate(NULL, kCFRunLoopEntry | kCFRunLoopExit, true, -1, observe, &second);
    CFRunLoopObserverRef once = CFRunLoopObserverCreate(NULL, kCFRunLoopBeforeSources, false, 0, observe_once, NULL);
    CFRunLoopAddObserver(loop, a, kCFRunLoopDefaultMode);
    CFRunLoopAddObserver(loop, b, kCFRunLoopDefaultMode);
    CFRunLoopAddObserver(loop, once, kCFRunLoopDefaultMode);

    printf("nothing to do, no time: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, true));
    printf("once is valid: %d\n", CFRunLoopObserverIsValid(once));
    CFRunLoopSourceSignal(source);
    printf("a source, returning after it: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 5, true));
    again = source;
    CFRunLoopSourceSignal(source);
    printf("a source that signals itself: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.02, false));
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 0.02, 0, 0, 0, fire, NULL);
    CFRunLoopAddTimer(loop, timer, kCFRunLoopDefaultMode);
    printf("a timer: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.06, false));
    printf("the timer is valid: %d\n", CFRunLoopTimerIsValid(timer));
    CFRunLoopRemoveSource(loop, source, kCFRunLoopDefaultMode);
    printf("an empty mode: %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 5, false));
    CFRelease(timer);
    CFRelease(source);
    CFRelease(once);
    CFRelease(a);
    CFRelease(b);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, logged, NULL);
    pthread_join(thread, NULL);
    return 0;
}
