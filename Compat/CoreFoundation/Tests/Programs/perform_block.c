// Blocks: performed on another thread's loop, as handlers of timers and observers, and to stop a run. Needs -fblocks.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdio.h>

static CFRunLoopRef worker_loop;
static pthread_barrier_t barrier;

static void *worker(void *unused) {
    (void)unused;
    worker_loop = (CFRunLoopRef)CFRetain(CFRunLoopGetCurrent());
    CFRunLoopSourceContext context = {0};
    CFRunLoopSourceRef keep = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(worker_loop, keep, kCFRunLoopDefaultMode);
    pthread_barrier_wait(&barrier);
    CFRunLoopRun();
    printf("the worker's loop was stopped\n");
    CFRelease(keep);
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_barrier_wait(&barrier);

    for (int i = 1; i <= 3; i++) {
        CFRunLoopPerformBlock(worker_loop, kCFRunLoopDefaultMode, ^{
          printf("block %d on the worker: %d\n", i, CFRunLoopGetCurrent() == worker_loop);
        });
    }
    CFStringRef names[] = {CFSTR("some mode"), kCFRunLoopCommonModes};
    CFArrayRef modes = CFArrayCreate(NULL, (const void **)names, 2, &kCFTypeArrayCallBacks);
    CFRunLoopPerformBlock(worker_loop, modes, ^{
      CFRunLoopStop(CFRunLoopGetCurrent());
    });
    CFRelease(modes);
    CFRunLoopWakeUp(worker_loop);
    pthread_join(thread, NULL);
    CFRelease(worker_loop);

    __block int ticks = 0;
    CFRunLoopTimerRef timer =
        CFRunLoopTimerCreateWithHandler(NULL, CFAbsoluteTimeGetCurrent(), 0.01, 0, 0, ^(CFRunLoopTimerRef t) {
          printf("tick %d\n", ++ticks);
          if (ticks == 3)
              CFRunLoopTimerInvalidate(t);
          if (ticks == 3)
              CFRunLoopStop(CFRunLoopGetCurrent());
        });
    CFRunLoopObserverRef observer = CFRunLoopObserverCreateWithHandler(
        NULL, kCFRunLoopEntry | kCFRunLoopExit, true, 0, ^(CFRunLoopObserverRef o, CFRunLoopActivity activity) {
          printf("%s, valid: %d\n", activity == kCFRunLoopEntry ? "entry" : "exit", CFRunLoopObserverIsValid(o));
        });
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode);
    CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, kCFRunLoopDefaultMode);
    CFRunLoopRun();
    CFRunLoopObserverInvalidate(observer);
    CFRelease(observer);
    CFRelease(timer);
    printf("%d ticks\n", ticks);
    return 0;
}
