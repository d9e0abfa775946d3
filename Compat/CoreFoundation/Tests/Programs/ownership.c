// Ownership: contexts with retain and release, items that only a loop owns, a loop that outlives its thread.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
    const char *name;
    _Atomic int references;
} Thing;

static const void *retain(const void *info) {
    Thing *thing = (Thing *)info;
    printf("  %s: %d references\n", thing->name, ++thing->references);
    return info;
}

static void release(const void *info) {
    Thing *thing = (Thing *)info;
    int left = thing->references - 1;
    printf("  %s: %d references\n", thing->name, left);
    thing->references = left;
}

static CFStringRef describe(const void *info) {
    return CFStringCreateWithCString(NULL, ((const Thing *)info)->name, kCFStringEncodingUTF8);
}

static void fire(CFRunLoopTimerRef timer, void *info) {
    printf("  %s fires, valid: %d\n", ((Thing *)info)->name, CFRunLoopTimerIsValid(timer));
}

static void observe(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer;
    printf("  %s observes %d\n", ((Thing *)info)->name, (int)activity);
}

static void perform(void *info) {
    printf("  %s performs\n", ((Thing *)info)->name);
}

static CFRunLoopRef finished_loop;
static CFRunLoopTimerRef orphan;
static Thing orphaned = {"orphan", 0};

static void *run(void *unused) {
    (void)unused;
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    finished_loop = (CFRunLoopRef)CFRetain(loop);
    Thing once = {"once", 0}, observed = {"observer", 0}, sourced = {"source", 0};

    printf("a timer that fires once\n");
    CFRunLoopTimerContext timer_context = {0, &once, retain, release, describe};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, 0, 0, 0, 0, fire, &timer_context);
    CFRunLoopAddTimer(loop, timer, kCFRunLoopDefaultMode);
    CFRelease(timer);
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 20, false);

    printf("a source, invalidated\n");
    CFRunLoopSourceContext source_context = {0, &sourced, retain, release, describe, NULL, NULL, NULL, NULL, perform};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &source_context);
    CFRunLoopAddSource(loop, source, kCFRunLoopDefaultMode);
    CFRunLoopSourceSignal(source);
    printf("  result %d\n", (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1e10, true));
    CFRunLoopSourceInvalidate(source);
    printf("  invalid, not yet released\n");
    CFRelease(source);

    printf("an observer of one entry\n");
    CFRunLoopObserverContext observer_context = {0, &observed, retain, release, describe};
    CFRunLoopObserverRef observer =
        CFRunLoopObserverCreate(NULL, kCFRunLoopEntry, false, 0, observe, &observer_context);
    CFRunLoopAddObserver(loop, observer, kCFRunLoopDefaultMode);
    timer_context.info = &orphaned;
    orphan = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 1000, 0, 0, 0, fire, &timer_context);
    CFRunLoopAddTimer(loop, orphan, kCFRunLoopDefaultMode);
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false);
    printf("  valid: %d\n", CFRunLoopObserverIsValid(observer));
    CFRelease(observer);
    printf("the thread ends\n");
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    printf("the orphan is valid: %d\n", CFRunLoopTimerIsValid(orphan));
    printf("its loop is not waiting: %d\n", !CFRunLoopIsWaiting(finished_loop));
    CFRunLoopWakeUp(finished_loop);
    CFRunLoopStop(finished_loop);
    CFRelease(finished_loop);
    // The real one releases the context with the loop, which it does not always free before the program ends.
    CFRunLoopTimerInvalidate(orphan);
    CFRelease(orphan);
    // The real one may still have a thread of its own let go of the timer.
    for (int i = 0; i < 10000 && orphaned.references > 0; i++)
        usleep(1000);
    return 0;
}
