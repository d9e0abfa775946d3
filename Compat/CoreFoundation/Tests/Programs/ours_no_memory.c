// What is created while an allocation fails is whole or NULL, and a child that is forked at an allocation finds everything as it should be.
// Only for ours, whose allocations are replaced here: the linker wraps them.
#include <CoreFoundation/CoreFoundation.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUES = 100 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);

/// How many allocations are left until one fails; negative: none does.
static int left = -1;

static bool fails(void) {
    return left >= 0 && left-- == 0;
}

/// Called by children that are forked after each allocation; NULL: none is.
static bool (*in_child)(void);
static int children, failed_children;

static void fork_here(void) {
    bool (*function)(void) = in_child;
    if (!function)
        return;
    in_child = NULL;
    pid_t child = fork();
    if (child == 0)
        _exit(function() ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    children++;
    failed_children += status != 0;
    in_child = function;
}

void *__wrap_malloc(size_t size) {
    void *memory = fails() ? NULL : __real_malloc(size);
    fork_here();
    return memory;
}

void *__wrap_calloc(size_t count, size_t size) {
    void *memory = fails() ? NULL : __real_calloc(count, size);
    fork_here();
    return memory;
}

void *__wrap_realloc(void *old, size_t size) {
    void *memory = fails() ? NULL : __real_realloc(old, size);
    fork_here();
    return memory;
}

void __wrap_free(void *old) {
    __real_free(old);
    fork_here();
}

//===-- collections --------------------------------------------------------------------------------------------------===//

static const void *values[VALUES];
static CFArrayRef array;
static CFSetRef set;

static CFTypeRef make_array(void) {
    return CFArrayCreate(NULL, values, VALUES, NULL);
}

static CFTypeRef copy_array(void) {
    return CFArrayCreateCopy(NULL, array);
}

static CFTypeRef make_set(void) {
    return CFSetCreate(NULL, values, VALUES, NULL);
}

static CFTypeRef copy_set(void) {
    return CFSetCreateCopy(NULL, set);
}

static CFTypeRef copy_modes(void) {
    return CFRunLoopCopyAllModes(CFRunLoopGetCurrent());
}

static CFIndex count_of(CFTypeRef object) {
    return CFGetTypeID(object) == CFArrayGetTypeID() ? CFArrayGetCount(object) : CFSetGetCount(object);
}

/// Makes it while the first allocation fails, then the second, and so on until there is none to fail.
static void make_each_time(const char *what, CFTypeRef (*make)(void)) {
    CFTypeRef whole = make();
    int missing = 0, parts = 0;
    bool has_failed = true;
    for (int allocation = 0; has_failed; allocation++) {
        left = allocation;
        CFTypeRef made = make();
        has_failed = left < 0;
        left = -1;
        missing += !made;
        parts += made && count_of(made) < count_of(whole);
        CFRelease(made);
    }
    printf("%s: NULL %d, incomplete %d\n", what, missing > 0, parts);
    CFRelease(whole);
}

static void append_each_time(void) {
    int parts = 0;
    bool has_failed = true;
    for (int allocation = 0; has_failed; allocation++) {
        CFMutableArrayRef longer = CFArrayCreateMutable(NULL, 0, NULL);
        left = allocation;
        CFArrayAppendArray(longer, array, CFRangeMake(0, VALUES));
        has_failed = left < 0;
        left = -1;
        parts += CFArrayGetCount(longer) > 0 && CFArrayGetCount(longer) < VALUES;
        CFRelease(longer);
    }
    printf("what is appended: incomplete %d\n", parts);
}

//===-- modes of a block ---------------------------------------------------------------------------------------------===//

/// A block as a compiler lays out one that refers to nothing and is never copied.
static struct block {
    void *isa;
    int flags, reserved;
    void (*invoke)(void *block);
    const unsigned long *descriptor;
} block;

extern void perform_block(CFRunLoopRef loop, CFTypeRef modes, void *block) __asm__("CFRunLoopPerformBlock");

static int calls;

static void invoke(void *called) {
    (void)called;
    calls++;
}

/// Whether a block that was enqueued for two modes is in one of them alone. Their names are new, so they have to be entered.
static bool is_in_one(int allocation, int first, bool *has_failed) {
    CFStringRef modes[2];
    for (int i = 0; i < 2; i++)
        modes[i] = CFStringCreateWithFormat(NULL, NULL, CFSTR("%c %d %d"), "ab"[i], first, allocation);
    CFArrayRef both = CFArrayCreate(NULL, (const void **)modes, 2, NULL);
    calls = 0;
    left = allocation;
    perform_block(CFRunLoopGetCurrent(), both, &block);
    *has_failed = left < 0;
    left = -1;
    CFRunLoopRunInMode(modes[first], 0, false);
    bool was_in_first = calls > 0;
    CFRunLoopRunInMode(modes[1 - first], 0, false);
    bool was_in_second_only = calls > 0 && !was_in_first;
    CFRelease(both);
    CFRelease(modes[0]);
    CFRelease(modes[1]);
    return was_in_second_only;
}

static void perform_each_time(void) {
    static const unsigned long descriptor[2] = {0, sizeof block};
    block = (struct block){.flags = 1 << 28, .invoke = invoke, .descriptor = descriptor};
    int in_one = 0;
    for (int first = 0; first < 2; first++) {
        bool has_failed = true;
        for (int allocation = 0; has_failed; allocation++)
            in_one += is_in_one(allocation, first, &has_failed);
    }
    printf("a block for two modes: in one of them %d, at last performed %d\n", in_one, calls);
}

//===-- sockets of a child -------------------------------------------------------------------------------------------===//

static CFSocketRef known;

static bool is_known(void) {
    CFSocketRef s = CFSocketCreateWithNative(NULL, CFSocketGetNative(known), 0, NULL, NULL);
    return s == known;
}

static void fork_while_the_table_grows(void) {
    int native = dup2(0, 200);
    known = CFSocketCreateWithNative(NULL, dup(0), 0, NULL, NULL);
    fflush(stdout);
    in_child = is_known;
    CFSocketRef s = CFSocketCreateWithNative(NULL, native, 0, NULL, NULL);
    in_child = NULL;
    printf("children %d, without the socket %d\n", children > 1, failed_children);
    CFSocketInvalidate(s);
    CFSocketInvalidate(known);
    CFRelease(s);
    CFRelease(known);
}

int main(void) {
    for (intptr_t i = 0; i < VALUES; i++)
        values[i] = (const void *)(i + 1);
    array = make_array();
    set = make_set();
    make_each_time("an array", make_array);
    make_each_time("a copy of an array", copy_array);
    make_each_time("a set", make_set);
    make_each_time("a copy of a set", copy_set);
    make_each_time("the modes", copy_modes);
    append_each_time();
    perform_each_time();
    fork_while_the_table_grows();
    CFRelease(array);
    CFRelease(set);
    return 0;
}
