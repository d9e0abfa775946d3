// A polling timer as programs for laptops write it: an interval, and a tolerance so that the machine may sleep longer.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>

typedef struct {
    int polls;
    CFAbsoluteTime due;
} Poller;

static void poll(CFRunLoopTimerRef timer, void *info) {
    Poller *poller = info;
    CFAbsoluteTime now = CFAbsoluteTimeGetCurrent(), planned = CFRunLoopTimerGetNextFireDate(timer);
    if (now < planned - 0.001)
        printf("too early\n");
    int ticks = (int)((planned - poller->due) / 0.03 + 0.5);
    printf("poll %d, on the grid: %d\n", poller->polls, ticks == poller->polls);
    poller->polls++;
    if (poller->polls == 4)
        CFRunLoopStop(CFRunLoopGetCurrent());
}

int main(void) {
    Poller poller = {0, CFAbsoluteTimeGetCurrent() + 0.03};
    CFRunLoopTimerContext context = {0, &poller, NULL, NULL, NULL};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, poller.due, 0.03, 0, 0, poll, &context);
    CFRunLoopTimerSetTolerance(timer, 0.003);
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode);
    SInt32 result = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 10, false);
    printf("result %d\n", (int)result);
    CFRunLoopTimerInvalidate(timer);
    CFRelease(timer);
    return 0;
}
