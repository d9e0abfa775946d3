// Data: created, copied, compared, changed.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *what, CFDataRef data) {
    printf("%s: %d, '%.*s'\n", what, (int)CFDataGetLength(data), (int)CFDataGetLength(data),
           (const char *)CFDataGetBytePtr(data));
}

int main(void) {
    const UInt8 *text = (const UInt8 *)"bytes and bytes";
    CFDataRef data = CFDataCreate(NULL, text, 5), same = CFDataCreate(NULL, text + 10, 5),
              all = CFDataCreate(NULL, text, 15);
    show("data", data);
    printf("equal %d %d, hash %d, copied bytes %d\n", CFEqual(data, same), CFEqual(data, all),
           CFHash(data) == CFHash(same), CFDataGetBytePtr(data) != text);
    CFDataRef copy = CFDataCreateCopy(NULL, data),
              borrowed = CFDataCreateWithBytesNoCopy(NULL, text, 15, kCFAllocatorNull);
    printf("copy equal %d, borrowed %d, equal %d\n", CFEqual(data, copy), CFDataGetBytePtr(borrowed) == text,
           CFEqual(borrowed, all));
    UInt8 *own = malloc(3);
    memcpy(own, "own", 3);
    CFDataRef taken = CFDataCreateWithBytesNoCopy(NULL, own, 3, kCFAllocatorMalloc);
    show("taken", taken);
    UInt8 buffer[4] = "";
    CFDataGetBytes(all, CFRangeMake(6, 3), buffer);
    printf("part: '%s'\n", (const char *)buffer);
    CFMutableDataRef mutable = CFDataCreateMutable(NULL, 0);
    CFDataAppendBytes(mutable, text, 5);
    CFDataAppendBytes(mutable, (const UInt8 *)" are here", 9);
    show("appended", mutable);
    CFDataReplaceBytes(mutable, CFRangeMake(6, 3), (const UInt8 *)"were not", 8);
    show("replaced", mutable);
    CFDataDeleteBytes(mutable, CFRangeMake(0, 6));
    show("deleted", mutable);
    CFDataSetLength(mutable, 4);
    show("shortened", mutable);
    CFDataIncreaseLength(mutable, 2);
    printf("longer: %d, zeros %d\n", (int)CFDataGetLength(mutable),
           memcmp(CFDataGetBytePtr(mutable), "were\0", 6) == 0);
    CFDataGetMutableBytePtr(mutable)[0] = 'h';
    CFMutableDataRef second = CFDataCreateMutableCopy(NULL, 0, mutable);
    CFDataSetLength(second, 4);
    show("changed", second);
    CFDataRef fixed = CFDataCreateCopy(NULL, second);
    CFDataSetLength(second, 0);
    show("fixed", fixed);
    printf("type of both the same: %d\n", CFGetTypeID(fixed) == CFDataGetTypeID());
    CFTypeRef objects[] = {data, same, all, copy, borrowed, taken, mutable, second, fixed};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        CFRelease(objects[i]);
    return 0;
}
