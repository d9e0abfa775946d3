// object.c — operations on any object: counting references, comparing, hashing, describing.

#include "internal.h"

#include <stdio.h>

static const struct cf_class *const classes[CF_TYPE_COUNT] = {
    [CF_TYPE_NULL] = &cf__null_class,
    [CF_TYPE_ALLOCATOR] = &cf__allocator_class,
    [CF_TYPE_STRING] = &cf__string_class,
    [CF_TYPE_ARRAY] = &cf__array_class,
    [CF_TYPE_SET] = &cf__set_class,
    [CF_TYPE_DATE] = &cf__date_class,
    [CF_TYPE_LOOP] = &cf__loop_class,
    [CF_TYPE_SOURCE] = &cf__source_class,
    [CF_TYPE_OBSERVER] = &cf__observer_class,
    [CF_TYPE_TIMER] = &cf__timer_class,
    [CF_TYPE_DESCRIPTOR] = &cf__descriptor_class,
    [CF_TYPE_DATA] = &cf__data_class,
    [CF_TYPE_SOCKET] = &cf__socket_class,
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

void cf__wrong_type(CFTypeRef object, enum cf_type type, const char *caller) {
    char sentence[160];
    snprintf(sentence, sizeof sentence, "the argument is a %s where a %s is expected.", cf__class_of(object)->name,
             classes[type]->name);
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

//===-- type, equality, text -----------------------------------------------------------------------------------------===//

CFTypeID CFGetTypeID(CFTypeRef cf) {
    return cf ? cf__class_of(cf)->type : 0;
}

CFStringRef CFCopyTypeIDDescription(CFTypeID type_id) {
    return type_id > 0 && type_id < CF_TYPE_COUNT ? cf__string_from_utf8(classes[type_id]->name) : NULL;
}

Boolean CFEqual(CFTypeRef cf1, CFTypeRef cf2) {
    if (cf1 == cf2)
        return true;
    if (!cf1 || !cf2)
        return false;
    const struct cf_class *class = cf__class_of(cf1);
    return class->type == cf__class_of(cf2)->type && class->equal && class->equal(cf1, cf2);
}

CFHashCode CFHash(CFTypeRef cf) {
    if (!cf)
        return 0;
    const struct cf_class *class = cf__class_of(cf);
    return class->hash ? class->hash(cf) : (CFHashCode)(uintptr_t)cf >> 4;
}

CFStringRef CFCopyDescription(CFTypeRef cf) {
    if (!cf)
        return NULL;
    const struct cf_class *class = cf__class_of(cf);
    if (class->describe)
        return class->describe(cf);
    char text[96];
    snprintf(text, sizeof text, "<%s %p>", class->name, cf);
    return cf__string_from_utf8(text);
}

CFAllocatorRef CFGetAllocator(CFTypeRef cf) {
    return cf ? kCFAllocatorSystemDefault : NULL;
}

void CFShow(CFTypeRef obj) {
    if (!obj) {
        fputs("(null)\n", stderr);
        return;
    }
    bool is_string = CFGetTypeID(obj) == CF_TYPE_STRING;
    CFStringRef description = is_string ? CFRetain(obj) : CFCopyDescription(obj);
    char *text = description ? cf__string_copy_utf8(description) : NULL;
    fprintf(stderr, "%s\n", text ? text : "(null)");
    free(text);
    CFRelease(description);
}

void CFShowStr(CFStringRef str) {
    if (!CF_IS(str, CF_TYPE_STRING))
        return;
    struct cf_text text = cf__text(str);
    char *utf8 = cf__string_copy_utf8(str);
    fprintf(stderr, "Length %ld, %s: %s\n", text.length, text.is_wide ? "UTF-16" : "ASCII", utf8 ? utf8 : "");
    free(utf8);
}
