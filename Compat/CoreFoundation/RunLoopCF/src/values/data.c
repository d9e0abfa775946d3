// data.c — bytes as objects, immutable and mutable ones in one layout. One thread may not change data while another uses it.

#include "values/values.h"

struct __CFData {
    struct cf_object object;
    UInt8 *bytes; ///< NULL if nothing was stored yet
    CFIndex length, capacity;
    bool is_mutable;
    CFAllocatorRef deallocator; ///< of the bytes, retained; NULL: free
};

CFTypeID CFDataGetTypeID(void) {
    return CF_TYPE_DATA;
}

static void finalize(CFTypeRef object) {
    struct __CFData *data = (struct __CFData *)(uintptr_t)object;
    CFAllocatorDeallocate(data->deallocator, data->bytes);
    CFRelease(data->deallocator);
    free(data);
}

static Boolean equal(CFTypeRef object, CFTypeRef other) {
    CFDataRef left = object, right = other;
    return left->length == right->length &&
           (left->length == 0 || memcmp(left->bytes, right->bytes, (size_t)left->length) == 0);
}

static CFHashCode hash(CFTypeRef object) {
    CFDataRef data = object;
    CFHashCode code = (CFHashCode)data->length;
    for (CFIndex i = 0; i < data->length && i < 80; i++)
        code = code * 31 + data->bytes[i];
    return code;
}

static const struct cf_class class = {.type = CF_TYPE_DATA, .finalize = finalize, .equal = equal, .hash = hash};

//===-- creating -----------------------------------------------------------------------------------------------------===//

/// Data with space for so many bytes, which are not set.
static struct __CFData *make(CFIndex capacity) {
    struct __CFData *data = capacity < 0 ? NULL : cf__new(&class, sizeof *data);
    if (!data)
        return NULL;
    data->capacity = capacity;
    data->bytes = capacity > 0 ? malloc((size_t)capacity) : NULL;
    if (capacity > 0 && !data->bytes) {
        free(data);
        return NULL;
    }
    return data;
}

CFDataRef CFDataCreate(CFAllocatorRef allocator, const UInt8 *bytes, CFIndex length) {
    (void)allocator;
    struct __CFData *data = length > 0 && !bytes ? NULL : make(length);
    if (!data)
        return NULL;
    data->length = length;
    if (length > 0)
        memcpy(data->bytes, bytes, (size_t)length);
    return data;
}

CFDataRef CFDataCreateWithBytesNoCopy(CFAllocatorRef allocator, const UInt8 *bytes, CFIndex length,
                                      CFAllocatorRef bytesDeallocator) {
    (void)allocator;
    struct __CFData *data = length < 0 || (length > 0 && !bytes) ? NULL : make(0);
    if (!data)
        return NULL;
    data->bytes = (UInt8 *)(uintptr_t)bytes;
    data->length = length;
    data->deallocator = CFRetain(bytesDeallocator);
    return data;
}

CFDataRef CFDataCreateCopy(CFAllocatorRef allocator, CFDataRef theData) {
    if (!CF_IS(theData, CF_TYPE_DATA))
        return NULL;
    // The bytes of a borrower may go away before the copy does.
    if (!theData->is_mutable && theData->deallocator != kCFAllocatorNull)
        return CFRetain(theData);
    return CFDataCreate(allocator, theData->bytes, theData->length);
}

CFMutableDataRef CFDataCreateMutable(CFAllocatorRef allocator, CFIndex capacity) {
    (void)allocator;
    struct __CFData *data = make(capacity);
    if (data)
        data->is_mutable = true;
    return data;
}

CFMutableDataRef CFDataCreateMutableCopy(CFAllocatorRef allocator, CFIndex capacity, CFDataRef theData) {
    if (!CF_IS(theData, CF_TYPE_DATA))
        return NULL;
    struct __CFData *data = CFDataCreateMutable(allocator, capacity > theData->length ? capacity : theData->length);
    CFDataAppendBytes(data, theData->bytes, theData->length);
    return data;
}

void cf__data_seal(CFMutableDataRef data, CFIndex length) {
    UInt8 *fitting = length > 0 && length < data->capacity ? realloc(data->bytes, (size_t)length) : NULL;
    if (fitting) {
        data->bytes = fitting;
        data->capacity = length;
    }
    data->length = length;
    data->is_mutable = false;
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

CFIndex CFDataGetLength(CFDataRef theData) {
    return CF_IS(theData, CF_TYPE_DATA) ? theData->length : 0;
}

const UInt8 *CFDataGetBytePtr(CFDataRef theData) {
    return CF_IS(theData, CF_TYPE_DATA) ? theData->bytes : NULL;
}

UInt8 *CFDataGetMutableBytePtr(CFMutableDataRef theData) {
    return CF_IS(theData, CF_TYPE_DATA) && theData->is_mutable ? theData->bytes : NULL;
}

void CFDataGetBytes(CFDataRef theData, CFRange range, UInt8 *buffer) {
    if (!CF_IS(theData, CF_TYPE_DATA) || !buffer)
        return;
    range = cf__clipped(range, theData->length);
    if (range.length > 0)
        memcpy(buffer, theData->bytes + range.location, (size_t)range.length);
}

//===-- changing -----------------------------------------------------------------------------------------------------===//

static bool reserve(struct __CFData *data, CFIndex length) {
    if (length <= data->capacity)
        return true;
    CFIndex capacity = length > data->capacity * 2 ? length : data->capacity * 2;
    UInt8 *bytes = realloc(data->bytes, (size_t)capacity);
    if (!bytes)
        return false;
    data->bytes = bytes;
    data->capacity = capacity;
    return true;
}

/// NULL for the new bytes means zeros.
void CFDataReplaceBytes(CFMutableDataRef theData, CFRange range, const UInt8 *newBytes, CFIndex newLength) {
    if (!CF_IS(theData, CF_TYPE_DATA) || !theData->is_mutable || newLength < 0)
        return;
    range = cf__clipped(range, theData->length);
    CFIndex kept = theData->length - range.length, end = range.location + range.length;
    // The new bytes may be a part of this data.
    bool is_inside = newBytes && (uintptr_t)newBytes - (uintptr_t)theData->bytes < (uintptr_t)theData->capacity;
    UInt8 *copy = is_inside && newLength > 0 ? malloc((size_t)newLength) : NULL;
    if (copy)
        newBytes = memcpy(copy, newBytes, (size_t)newLength);
    if ((is_inside && newLength > 0 && !copy) || newLength > PTRDIFF_MAX - kept ||
        !reserve(theData, kept + newLength)) {
        free(copy);
        return;
    }
    if (kept + newLength > 0) {
        UInt8 *place = theData->bytes + range.location;
        memmove(place + newLength, theData->bytes + end, (size_t)(theData->length - end));
        if (newBytes)
            memcpy(place, newBytes, (size_t)newLength);
        else
            memset(place, 0, (size_t)newLength);
    }
    theData->length = kept + newLength;
    free(copy);
}

void CFDataSetLength(CFMutableDataRef theData, CFIndex length) {
    CFIndex now = CFDataGetLength(theData);
    if (length < 0)
        return;
    if (length < now)
        CFDataReplaceBytes(theData, CFRangeMake(length, now - length), NULL, 0);
    else
        CFDataReplaceBytes(theData, CFRangeMake(now, 0), NULL, length - now);
}

void CFDataIncreaseLength(CFMutableDataRef theData, CFIndex extraLength) {
    if (extraLength > 0)
        CFDataReplaceBytes(theData, CFRangeMake(CFDataGetLength(theData), 0), NULL, extraLength);
}

void CFDataAppendBytes(CFMutableDataRef theData, const UInt8 *bytes, CFIndex length) {
    if (bytes)
        CFDataReplaceBytes(theData, CFRangeMake(CFDataGetLength(theData), 0), bytes, length);
}

void CFDataDeleteBytes(CFMutableDataRef theData, CFRange range) {
    CFDataReplaceBytes(theData, range, NULL, 0);
}
