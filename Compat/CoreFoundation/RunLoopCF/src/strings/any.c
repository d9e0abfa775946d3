// any.c — operations on any object in which the classes differ: comparing, hashing, describing.

#include "strings/strings.h"

#include <stdio.h>

static const struct cf_class *class_of(CFTypeRef object) {
    return cf__is_literal(object) ? &cf__string_class : ((const struct cf_object *)object)->class;
}

CFStringRef CFCopyTypeIDDescription(CFTypeID type_id) {
    const char *name = cf__type_name(type_id);
    return name ? cf__string_from_utf8(name) : NULL;
}

Boolean CFEqual(CFTypeRef cf1, CFTypeRef cf2) {
    if (cf1 == cf2)
        return true;
    if (!cf1 || !cf2)
        return false;
    const struct cf_class *class = class_of(cf1);
    return class->type == class_of(cf2)->type && class->equal && class->equal(cf1, cf2);
}

CFHashCode CFHash(CFTypeRef cf) {
    if (!cf)
        return 0;
    const struct cf_class *class = class_of(cf);
    return class->hash ? class->hash(cf) : (CFHashCode)(uintptr_t)cf >> 4;
}

CFStringRef CFCopyDescription(CFTypeRef cf) {
    if (!cf)
        return NULL;
    const struct cf_class *class = class_of(cf);
    if (class->describe)
        return class->describe(cf);
    char text[96];
    snprintf(text, sizeof text, "<%s %p>", cf__type_name(class->type), cf);
    return cf__string_from_utf8(text);
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
