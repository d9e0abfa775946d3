// builder.c — a string that is made from parts.

#include "strings/strings.h"

void cf__append(struct cf_builder *builder, const char *utf8, size_t length) {
    if (builder->length + length + 1 > builder->capacity) {
        size_t capacity = (builder->length + length + 1) * 2;
        char *grown = builder->failed ? NULL : realloc(builder->text, capacity);
        if (!grown) {
            builder->failed = true;
            return;
        }
        builder->text = grown;
        builder->capacity = capacity;
    }
    memcpy(builder->text + builder->length, utf8, length);
    builder->length += length;
    builder->text[builder->length] = 0;
}

void cf__append_object(struct cf_builder *builder, CFTypeRef object) {
    CFStringRef text = object && CFGetTypeID(object) == CF_TYPE_STRING ? CFRetain(object) : CFCopyDescription(object);
    char *utf8 = text ? cf__string_copy_utf8(text) : NULL;
    // A string may have null characters.
    CFIndex length = text ? CFStringGetLength(text) : 0, size = 0;
    if (utf8 &&
        CFStringGetBytes(text, CFRangeMake(0, length), kCFStringEncodingUTF8, 0, false, NULL, 0, &size) < length)
        size = 0;
    cf__append(builder, utf8 ? utf8 : "(null)", utf8 ? (size_t)size : strlen("(null)"));
    free(utf8);
    CFRelease(text);
}

CFStringRef cf__finish(struct cf_builder *builder) {
    const UInt8 *bytes = (const UInt8 *)(builder->text ? builder->text : "");
    CFStringRef string =
        builder->failed ? NULL
                        : CFStringCreateWithBytes(NULL, bytes, (CFIndex)builder->length, kCFStringEncodingUTF8, false);
    free(builder->text);
    return string;
}
