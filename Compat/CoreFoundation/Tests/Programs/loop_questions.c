// What a program may ask of items and loops: types, modes, contexts, orders, descriptions.
#include <CoreFoundation/CoreFoundation.h>
#include <stdint.h>
#include <stdio.h>

// Not in the header of the real one.
extern Boolean CFRunLoopSourceIsSignalled(CFRunLoopSourceRef source);

static int described;

static CFStringRef describe(const void *info) {
    described++;
    return CFStringCreateWithCString(NULL, info, kCFStringEncodingUTF8);
}

static CFHashCode hash(const void *info) {
    return (CFHashCode)((const char *)info)[0];
}

static Boolean equal(const void *left, const void *right) {
    return ((const char *)left)[0] == ((const char *)right)[0];
}

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer, (void)info;
}

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer, (void)activity, (void)info;
}

static void perform(void *info) {
    printf("  performs %s\n", (const char *)info);
}

static void timers(CFRunLoopRef loop) {
    CFRunLoopTimerContext context = {0, "a timer", NULL, NULL, describe}, found = {0};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 1000, 5, 0, 3, fire, &context);
    CFRunLoopTimerGetContext(timer, &found);
    printf("timer: type %d, order %d, repeats %d, interval %g, info %s\n",
           CFGetTypeID(timer) == CFRunLoopTimerGetTypeID(), (int)CFRunLoopTimerGetOrder(timer),
           CFRunLoopTimerDoesRepeat(timer), CFRunLoopTimerGetInterval(timer), (const char *)found.info);
    CFRunLoopAddTimer(loop, timer, kCFRunLoopDefaultMode);
    printf("contained %d", CFRunLoopContainsTimer(loop, timer, kCFRunLoopDefaultMode));
    CFRunLoopRemoveTimer(loop, timer, CFSTR("another"));
    printf(" %d", CFRunLoopContainsTimer(loop, timer, kCFRunLoopDefaultMode));
    CFRunLoopRemoveTimer(loop, timer, kCFRunLoopDefaultMode);
    printf(" %d, valid %d\n", CFRunLoopContainsTimer(loop, timer, kCFRunLoopDefaultMode), CFRunLoopTimerIsValid(timer));
    CFRunLoopTimerInvalidate(timer);
    CFRunLoopTimerGetContext(timer, &found);
    printf("invalid: info %d, valid %d\n", found.info != NULL, CFRunLoopTimerIsValid(timer));
    CFRelease(timer);
}

static void observers(CFRunLoopRef loop) {
    CFRunLoopObserverContext context = {0, "an observer", NULL, NULL, describe}, found = {0};
    CFRunLoopObserverRef observer =
        CFRunLoopObserverCreate(NULL, kCFRunLoopEntry | kCFRunLoopExit, true, 7, observe, &context);
    CFRunLoopObserverGetContext(observer, &found);
    printf("observer: type %d, order %d, activities %d, repeats %d, info %s\n",
           CFGetTypeID(observer) == CFRunLoopObserverGetTypeID(), (int)CFRunLoopObserverGetOrder(observer),
           (int)CFRunLoopObserverGetActivities(observer), CFRunLoopObserverDoesRepeat(observer),
           (const char *)found.info);
    CFRunLoopAddObserver(loop, observer, kCFRunLoopCommonModes);
    printf("contained %d %d", CFRunLoopContainsObserver(loop, observer, kCFRunLoopDefaultMode),
           CFRunLoopContainsObserver(loop, observer, kCFRunLoopCommonModes));
    CFRunLoopRemoveObserver(loop, observer, kCFRunLoopCommonModes);
    printf(" %d %d\n", CFRunLoopContainsObserver(loop, observer, kCFRunLoopDefaultMode),
           CFRunLoopContainsObserver(loop, observer, kCFRunLoopCommonModes));
    CFRunLoopObserverInvalidate(observer);
    CFRunLoopObserverGetContext(observer, &found);
    printf("invalid: info %d, valid %d\n", found.info != NULL, CFRunLoopObserverIsValid(observer));
    CFRelease(observer);
}

static void sources(CFRunLoopRef loop) {
    CFRunLoopSourceContext context = {0, "a source", NULL, NULL, describe, equal, hash, NULL, NULL, perform},
                           found = {0};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 2, &context);
    context.info = "also an a";
    CFRunLoopSourceRef same = CFRunLoopSourceCreate(NULL, 2, &context);
    context.info = "no such";
    CFRunLoopSourceRef other = CFRunLoopSourceCreate(NULL, 2, &context);
    CFRunLoopSourceGetContext(source, &found);
    printf("source: type %d, order %d, info %s\n", CFGetTypeID(source) == CFRunLoopSourceGetTypeID(),
           (int)CFRunLoopSourceGetOrder(source), (const char *)found.info);
    printf("equal %d, hash %d, others %d\n", CFEqual(source, same), CFHash(source) == CFHash(same),
           CFEqual(source, other));
    CFRunLoopAddSource(loop, source, kCFRunLoopDefaultMode);
    printf("contained %d, what equals it %d, others %d\n", CFRunLoopContainsSource(loop, source, kCFRunLoopDefaultMode),
           CFRunLoopContainsSource(loop, same, kCFRunLoopDefaultMode),
           CFRunLoopContainsSource(loop, other, kCFRunLoopDefaultMode));
    printf("signalled %d", CFRunLoopSourceIsSignalled(source));
    CFRunLoopSourceSignal(source);
    printf(" %d\n", CFRunLoopSourceIsSignalled(source));
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false);
    printf("afterwards %d\n", CFRunLoopSourceIsSignalled(source));
    CFRunLoopSourceInvalidate(source);
    printf("invalid: valid %d, contained %d\n", CFRunLoopSourceIsValid(source),
           CFRunLoopContainsSource(loop, source, kCFRunLoopDefaultMode));
    CFRelease(source), CFRelease(same), CFRelease(other);
}

int main(void) {
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    printf("loop: type %d, the main one %d\n", CFGetTypeID(loop) == CFRunLoopGetTypeID(), loop == CFRunLoopGetMain());
    timers(loop);
    observers(loop);
    sources(loop);
    CFRunLoopTimerContext context = {0, "a timer that is named", NULL, NULL, describe};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 1000, 0, 0, 0, fire, &context);
    CFRunLoopAddTimer(loop, timer, kCFRunLoopDefaultMode);
    CFStringRef description = CFCopyDescription(loop), type = CFCopyTypeIDDescription(CFRunLoopGetTypeID());
    printf("described: %d, its timer's context %d, of the type %d\n",
           CFStringFind(description, CFSTR("a timer that is named"), 0).location != kCFNotFound, described,
           CFStringHasPrefix(type, CFSTR("CFRunLoop")));
    CFRelease(description), CFRelease(type), CFRelease(timer);
    return 0;
}
