// One timer for the whole life of a program, moved whenever there is something to wait for and otherwise far away.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>

#define FAR_AWAY 1e20

static int saves, edits;
static CFRunLoopTimerRef save_timer;

static void save(CFRunLoopTimerRef timer, void *info) {
    (void)info;
    printf("saved after %d edits\n", edits);
    edits = 0;
    CFRunLoopTimerSetNextFireDate(timer, FAR_AWAY);
    if (++saves == 2)
        CFRunLoopStop(CFRunLoopGetCurrent());
}

static void edit(CFRunLoopTimerRef timer, void *info) {
    int *left = info;
    edits++;
    CFRunLoopTimerSetNextFireDate(save_timer, CFAbsoluteTimeGetCurrent() + 0.05);
    if (--*left == 0) {
        *left = 3;
        // A pause, in which the program saves.
        CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent() + 0.15);
    }
}

int main(void) {
    int left = 3;
    CFRunLoopTimerContext context = {0, &left, NULL, NULL, NULL};
    save_timer = CFRunLoopTimerCreate(NULL, FAR_AWAY, FAR_AWAY, 0, 0, save, NULL);
    CFRunLoopTimerRef typing = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent(), 0.01, 0, 0, edit, &context);
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), save_timer, kCFRunLoopCommonModes);
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), typing, kCFRunLoopCommonModes);
    printf("far away: %.0f\n", CFRunLoopTimerGetNextFireDate(save_timer));
    CFRunLoopRun();
    printf("far away again: %.0f\n", CFRunLoopTimerGetNextFireDate(save_timer));
    CFRunLoopTimerInvalidate(typing);
    CFRunLoopTimerInvalidate(save_timer);
    CFRelease(typing);
    CFRelease(save_timer);
    return 0;
}
