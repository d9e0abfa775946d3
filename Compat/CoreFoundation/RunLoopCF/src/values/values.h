// values.h — what the library itself does with values.
#ifndef RUNLOOP_CF_VALUES_H
#define RUNLOOP_CF_VALUES_H

#include "base/base.h"

/// The callbacks of collections of objects.
static inline const void *cf__retain_value(CFAllocatorRef allocator, const void *value) {
    (void)allocator;
    return CFRetain(value);
}

static inline void cf__release_value(CFAllocatorRef allocator, const void *value) {
    (void)allocator;
    CFRelease(value);
}

/// The part of the range that is within so many.
static inline CFRange cf__clipped(CFRange range, CFIndex count) {
    CFIndex start = range.location < 0 ? 0 : range.location > count ? count : range.location;
    CFIndex most = count - start;
    return CFRangeMake(start, range.length < 0 ? 0 : range.length > most ? most : range.length);
}

/// Ends the making of mutable data, whose first `length` bytes were stored through its pointer: it becomes immutable.
void cf__data_seal(CFMutableDataRef data, CFIndex length);

#endif // RUNLOOP_CF_VALUES_H
