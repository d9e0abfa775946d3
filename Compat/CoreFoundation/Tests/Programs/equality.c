// Sources that have an `equal`: which of them a mode takes, has and gives back.
#include <CoreFoundation/CoreFoundation.h>
#include <string.h>

#define kMode CFSTR("equality")
static CFRunLoopRef loop;

static Boolean equal(const void *info, const void *other) {
    return strcmp(info, other) == 0;
}

static Boolean always_equal(const void *info, const void *other) {
    (void)info, (void)other;
    return true;
}

static CFHashCode hash(const void *info) {
    return (CFHashCode) * (const char *)info;
}

static void perform(void *info) {
    printf(" %s", (const char *)info);
}

static void perform_otherwise(void *info) {
    printf(" %s otherwise", (const char *)info);
}

static void schedule(void *info, CFRunLoopRef rl, CFStringRef mode) {
    (void)rl, (void)mode;
    printf(" +%s", (const char *)info);
}

static void cancel(void *info, CFRunLoopRef rl, CFStringRef mode) {
    (void)rl, (void)mode;
    printf(" -%s", (const char *)info);
}

static CFRunLoopSourceContext context(const char *name) {
    return (CFRunLoopSourceContext){.info = (void *)(uintptr_t)name,
                                    .equal = equal,
                                    .hash = hash,
                                    .schedule = schedule,
                                    .cancel = cancel,
                                    .perform = perform};
}

static CFRunLoopSourceRef make(CFIndex order, CFRunLoopSourceContext of) {
    return CFRunLoopSourceCreate(NULL, order, &of);
}

static void try(const char *what, CFRunLoopSourceRef source, CFRunLoopMode mode) {
    printf("%s:", what);
    CFRunLoopAddSource(loop, source, mode);
    printf(" %s\n", CFRunLoopContainsSource(loop, source, mode) ? "there" : "not there");
}

static void excluded(void) {
    char name[] = "twin", other[] = "twin"; // two objects, equal by content
    CFRunLoopSourceRef a = make(0, context(name)), b = make(0, context(other));
    try("the first", a, kMode);
    try("an equal one", b, kMode);
    CFRunLoopSourceContext differs = context("twin");
    differs.perform = perform_otherwise;
    try("another callback", make(0, differs), kMode);
    differs = context("twin");
    differs.equal = always_equal;
    try("another function that compares", make(0, differs), kMode);
    try("another order", make(1, context("twin")), kMode);
    try("another content", make(0, context("tower")), kMode);
    printf("signalled, though it is no member:");
    CFRunLoopSourceSignal(b);
    CFRunLoopRunInMode(kMode, 0, false);
    printf("\nremoved by its equal:");
    CFRunLoopRemoveSource(loop, b, kMode);
    printf(" %s\n", CFRunLoopContainsSource(loop, a, kMode) ? "there" : "not there");
    try("again", b, kMode);
    CFRunLoopSourceInvalidate(a);
    printf("an invalid one: %s\n", CFRunLoopContainsSource(loop, a, kMode) ? "equal" : "not equal");
    CFRunLoopSourceInvalidate(b);
    printf("\n");
    CFRelease(a);
    CFRelease(b);
}

static void common(void) {
    CFRunLoopSourceRef a = make(0, context("c")), b = make(0, context("c"));
    try("common", a, kCFRunLoopCommonModes);
    try("an equal one", b, kCFRunLoopCommonModes);
    printf("one more common mode:");
    CFRunLoopAddCommonMode(loop, CFSTR("equality, common"));
    printf("\nremoved by its equal:");
    CFRunLoopRemoveSource(loop, b, kCFRunLoopCommonModes);
    printf(" %s\n", CFRunLoopContainsSource(loop, a, kCFRunLoopDefaultMode) ? "there" : "not there");
    CFRelease(a);
    CFRelease(b);
}

int main(void) {
    loop = CFRunLoopGetCurrent();
    excluded();
    common();
    return 0;
}
