// Arrays: made, copied, compared, searched, sorted, changed; dates, allocators.
#include <CoreFoundation/CoreFoundation.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void print_value(const void *value, void *context) {
    printf("%s%d", (const char *)context, (int)(uintptr_t)value);
}

static void show(const char *what, CFArrayRef array) {
    printf("%s:", what);
    CFArrayApplyFunction(array, CFRangeMake(0, CFArrayGetCount(array)), print_value, " ");
    printf("\n");
}

static Boolean equal_tens(const void *left, const void *right) {
    return (uintptr_t)left / 10 == (uintptr_t)right / 10;
}

static CFComparisonResult compare_tens(const void *left, const void *right, void *context) {
    (*(int *)context)++;
    uintptr_t a = (uintptr_t)left / 10, b = (uintptr_t)right / 10;
    return a < b ? kCFCompareLessThan : a > b ? kCFCompareGreaterThan : kCFCompareEqualTo;
}

static void numbers(void) {
    const CFArrayCallBacks tens = {0, NULL, NULL, NULL, equal_tens};
    CFMutableArrayRef array = CFArrayCreateMutable(NULL, 0, &tens);
    for (uintptr_t i = 1; i <= 8; i++)
        CFArrayAppendValue(array, (const void *)(i * 7));
    show("array", array);
    CFRange all = {0, 8};
    printf("of the twenties: first %d, last %d, count %d; in a part %d, %d; none %d\n",
           (int)CFArrayGetFirstIndexOfValue(array, all, (const void *)20),
           (int)CFArrayGetLastIndexOfValue(array, all, (const void *)20),
           (int)CFArrayGetCountOfValue(array, all, (const void *)20),
           CFArrayContainsValue(array, CFRangeMake(0, 2), (const void *)20),
           CFArrayContainsValue(array, CFRangeMake(2, 1), (const void *)20),
           (int)CFArrayGetLastIndexOfValue(array, all, (const void *)90));
    CFArrayInsertValueAtIndex(array, 0, (const void *)1);
    CFArrayInsertValueAtIndex(array, 3, (const void *)2);
    CFArraySetValueAtIndex(array, 5, (const void *)3);
    CFArraySetValueAtIndex(array, 10, (const void *)4);
    show("inserted and set", array);
    CFArrayExchangeValuesAtIndices(array, 0, 10);
    CFArrayRemoveValueAtIndex(array, 1);
    show("exchanged and removed", array);
    const void *part[3];
    CFArrayGetValues(array, CFRangeMake(2, 3), part);
    printf("a part: %d %d %d\n", (int)(uintptr_t)part[0], (int)(uintptr_t)part[1], (int)(uintptr_t)part[2]);
    CFMutableArrayRef copy = CFArrayCreateMutableCopy(NULL, 0, array);
    printf("its copy is equal %d, hash %d\n", CFEqual(copy, array), CFHash(copy) == CFHash(array));
    CFArraySetValueAtIndex(copy, 0, (const void *)5);
    printf("with an equal value %d\n", CFEqual(copy, array));
    CFArraySetValueAtIndex(copy, 0, (const void *)50);
    printf("with another one %d\n", CFEqual(copy, array));
    CFArrayAppendArray(copy, array, CFRangeMake(1, 2));
    printf("with more %d\n", CFEqual(copy, array));
    int compared = 0;
    CFArraySortValues(copy, CFRangeMake(0, CFArrayGetCount(copy)), compare_tens, &compared);
    int is_sorted = 1;
    for (CFIndex i = 1; i < CFArrayGetCount(copy); i++)
        is_sorted &=
            (uintptr_t)CFArrayGetValueAtIndex(copy, i - 1) / 10 <= (uintptr_t)CFArrayGetValueAtIndex(copy, i) / 10;
    printf("sorted: %d, %d values, compared %d\n", is_sorted, (int)CFArrayGetCount(copy), compared > 0);
    CFArrayRef fixed = CFArrayCreateCopy(NULL, copy);
    CFArrayRemoveAllValues(copy);
    printf("emptied: %d, its copy: %d\n", (int)CFArrayGetCount(copy), (int)CFArrayGetCount(fixed));
    CFRelease(fixed);
    CFRelease(copy);
    CFRelease(array);
}

static void objects(void) {
    const void *texts[] = {CFSTR("a"), CFSTR("b"), CFSTR("a")};
    CFArrayRef array = CFArrayCreate(NULL, texts, 3, &kCFTypeArrayCallBacks),
               same = CFArrayCreate(NULL, texts, 3, &kCFTypeArrayCallBacks);
    CFStringRef joined = CFStringCreateByCombiningStrings(NULL, array, CFSTR(", "));
    printf("objects: type %d, equal %d, joined %d, not a string %d\n", CFGetTypeID(array) == CFArrayGetTypeID(),
           CFEqual(array, same), CFEqual(joined, CFSTR("a, b, a")), CFEqual(array, joined));
    CFStringRef description = CFCopyDescription(array);
    printf("its description names values: %d\n", CFStringFind(description, CFSTR("b"), 0).location != kCFNotFound);
    CFRelease(description);
    CFRelease(joined);
    CFRelease(same);
    CFRelease(array);
}

static void dates(void) {
    CFDateRef date = CFDateCreate(NULL, 100.5), same = CFDateCreate(NULL, 100.5), later = CFDateCreate(NULL, 200);
    printf("dates: type %d, %g, equal %d %d, hash %d, between %g\n", CFGetTypeID(date) == CFDateGetTypeID(),
           CFDateGetAbsoluteTime(date), CFEqual(date, same), CFEqual(date, later), CFHash(date) == CFHash(same),
           CFDateGetTimeIntervalSinceDate(later, date));
    printf("compared %d %d %d, 1970 %.0f\n", (int)CFDateCompare(date, later, NULL),
           (int)CFDateCompare(date, same, NULL), (int)CFDateCompare(later, date, NULL),
           kCFAbsoluteTimeIntervalSince1970);
    CFRelease(date), CFRelease(same), CFRelease(later);
}

static void memory(void) {
    char *text = CFAllocatorAllocate(NULL, 6, 0);
    memcpy(text, "bytes", 6);
    text = CFAllocatorReallocate(NULL, text, 6000, 0);
    printf("memory: %s, of the null allocator %d, %d\n", text, CFAllocatorAllocate(kCFAllocatorNull, 10, 0) != NULL,
           CFAllocatorAllocate(kCFAllocatorMalloc, 0, 0) != NULL);
    CFAllocatorDeallocate(NULL, text);
    text = CFAllocatorReallocate(kCFAllocatorMalloc, NULL, 10, 0);
    printf("from nothing %d, to nothing %d\n", text != NULL,
           CFAllocatorReallocate(kCFAllocatorMalloc, text, 0, 0) != NULL);
    printf("type of an allocator %d, of an object %d, at least as large %d\n",
           CFGetTypeID(CFAllocatorGetDefault()) == CFAllocatorGetTypeID(), CFGetAllocator(CFSTR("text")) != NULL,
           CFAllocatorGetPreferredSizeForSize(NULL, 100, 0) >= 100);
}

int main(void) {
    numbers();
    objects();
    dates();
    memory();
    return 0;
}
