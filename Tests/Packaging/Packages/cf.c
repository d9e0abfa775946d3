// A program on CoreFoundation's interface: a timer that ends the run.
#include <CoreFoundation/CoreFoundation.h>

static void fire(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    ++*(int *)info;
    CFRunLoopStop(CFRunLoopGetCurrent());
}

int main(void) {
    int count = 0;
    CFRunLoopTimerContext context = {.info = &count};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent(), 0, 0, 0, fire, &context);
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode);
    int result = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1000, false);
    CFRelease(timer);
    return result != kCFRunLoopRunStopped || count != 1;
}
