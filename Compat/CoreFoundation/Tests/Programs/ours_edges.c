// Where our CoreFoundation differs from the real one on purpose. Only for ours.
#include <CoreFoundation/CFPriv.h>
#include <CoreFoundation/CoreFoundation.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define kMode CFSTR("edges")
static CFRunLoopRef loop;
static CFRunLoopTimerRef revived;
static int calls;

static void stop_now(CFRunLoopTimerRef timer, void *info) {
    (void)timer, (void)info;
    CFRunLoopStop(loop);
}

static void print_info(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    printf(" %s", (const char *)info);
}

static void take(CFRunLoopTimerRef timer, void *info) {
    (void)info;
    calls++;
    if (!revived)
        revived = (CFRunLoopTimerRef)(uintptr_t)CFRetain(timer);
}

static void print_release(const void *info) {
    printf(" the info of %s is released", (const char *)info);
}

static void print_descriptor_release(void *info) {
    print_release(info);
}

static CFRunLoopTimerRef add_timer(CFAbsoluteTime date, CFTimeInterval interval, CFRunLoopTimerCallBack callback,
                                   void *info) {
    CFRunLoopTimerContext context = {0, info, NULL, NULL, NULL};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, date, interval, 0, 0, callback, &context);
    CFRunLoopAddTimer(loop, timer, kMode);
    return timer;
}

static void end_timer(CFRunLoopTimerRef timer) {
    CFRunLoopTimerInvalidate(timer);
    CFRelease(timer);
}

static void numbers(void) {
    CFRunLoopTimerRef timer = add_timer(CFAbsoluteTimeGetCurrent() + 0.01, 0, stop_now, NULL);
    printf("no number as limit, stopped: %d\n", (int)CFRunLoopRunInMode(kMode, NAN, false));
    end_timer(timer);
    timer = add_timer(NAN, NAN, stop_now, NULL);
    printf("no number as date: %.0f, as interval: %g, repeats: %d\n", CFRunLoopTimerGetNextFireDate(timer),
           CFRunLoopTimerGetInterval(timer), CFRunLoopTimerDoesRepeat(timer));
    end_timer(timer);
    timer = add_timer(CFAbsoluteTimeGetCurrent() + 100, 1, stop_now, NULL);
    CFRunLoopTimerSetTolerance(timer, 0.25);
    printf("tolerance %g", CFRunLoopTimerGetTolerance(timer));
    CFRunLoopTimerSetTolerance(timer, 100);
    printf(", capped %g", CFRunLoopTimerGetTolerance(timer));
    CFRunLoopTimerSetTolerance(timer, -1);
    printf(", negative %g\n", CFRunLoopTimerGetTolerance(timer));
    end_timer(timer);
    timer = add_timer(CFAbsoluteTimeGetCurrent(), 1e-12, take, NULL);
    CFRunLoopRunInMode(kMode, 0.01, false);
    printf("an interval below a nanosecond: %d\n", calls > 2);
    end_timer(timer);
}

static void equal_dates(void) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    CFRunLoopTimerRef timers[8];
    CFAbsoluteTime date = CFAbsoluteTimeGetCurrent() + 0.02;
    printf("equal dates:");
    for (int i = 0; i < 8; i++)
        timers[i] = add_timer(date, 0, print_info, (void *)(uintptr_t)names[i]);
    CFRunLoopRunInMode(kMode, 0.05, false);
    printf("\n");
    for (int i = 0; i < 8; i++)
        CFRelease(timers[i]);
}

static void kept_by_the_loop(void) {
    CFRelease(revived);
    revived = NULL;
    calls = 0;
    CFRelease(add_timer(0, 0.001, take, NULL));
    CFRunLoopRunInMode(kMode, 0.01, false);
    printf("kept by the loop alone, then referenced again: %d, valid: %d\n", calls > 1, CFRunLoopTimerIsValid(revived));
    end_timer(revived);
}

/// What only the loop still owns lasts as long as the call that invalidates it.
static void invalidated_by_the_last_owner(void) {
    CFRunLoopTimerContext context = {0, (void *)(uintptr_t) "a timer", NULL, print_release, NULL};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 1000, 0, 0, 0, NULL, &context);
    CFRunLoopAddTimer(loop, timer, kMode);
    CFRelease(timer);
    printf("only in the loop:");
    CFRunLoopTimerInvalidate(timer);
    printf(",");
    CFFileDescriptorContext other = {0, (void *)(uintptr_t) "a descriptor", NULL, print_descriptor_release, NULL};
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, dup(0), true, NULL, &other);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFRunLoopAddSource(loop, source, kMode);
    CFRelease(source);
    CFRelease(f);
    CFFileDescriptorInvalidate(f);
    printf("\n");
}

static void no_arguments(void) {
    CFRunLoopAddSource(loop, NULL, kMode);
    CFRunLoopAddTimer(NULL, NULL, NULL);
    CFRunLoopAddObserver(loop, NULL, NULL);
    CFRunLoopSourceSignal(NULL);
    CFRunLoopWakeUp(NULL);
    CFRunLoopStop(NULL);
    CFRelease(NULL);
    printf("NULL: %d %d %g %ld\n", (int)CFRunLoopRunInMode(NULL, 1, false), CFRunLoopContainsTimer(loop, NULL, kMode),
           CFRunLoopTimerGetNextFireDate(NULL), CFArrayGetCount(NULL));
}

static int get_port(void *info) {
    return *(int *)info;
}

static void read_pipe(void *info) {
    char text[64];
    ssize_t count = read(*(int *)info, text, sizeof text);
    printf("from the pipe: '%.*s'\n", (int)count, text);
}

static void ports(void) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK))
        return;
    CFRunLoopSourceContext1 context = {1, ends, NULL, NULL, NULL, NULL, NULL, get_port, read_pipe};
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, (CFRunLoopSourceContext *)&context);
    CFRunLoopAddSource(loop, source, kMode);
    printf("written: %ld\n", (long)write(ends[1], "all twenty-one bytes.", 21));
    printf("a pipe as a port: %d\n", (int)CFRunLoopRunInMode(kMode, 1, true));
    // The same source, after its program has opened another descriptor.
    CFRunLoopRemoveSource(loop, source, kMode);
    close(ends[0]);
    close(ends[1]);
    int plug = dup(0);
    if (pipe2(ends, O_NONBLOCK))
        return;
    CFRunLoopAddSource(loop, source, kMode);
    printf("written: %ld\n", (long)write(ends[1], "again", 5));
    printf("another pipe: %d\n", (int)CFRunLoopRunInMode(kMode, 1, true));
    CFRunLoopSourceInvalidate(source);
    printf("contained: %d, valid: %d\n", CFRunLoopContainsSource(loop, source, kMode), CFRunLoopSourceIsValid(source));
    CFRelease(source);
    close(ends[0]);
    close(ends[1]);
    close(plug);
}

static void modes(void) {
    CFRunLoopSourceContext context = {.version = 0};
    CFRunLoopSourceRef first = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopSourceRef second = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop, first, kMode);
    printf("equal by content: %d, but two members:", CFEqual(first, second));
    printf(" %d", CFRunLoopContainsSource(loop, second, kMode));
    CFRunLoopAddSource(loop, second, kMode);
    CFRunLoopRemoveSource(loop, first, kMode);
    printf(" %d\n", CFRunLoopContainsSource(loop, second, kMode));
    CFStringRef name = CFStringCreateWithCString(NULL, "kCFRunLoopCommonModes", kCFStringEncodingASCII);
    CFRunLoopAddSource(loop, first, name);
    printf("the common modes by value: %d\n", CFRunLoopContainsSource(loop, first, kCFRunLoopDefaultMode));
    CFRelease(name);
    _CFRunLoopStopMode(loop, kMode);
    printf("a stop of the mode, remembered: %d", (int)CFRunLoopRunInMode(kMode, 10, false));
    printf(", once: %d\n", (int)CFRunLoopRunInMode(kMode, 0.001, false));
    printf("finished: %d %d\n", _CFRunLoopFinished(loop, kMode), _CFRunLoopFinished(loop, CFSTR("no such mode")));
    CFRunLoopAddSource(loop, first, CFSTR("Dämmerung"));
    CFStringRef wide = CFStringCreateWithCString(NULL, "D\xc3\xa4mmerung", kCFStringEncodingUTF8);
    printf("a name beyond ASCII: %ld, %d\n", CFStringGetLength(wide), CFRunLoopContainsSource(loop, first, wide));
    CFRelease(wide);
    CFRunLoopSourceInvalidate(first);
    CFRunLoopSourceInvalidate(second);
    CFRelease(first);
    CFRelease(second);
}

/// Runs a function in a child process and prints how the child ended.
static void in_child(const char *what, void (*function)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        function();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s: %s\n", what, WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? "aborted" : "went on");
}

static void run_in_child(void) {
    CFRunLoopRef mine = CFRunLoopGetCurrent();
    printf("another loop in the child: %d",
           mine != loop && mine == CFRunLoopGetCurrent() && mine == CFRunLoopGetMain());
    CFRunLoopRef parents = loop;
    loop = mine;
    CFRunLoopTimerRef timer = add_timer(0, 0, stop_now, NULL);
    printf(", which runs: %d\n", (int)CFRunLoopRunInMode(kMode, 10, false));
    CFRelease(timer);
    loop = parents;
}

static void wrong_type(void) {
    freopen("/dev/null", "w", stderr);
    CFRunLoopWakeUp((CFRunLoopRef)(uintptr_t)CFSTR("no loop"));
}

static void released_too_often(void) {
    freopen("/dev/null", "w", stderr);
    loop = CFRunLoopGetCurrent();
    CFRunLoopTimerRef timer = add_timer(CFAbsoluteTimeGetCurrent() + 1000, 0, stop_now, NULL);
    CFRelease(timer);
    CFRelease(timer);
}

static void released_loop(void) {
    freopen("/dev/null", "w", stderr);
    CFRelease(CFRunLoopGetCurrent());
}

int main(void) {
    loop = CFRunLoopGetCurrent();
    numbers();
    equal_dates();
    kept_by_the_loop();
    invalidated_by_the_last_owner();
    no_arguments();
    ports();
    modes();
    in_child("fork", run_in_child);
    in_child("a string as a loop", wrong_type);
    in_child("a timer released too often", released_too_often);
    in_child("a loop released while its thread lives", released_loop);
    return 0;
}
