// Allocators of a program's own, which free what data and strings are given; and truth values. (The CoreFoundation of the Swift toolchain
// for Linux ends a program that creates an allocator. Only for ours.)
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int retained, released, allocated, freed;

static const void *retain(const void *info) {
    retained++;
    return info;
}

static void release(const void *info) {
    (void)info;
    released++;
}

static void *allocate(CFIndex size, CFOptionFlags hint, void *info) {
    (void)hint, (void)info;
    allocated++;
    return malloc((size_t)size);
}

static void deallocate(void *ptr, void *info) {
    (void)info;
    freed++;
    free(ptr);
}

static UInt8 *letters(const char *text) {
    return (UInt8 *)strdup(text);
}

int main(void) {
    CFAllocatorContext context = {.info = &retained, .retain = retain, .release = release};
    context.allocate = allocate;
    context.deallocate = deallocate;
    CFAllocatorRef allocator = CFAllocatorCreate(NULL, &context);
    CFAllocatorContext copy;
    CFAllocatorGetContext(allocator, &copy);
    printf("an allocator: %d, its info %d\n", CFGetTypeID(allocator) == CFAllocatorGetTypeID(), copy.info == &retained);
    void *memory = CFAllocatorAllocate(allocator, 10, 0);
    CFAllocatorDeallocate(allocator, memory);
    printf("retained %d, allocated %d, freed %d\n", retained, allocated, freed);

    CFDataRef data = CFDataCreateWithBytesNoCopy(NULL, letters("bytes"), 5, allocator);
    CFDataRef same = CFDataCreateCopy(NULL, data);
    printf("data: '%.*s', freed %d\n", (int)CFDataGetLength(data), (const char *)CFDataGetBytePtr(data), freed);
    CFRelease(data);
    printf("released once: freed %d\n", freed);
    CFRelease(allocator);
    printf("the data has its allocator: released %d\n", released);
    CFRelease(same);
    printf("released twice: freed %d, released %d\n", freed, released);

    context.deallocate = NULL;
    allocator = CFAllocatorCreate(NULL, &context);
    UInt8 own[] = "own";
    data = CFDataCreateWithBytesNoCopy(NULL, own, 3, allocator);
    CFRelease(data);
    CFRelease(allocator);
    printf("without a function nothing is freed: %d, released %d\n", freed, released);

    printf("true %d, false %d\n", CFBooleanGetValue(kCFBooleanTrue), CFBooleanGetValue(kCFBooleanFalse));
    printf("types %d, equal %d %d\n", CFGetTypeID(kCFBooleanTrue) == CFBooleanGetTypeID(),
           CFEqual(kCFBooleanTrue, kCFBooleanTrue), CFEqual(kCFBooleanTrue, kCFBooleanFalse));
    CFRelease(CFRetain(kCFBooleanFalse));
    return 0;
}
