// array.c — arrays: the immutable and the mutable ones have one layout. One thread may not change an array while another uses it.

#include "strings/strings.h"
#include "values/values.h"

struct __CFArray {
    struct cf_object object;
    CFArrayCallBacks callbacks;
    const void **values;
    CFIndex count, capacity;
};

const CFArrayCallBacks kCFTypeArrayCallBacks = {0, cf__retain_value, cf__release_value, CFCopyDescription, CFEqual};

CFTypeID CFArrayGetTypeID(void) {
    return CF_TYPE_ARRAY;
}

//===-- values -------------------------------------------------------------------------------------------------------===//

static const void *retain_in(const struct __CFArray *array, const void *value) {
    return array->callbacks.retain ? array->callbacks.retain(NULL, value) : value;
}

static void release_in(const struct __CFArray *array, const void *value) {
    if (array->callbacks.release)
        array->callbacks.release(NULL, value);
}

static bool are_equal(const struct __CFArray *array, const void *value, const void *other) {
    return value == other || (array->callbacks.equal && array->callbacks.equal(value, other));
}

static void finalize(CFTypeRef object) {
    struct __CFArray *array = (struct __CFArray *)(uintptr_t)object;
    CFArrayRemoveAllValues(array);
    free(array->values);
    free(array);
}

static Boolean equal(CFTypeRef object, CFTypeRef other) {
    CFArrayRef left = object, right = other;
    if (left->count != right->count)
        return false;
    for (CFIndex i = 0; i < left->count; i++) {
        if (!are_equal(left, left->values[i], right->values[i]))
            return false;
    }
    return true;
}

static CFHashCode hash(CFTypeRef object) {
    return (CFHashCode)((CFArrayRef)object)->count;
}

static CFStringRef describe(CFTypeRef object) {
    CFArrayRef array = object;
    CFMutableArrayRef texts = CFArrayCreateMutable(NULL, array->count, &kCFTypeArrayCallBacks);
    for (CFIndex i = 0; i < array->count; i++) {
        CFStringRef text = array->callbacks.copyDescription
                               ? array->callbacks.copyDescription(array->values[i])
                               : CFStringCreateWithFormat(NULL, NULL, CFSTR("<%p>"), array->values[i]);
        CFArrayAppendValue(texts, text);
        CFRelease(text);
    }
    CFStringRef all = CFStringCreateByCombiningStrings(NULL, texts, CFSTR(", "));
    CFStringRef description =
        CFStringCreateWithFormat(NULL, NULL, CFSTR("<CFArray %p>{count = %ld: %@}"), object, array->count, all);
    CFRelease(all);
    CFRelease(texts);
    return description;
}

static const struct cf_class class = {
    .type = CF_TYPE_ARRAY, .finalize = finalize, .equal = equal, .hash = hash, .describe = describe};

//===-- creating -----------------------------------------------------------------------------------------------------===//

static bool reserve(struct __CFArray *array, CFIndex count) {
    if (count <= array->capacity)
        return true;
    CFIndex larger = array->capacity * 2 + 4, capacity = count > larger ? count : larger;
    const void **values = realloc(array->values, (size_t)capacity * sizeof *values);
    if (!values)
        return false;
    array->values = values;
    array->capacity = capacity;
    return true;
}

static struct __CFArray *make(const void **values, CFIndex count, const CFArrayCallBacks *callbacks) {
    struct __CFArray *array = cf__new(&class, sizeof *array);
    if (!array || !reserve(array, count)) {
        free(array);
        return NULL;
    }
    if (callbacks)
        array->callbacks = *callbacks;
    for (; array->count < count; array->count++)
        array->values[array->count] = retain_in(array, values[array->count]);
    return array;
}

CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFArrayCallBacks *callBacks) {
    (void)allocator, (void)capacity;
    return make(NULL, 0, callBacks);
}

CFArrayRef CFArrayCreate(CFAllocatorRef allocator, const void **values, CFIndex numValues,
                         const CFArrayCallBacks *callBacks) {
    (void)allocator;
    return make(values, values ? numValues : 0, callBacks);
}

CFMutableArrayRef CFArrayCreateMutableCopy(CFAllocatorRef allocator, CFIndex capacity, CFArrayRef theArray) {
    (void)allocator, (void)capacity;
    return CF_IS(theArray, CF_TYPE_ARRAY) ? make(theArray->values, theArray->count, &theArray->callbacks) : NULL;
}

CFArrayRef CFArrayCreateCopy(CFAllocatorRef allocator, CFArrayRef theArray) {
    return CFArrayCreateMutableCopy(allocator, 0, theArray);
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

CFIndex CFArrayGetCount(CFArrayRef theArray) {
    return CF_IS(theArray, CF_TYPE_ARRAY) ? theArray->count : 0;
}

const void *CFArrayGetValueAtIndex(CFArrayRef theArray, CFIndex idx) {
    return idx >= 0 && idx < CFArrayGetCount(theArray) ? theArray->values[idx] : NULL;
}

void CFArrayGetValues(CFArrayRef theArray, CFRange range, const void **values) {
    if (!CF_IS(theArray, CF_TYPE_ARRAY) || !values)
        return;
    range = cf__clipped(range, theArray->count);
    for (CFIndex i = 0; i < range.length; i++)
        values[i] = theArray->values[range.location + i];
}

void CFArrayApplyFunction(CFArrayRef theArray, CFRange range, CFArrayApplierFunction applier, void *context) {
    if (!CF_IS(theArray, CF_TYPE_ARRAY) || !applier)
        return;
    range = cf__clipped(range, theArray->count);
    for (CFIndex i = 0; i < range.length; i++)
        applier(CFArrayGetValueAtIndex(theArray, range.location + i), context);
}

CFIndex CFArrayGetFirstIndexOfValue(CFArrayRef theArray, CFRange range, const void *value) {
    if (!CF_IS(theArray, CF_TYPE_ARRAY))
        return kCFNotFound;
    range = cf__clipped(range, theArray->count);
    for (CFIndex i = range.location; i < range.location + range.length; i++) {
        if (are_equal(theArray, theArray->values[i], value))
            return i;
    }
    return kCFNotFound;
}

CFIndex CFArrayGetLastIndexOfValue(CFArrayRef theArray, CFRange range, const void *value) {
    if (!CF_IS(theArray, CF_TYPE_ARRAY))
        return kCFNotFound;
    range = cf__clipped(range, theArray->count);
    for (CFIndex i = range.location + range.length - 1; i >= range.location; i--) {
        if (are_equal(theArray, theArray->values[i], value))
            return i;
    }
    return kCFNotFound;
}

CFIndex CFArrayGetCountOfValue(CFArrayRef theArray, CFRange range, const void *value) {
    CFIndex count = 0;
    if (!CF_IS(theArray, CF_TYPE_ARRAY))
        return 0;
    range = cf__clipped(range, theArray->count);
    for (CFIndex i = range.location; i < range.location + range.length; i++)
        count += are_equal(theArray, theArray->values[i], value);
    return count;
}

Boolean CFArrayContainsValue(CFArrayRef theArray, CFRange range, const void *value) {
    return CFArrayGetFirstIndexOfValue(theArray, range, value) != kCFNotFound;
}

//===-- changing -----------------------------------------------------------------------------------------------------===//

void CFArrayInsertValueAtIndex(CFMutableArrayRef theArray, CFIndex idx, const void *value) {
    if (!CF_IS(theArray, CF_TYPE_ARRAY) || idx < 0 || idx > theArray->count || !reserve(theArray, theArray->count + 1))
        return;
    const void **slot = theArray->values + idx;
    memmove(slot + 1, slot, (size_t)(theArray->count - idx) * sizeof *slot);
    *slot = retain_in(theArray, value);
    theArray->count++;
}

void CFArrayAppendValue(CFMutableArrayRef theArray, const void *value) {
    CFArrayInsertValueAtIndex(theArray, CFArrayGetCount(theArray), value);
}

void CFArraySetValueAtIndex(CFMutableArrayRef theArray, CFIndex idx, const void *value) {
    if (idx < 0 || idx >= CFArrayGetCount(theArray)) {
        CFArrayInsertValueAtIndex(theArray, idx, value);
        return;
    }
    const void *old = theArray->values[idx];
    theArray->values[idx] = retain_in(theArray, value);
    release_in(theArray, old);
}

void CFArrayRemoveValueAtIndex(CFMutableArrayRef theArray, CFIndex idx) {
    if (idx < 0 || idx >= CFArrayGetCount(theArray))
        return;
    const void **slot = theArray->values + idx, *old = *slot;
    theArray->count--;
    memmove(slot, slot + 1, (size_t)(theArray->count - idx) * sizeof *slot);
    release_in(theArray, old);
}

void CFArrayRemoveAllValues(CFMutableArrayRef theArray) {
    while (CFArrayGetCount(theArray) > 0)
        CFArrayRemoveValueAtIndex(theArray, theArray->count - 1);
}

void CFArrayExchangeValuesAtIndices(CFMutableArrayRef theArray, CFIndex idx1, CFIndex idx2) {
    CFIndex count = CFArrayGetCount(theArray);
    if (idx1 < 0 || idx2 < 0 || idx1 >= count || idx2 >= count)
        return;
    const void *value = theArray->values[idx1];
    theArray->values[idx1] = theArray->values[idx2];
    theArray->values[idx2] = value;
}

/// A stable insertion sort: these arrays are short.
void CFArraySortValues(CFMutableArrayRef theArray, CFRange range, CFComparatorFunction comparator, void *context) {
    if (!CF_IS(theArray, CF_TYPE_ARRAY) || !comparator)
        return;
    range = cf__clipped(range, theArray->count);
    const void **values = theArray->values + range.location;
    for (CFIndex i = 1; i < range.length; i++) {
        const void *value = values[i];
        CFIndex j = i;
        for (; j > 0 && comparator(values[j - 1], value, context) == kCFCompareGreaterThan; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

void CFArrayAppendArray(CFMutableArrayRef theArray, CFArrayRef otherArray, CFRange otherRange) {
    if (!CF_IS(theArray, CF_TYPE_ARRAY) || !CF_IS(otherArray, CF_TYPE_ARRAY))
        return;
    otherRange = cf__clipped(otherRange, otherArray->count);
    if (!reserve(theArray, theArray->count + otherRange.length))
        return;
    for (CFIndex i = 0; i < otherRange.length; i++)
        CFArrayAppendValue(theArray, otherArray->values[otherRange.location + i]);
}

CFStringRef CFStringCreateByCombiningStrings(CFAllocatorRef alloc, CFArrayRef theArray, CFStringRef separatorString) {
    (void)alloc;
    struct cf_builder builder = {0};
    for (CFIndex i = 0; i < CFArrayGetCount(theArray); i++) {
        if (i > 0 && separatorString)
            cf__append_object(&builder, separatorString);
        cf__append_object(&builder, CFArrayGetValueAtIndex(theArray, i));
    }
    return cf__finish(&builder);
}
