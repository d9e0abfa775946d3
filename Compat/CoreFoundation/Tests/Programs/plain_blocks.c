// Blocks that capture numbers or nothing. For them the compiler emits no calls of the blocks runtime. Needs -fblocks.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>
#include <stdlib.h>

static int ticks;

int main(int argc, char **argv) {
    (void)argv;
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    for (int i = 0; i < 3; i++) {
        CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode, ^{
          printf("captured %d of %d argument\n", i, argc);
        });
    }
    CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode, ^{
      printf("nothing captured\n");
    });
    CFRunLoopTimerRef timer = CFRunLoopTimerCreateWithHandler(NULL, 0, 0.001, 0, 0, ^(CFRunLoopTimerRef t) {
      printf("tick %d, with %d argument\n", ++ticks, argc);
      if (ticks == 3)
          CFRunLoopTimerInvalidate(t);
      if (ticks == 3)
          CFRunLoopStop(CFRunLoopGetCurrent());
    });
    CFRunLoopObserverRef observer = CFRunLoopObserverCreateWithHandler(
        NULL, kCFRunLoopEntry, false, 0, ^(CFRunLoopObserverRef o, CFRunLoopActivity activity) {
          printf("activity %d, repeats: %d\n", (int)activity, CFRunLoopObserverDoesRepeat(o));
        });
    if (!timer || !observer) {
        printf("no timer or no observer\n");
        return 1;
    }
    CFRunLoopAddTimer(loop, timer, kCFRunLoopDefaultMode);
    CFRunLoopAddObserver(loop, observer, kCFRunLoopDefaultMode);
    CFRunLoopRun();
    CFRelease(timer);
    CFRelease(observer);
    return 0;
}
