// date.c — dates as objects.

#include "base/base.h"

struct __CFDate {
    struct cf_object object;
    CFAbsoluteTime time;
};

const CFTimeInterval kCFAbsoluteTimeIntervalSince1970 = 978307200.0;
const CFTimeInterval kCFAbsoluteTimeIntervalSince1904 = 3061152000.0;

CFTypeID CFDateGetTypeID(void) {
    return CF_TYPE_DATE;
}

static void finalize(CFTypeRef object) {
    free((struct __CFDate *)(uintptr_t)object);
}

static Boolean equal(CFTypeRef object, CFTypeRef other) {
    return ((CFDateRef)object)->time == ((CFDateRef)other)->time;
}

static CFHashCode hash(CFTypeRef object) {
    return (CFHashCode)(int64_t)((CFDateRef)object)->time;
}

static const struct cf_class class = {.type = CF_TYPE_DATE, .finalize = finalize, .equal = equal, .hash = hash};

CFDateRef CFDateCreate(CFAllocatorRef allocator, CFAbsoluteTime at) {
    (void)allocator;
    struct __CFDate *date = cf__new(&class, sizeof *date);
    if (date)
        date->time = at;
    return date;
}

CFAbsoluteTime CFDateGetAbsoluteTime(CFDateRef theDate) {
    return CF_IS(theDate, CF_TYPE_DATE) ? theDate->time : 0;
}

CFTimeInterval CFDateGetTimeIntervalSinceDate(CFDateRef theDate, CFDateRef otherDate) {
    return CFDateGetAbsoluteTime(theDate) - CFDateGetAbsoluteTime(otherDate);
}

CFComparisonResult CFDateCompare(CFDateRef theDate, CFDateRef otherDate, void *context) {
    (void)context;
    double difference = CFDateGetTimeIntervalSinceDate(theDate, otherDate);
    return difference < 0 ? kCFCompareLessThan : difference > 0 ? kCFCompareGreaterThan : kCFCompareEqualTo;
}
