// The first program of every tutorial: a repeating timer, and a stop after some ticks.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>

static void tick(CFRunLoopTimerRef timer, void *info) {
    int *count = info;
    printf("tick %d\n", ++*count);
    if (*count == 5) {
        CFRunLoopTimerInvalidate(timer);
        CFRunLoopStop(CFRunLoopGetCurrent());
    }
}

int main(void) {
    int count = 0;
    CFRunLoopTimerContext context = {0, &count, NULL, NULL, NULL};
    CFAbsoluteTime start = CFAbsoluteTimeGetCurrent();
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(kCFAllocatorDefault, start + 0.02, 0.02, 0, 0, tick, &context);
    CFRunLoopAddTimer(CFRunLoopGetMain(), timer, kCFRunLoopCommonModes);
    printf("repeats: %d, interval in ms: %d\n", CFRunLoopTimerDoesRepeat(timer),
           (int)(CFRunLoopTimerGetInterval(timer) * 1000 + 0.5));
    printf("date as given: %d\n", CFRunLoopTimerGetNextFireDate(timer) == start + 0.02);
    CFRunLoopRun();
    CFAbsoluteTime lasted = CFAbsoluteTimeGetCurrent() - start;
    printf("not before its time: %d\n", lasted >= 0.1);
    printf("valid: %d, date: %g\n", CFRunLoopTimerIsValid(timer), CFRunLoopTimerGetNextFireDate(timer));
    CFRunLoopTimerGetContext(timer, &context);
    printf("info is gone: %d\n", context.info == NULL);
    CFRelease(timer);
    return 0;
}
