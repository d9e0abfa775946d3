// Sets: made, copied, compared, changed, with and without callbacks.
#include <CoreFoundation/CoreFoundation.h>
#include <stdint.h>
#include <stdio.h>

static int retained, released;

static const void *count_retain(CFAllocatorRef allocator, const void *value) {
    (void)allocator;
    retained++;
    return value;
}

static void count_release(CFAllocatorRef allocator, const void *value) {
    (void)allocator, (void)value;
    released++;
}

static Boolean equal_tens(const void *left, const void *right) {
    return (uintptr_t)left / 10 == (uintptr_t)right / 10;
}

// All in one place, so that values are found behind others, also after those are removed.
static CFHashCode hash_to_one(const void *value) {
    (void)value;
    return 1;
}

static const CFSetCallBacks tens = {0, count_retain, count_release, NULL, equal_tens, hash_to_one};

static void add_up(const void *value, void *context) {
    *(uintptr_t *)context += (uintptr_t)value;
}

static uintptr_t sum(CFSetRef set) {
    uintptr_t of_applied = 0, of_values = 0;
    const void *values[2000];
    CFSetApplyFunction(set, add_up, &of_applied);
    CFSetGetValues(set, values);
    for (CFIndex i = 0; i < CFSetGetCount(set); i++)
        of_values += (uintptr_t)values[i];
    printf("  the sums agree: %d\n", of_applied == of_values);
    return of_values;
}

static void pointers(void) {
    CFMutableSetRef set = CFSetCreateMutable(NULL, 0, NULL);
    for (uintptr_t i = 1; i <= 1000; i++)
        CFSetAddValue(set, (const void *)(i % 500 + 1));
    printf("pointers: %d, sum %d\n", (int)CFSetGetCount(set), (int)sum(set));
    for (uintptr_t i = 1; i <= 500; i += 2)
        CFSetRemoveValue(set, (const void *)i);
    int found = 0;
    for (uintptr_t i = 1; i <= 500; i++)
        found += CFSetContainsValue(set, (const void *)i) == (i % 2 == 0);
    printf("after removals: %d, sum %d, right %d\n", (int)CFSetGetCount(set), (int)sum(set), found);
    CFSetRemoveValue(set, (const void *)1);
    CFSetRef copy = CFSetCreateCopy(NULL, set);
    CFSetRemoveAllValues(set);
    printf("emptied: %d, its copy %d, equal %d\n", (int)CFSetGetCount(set), (int)CFSetGetCount(copy),
           CFEqual(set, copy));
    CFSetAddValue(set, (const void *)7);
    printf("used again: %d\n", (int)CFSetGetCount(set));
    CFRelease(copy);
    CFRelease(set);
}

static void callbacks(void) {
    CFMutableSetRef set = CFSetCreateMutable(NULL, 0, &tens);
    const void *value = NULL;
    for (uintptr_t i = 10; i < 60; i += 5)
        CFSetAddValue(set, (const void *)i);
    printf("tens: %d, retained %d\n", (int)CFSetGetCount(set), retained);
    printf("the one of 27: %d, count %d\n", (int)(uintptr_t)CFSetGetValue(set, (const void *)27),
           (int)CFSetGetCountOfValue(set, (const void *)27));
    printf("there %d", CFSetGetValueIfPresent(set, (const void *)59, &value));
    printf(", it is %d, not there %d\n", (int)(uintptr_t)value, CFSetGetValueIfPresent(set, (const void *)60, &value));
    CFSetAddValue(set, (const void *)23);
    printf("added: %d\n", (int)(uintptr_t)CFSetGetValue(set, (const void *)27));
    CFSetReplaceValue(set, (const void *)24);
    CFSetReplaceValue(set, (const void *)74);
    printf("replaced: %d, %d\n", (int)(uintptr_t)CFSetGetValue(set, (const void *)27), (int)CFSetGetCount(set));
    CFSetSetValue(set, (const void *)26);
    CFSetSetValue(set, (const void *)75);
    printf("set: %d, %d\n", (int)(uintptr_t)CFSetGetValue(set, (const void *)27), (int)CFSetGetCount(set));
    CFSetRemoveValue(set, (const void *)30);
    printf("removed: %d %d %d %d %d\n", CFSetContainsValue(set, (const void *)15),
           CFSetContainsValue(set, (const void *)35), CFSetContainsValue(set, (const void *)45),
           CFSetContainsValue(set, (const void *)55), CFSetContainsValue(set, (const void *)75));
    CFMutableSetRef copy = CFSetCreateMutableCopy(NULL, 0, set);
    printf("its copy is equal %d, hash %d\n", CFEqual(copy, set), CFHash(copy) == CFHash(set));
    CFSetRemoveValue(copy, (const void *)10);
    printf("changed %d\n", CFEqual(copy, set));
    CFSetAddValue(copy, (const void *)90);
    printf("as many, but others %d\n", CFEqual(copy, set));
    CFRelease(copy);
    CFRelease(set);
    printf("as many released as retained: %d\n", retained == released);
}

static void objects(void) {
    const void *texts[] = {CFSTR("one"), CFSTR("two"), CFSTR("two"), CFSTR("three")};
    CFSetRef set = CFSetCreate(NULL, texts, 4, &kCFTypeSetCallBacks);
    CFStringRef two = CFStringCreateWithCString(NULL, "two", kCFStringEncodingASCII);
    printf("objects: %d, type %d, two is there %d, as itself %d\n", (int)CFSetGetCount(set),
           CFGetTypeID(set) == CFSetGetTypeID(), CFSetContainsValue(set, two), CFSetGetValue(set, two) == two);
    CFMutableSetRef copies = CFSetCreateMutable(NULL, 0, &kCFCopyStringSetCallBacks);
    CFSetAddValue(copies, two);
    CFRelease(two);
    printf("of copies: %d, equal %d\n", CFSetContainsValue(copies, CFSTR("two")), CFEqual(copies, set));
    CFSetAddValue(copies, CFSTR("three"));
    CFSetAddValue(copies, CFSTR("one"));
    printf("with the others: equal %d\n", CFEqual(copies, set));
    CFSetRef empty = CFSetCreate(NULL, NULL, 0, &kCFTypeSetCallBacks);
    printf("of nothing: %d, %d\n", (int)CFSetGetCount(empty), CFSetContainsValue(empty, CFSTR("one")));
    CFRelease(empty);
    CFRelease(copies);
    CFRelease(set);
}

int main(void) {
    pointers();
    callbacks();
    objects();
    return 0;
}
