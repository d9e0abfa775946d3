// allocator.c — allocators: malloc, nothing, or the functions of a program; and the null object.

#include "base/base.h"

struct __CFAllocator {
    struct cf_object object;
    bool is_created;            ///< it has the functions of its context, and no others
    CFAllocatorContext context; ///< its info is retained
};

static void finalize(CFTypeRef object) {
    struct __CFAllocator *allocator = (struct __CFAllocator *)(uintptr_t)object;
    if (allocator->context.release)
        allocator->context.release(allocator->context.info);
    free(allocator);
}

static CFStringRef describe(CFTypeRef object) {
    CFAllocatorRef allocator = object;
    return allocator->context.copyDescription ? allocator->context.copyDescription(allocator->context.info) : NULL;
}

static const struct cf_class class = {.type = CF_TYPE_ALLOCATOR, .finalize = finalize};
static const struct cf_class described_class = {.type = CF_TYPE_ALLOCATOR, .finalize = finalize, .describe = describe};

static struct __CFAllocator allocator_system = {.object = {&class, CF_UNCOUNTED}};
static struct __CFAllocator allocator_malloc = {.object = {&class, CF_UNCOUNTED}};
static struct __CFAllocator allocator_null = {.object = {&class, CF_UNCOUNTED}};
static struct __CFAllocator allocator_context = {.object = {&class, CF_UNCOUNTED}};

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

CFAllocatorRef CFAllocatorCreate(CFAllocatorRef allocator, CFAllocatorContext *context) {
    (void)allocator;
    if (!context)
        return NULL;
    struct __CFAllocator *created = cf__new(context->copyDescription ? &described_class : &class, sizeof *created);
    if (!created)
        return NULL;
    created->is_created = true;
    created->context = *context;
    if (context->retain)
        created->context.info = (void *)(uintptr_t)context->retain(context->info);
    return created;
}

void CFAllocatorGetContext(CFAllocatorRef allocator, CFAllocatorContext *context) {
    if (context)
        *context = CF_IS(allocator, CF_TYPE_ALLOCATOR) ? allocator->context : (CFAllocatorContext){0};
}

static bool is_created(CFAllocatorRef allocator) {
    return allocator && allocator->is_created;
}

void *CFAllocatorAllocate(CFAllocatorRef allocator, CFIndex size, CFOptionFlags hint) {
    if (allocator == kCFAllocatorNull || size <= 0)
        return NULL;
    if (!is_created(allocator))
        return malloc((size_t)size);
    const CFAllocatorContext *context = &allocator->context;
    return context->allocate ? context->allocate(size, hint, context->info) : NULL;
}

void *CFAllocatorReallocate(CFAllocatorRef allocator, void *ptr, CFIndex newsize, CFOptionFlags hint) {
    if (!ptr || allocator == kCFAllocatorNull)
        return CFAllocatorAllocate(allocator, newsize, hint);
    if (newsize <= 0) {
        CFAllocatorDeallocate(allocator, ptr);
        return NULL;
    }
    if (!is_created(allocator))
        return realloc(ptr, (size_t)newsize);
    const CFAllocatorContext *context = &allocator->context;
    return context->reallocate ? context->reallocate(ptr, newsize, hint, context->info) : NULL;
}

void CFAllocatorDeallocate(CFAllocatorRef allocator, void *ptr) {
    if (allocator == kCFAllocatorNull)
        return;
    if (!is_created(allocator))
        free(ptr);
    else if (ptr && allocator->context.deallocate)
        allocator->context.deallocate(ptr, allocator->context.info);
}

CFAllocatorRef CFGetAllocator(CFTypeRef cf) {
    return cf ? kCFAllocatorSystemDefault : NULL;
}

CFIndex CFAllocatorGetPreferredSizeForSize(CFAllocatorRef allocator, CFIndex size, CFOptionFlags hint) {
    if (!is_created(allocator) || !allocator->context.preferredSize)
        return size;
    CFIndex preferred = allocator->context.preferredSize(size, hint, allocator->context.info);
    return preferred > size ? preferred : size;
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
