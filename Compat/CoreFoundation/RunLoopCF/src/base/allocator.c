// allocator.c — allocators, all of which use malloc, and the null object.

#include "base/base.h"

struct __CFAllocator {
    struct cf_object object;
};

static const struct cf_class class = {.type = CF_TYPE_ALLOCATOR};

static struct __CFAllocator allocator_system = {{&class, CF_UNCOUNTED}};
static struct __CFAllocator allocator_malloc = {{&class, CF_UNCOUNTED}};
static struct __CFAllocator allocator_null = {{&class, CF_UNCOUNTED}};
static struct __CFAllocator allocator_context = {{&class, CF_UNCOUNTED}};

const CFAllocatorRef kCFAllocatorDefault = NULL;
const CFAllocatorRef kCFAllocatorSystemDefault = &allocator_system;
const CFAllocatorRef kCFAllocatorMalloc = &allocator_malloc;
const CFAllocatorRef kCFAllocatorMallocZone = &allocator_malloc;
const CFAllocatorRef kCFAllocatorNull = &allocator_null;
const CFAllocatorRef kCFAllocatorUseContext = &allocator_context;

CFTypeID CFAllocatorGetTypeID(void) {
    return CF_TYPE_ALLOCATOR;
}

CFAllocatorRef CFAllocatorGetDefault(void) {
    return kCFAllocatorSystemDefault;
}

void *CFAllocatorAllocate(CFAllocatorRef allocator, CFIndex size, CFOptionFlags hint) {
    (void)hint;
    return allocator == kCFAllocatorNull || size <= 0 ? NULL : malloc((size_t)size);
}

void *CFAllocatorReallocate(CFAllocatorRef allocator, void *ptr, CFIndex newsize, CFOptionFlags hint) {
    if (!ptr || allocator == kCFAllocatorNull)
        return CFAllocatorAllocate(allocator, newsize, hint);
    if (newsize > 0)
        return realloc(ptr, (size_t)newsize);
    free(ptr);
    return NULL;
}

void CFAllocatorDeallocate(CFAllocatorRef allocator, void *ptr) {
    if (allocator != kCFAllocatorNull)
        free(ptr);
}

CFAllocatorRef CFGetAllocator(CFTypeRef cf) {
    return cf ? kCFAllocatorSystemDefault : NULL;
}

CFIndex CFAllocatorGetPreferredSizeForSize(CFAllocatorRef allocator, CFIndex size, CFOptionFlags hint) {
    (void)allocator, (void)hint;
    return size;
}

//===-- null ---------------------------------------------------------------------------------------------------------===//

struct __CFNull {
    struct cf_object object;
};

static const struct cf_class null_class = {.type = CF_TYPE_NULL};

static struct __CFNull null_object = {{&null_class, CF_UNCOUNTED}};
const CFNullRef kCFNull = &null_object;

CFTypeID CFNullGetTypeID(void) {
    return CF_TYPE_NULL;
}
