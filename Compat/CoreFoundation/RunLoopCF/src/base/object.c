// object.c — objects: made, counted by references, distinguished by their types.

#include "base/base.h"

#include <stdio.h>

static const char *const names[CF_TYPE_COUNT] = {
    [CF_TYPE_NULL] = "CFNull",
    [CF_TYPE_ALLOCATOR] = "CFAllocator",
    [CF_TYPE_STRING] = "CFString",
    [CF_TYPE_ARRAY] = "CFArray",
    [CF_TYPE_SET] = "CFSet",
    [CF_TYPE_DATE] = "CFDate",
    [CF_TYPE_LOOP] = "CFRunLoop",
    [CF_TYPE_SOURCE] = "CFRunLoopSource",
    [CF_TYPE_OBSERVER] = "CFRunLoopObserver",
    [CF_TYPE_TIMER] = "CFRunLoopTimer",
    [CF_TYPE_DESCRIPTOR] = "CFFileDescriptor",
    [CF_TYPE_DATA] = "CFData",
    [CF_TYPE_SOCKET] = "CFSocket",
    [CF_TYPE_NOTIFICATION_CENTER] = "CFNotificationCenter",
    [CF_TYPE_BOOLEAN] = "CFBoolean",
};

double kCFCoreFoundationVersionNumber = 1338.0;

void cf__misuse(const char *caller, const char *sentence) {
    fprintf(stderr, "%s: %s\n", caller, sentence);
    abort();
}

void *cf__new(const struct cf_class *class, size_t size) {
    struct cf_object *object = calloc(1, size);
    if (object) {
        object->class = class;
        atomic_init(&object->references, 1);
    }
    return object;
}

const char *cf__type_name(CFTypeID type) {
    return type > 0 && type < CF_TYPE_COUNT ? names[type] : NULL;
}

void cf__wrong_type(CFTypeRef object, enum cf_type type, const char *caller) {
    char sentence[160];
    snprintf(sentence, sizeof sentence, "the argument is a %s where a %s is expected.", names[cf__type_of(object)],
             names[type]);
    cf__misuse(caller, sentence);
}

//===-- references ---------------------------------------------------------------------------------------------------===//

/// NULL if the references of this object are not counted.
static struct cf_object *counted(CFTypeRef object) {
    if (!object || cf__is_literal(object))
        return NULL;
    struct cf_object *found = (struct cf_object *)(uintptr_t)object;
    bool counts = !found->class->is_constant && atomic_load_explicit(&found->references, memory_order_relaxed) >= 0;
    return counts ? found : NULL;
}

CFTypeRef CFRetain(CFTypeRef cf) {
    struct cf_object *object = counted(cf);
    if (object && atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed) == 0) {
        if (!object->class->revive)
            cf__misuse(__func__, "the object has been freed.");
        object->class->revive(cf);
    }
    return cf;
}

void CFRelease(CFTypeRef cf) {
    struct cf_object *object = counted(cf);
    if (!object)
        return;
    int32_t before = atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel);
    if (before <= 0)
        cf__misuse(__func__, "the object was released more often than retained.");
    if (before == 1)
        object->class->finalize(cf);
}

bool cf__retain_if_referenced(CFTypeRef cf) {
    struct cf_object *object = (struct cf_object *)(uintptr_t)cf;
    int32_t references = atomic_load(&object->references);
    while (references > 0) {
        if (atomic_compare_exchange_weak(&object->references, &references, references + 1))
            return true;
    }
    return false;
}

CFIndex CFGetRetainCount(CFTypeRef cf) {
    struct cf_object *object = counted(cf);
    if (!cf)
        return 0;
    if (!object)
        return INT32_MAX;
    int32_t references = atomic_load_explicit(&object->references, memory_order_relaxed);
    return references > 0 ? references : 1;
}

CFTypeRef CFMakeCollectable(CFTypeRef cf) {
    return cf;
}

CFTypeID CFGetTypeID(CFTypeRef cf) {
    return cf ? cf__type_of(cf) : 0;
}
