// strings.h — the text of strings, their encodings, and strings that are made from parts.
#ifndef RUNLOOP_CF_STRINGS_H
#define RUNLOOP_CF_STRINGS_H

#include "base/base.h"

/// The text of a string, wherever it is stored. Narrow text is ASCII and ends with a zero byte.
struct cf_text {
    const void *units;
    CFIndex length;
    bool is_wide;
};

extern const struct cf_class cf__string_class;

struct cf_text cf__text(CFStringRef string);
UniChar cf__text_at(const struct cf_text *text, CFIndex index);
/// Copies the units; wide text that is ASCII becomes narrow. NULL when memory ran out.
CFStringRef cf__string_create(const struct cf_text *text);
CFStringRef cf__string_from_utf8(const char *utf8);
/// malloc'ed; NULL when memory ran out.
char *cf__string_copy_utf8(CFStringRef string);

/// Decodes to UTF-16 units, malloc'ed. False: not text in that encoding, or memory ran out.
bool cf__decode(const UInt8 *bytes, CFIndex count, CFStringEncoding encoding, bool is_external, UniChar **units,
                CFIndex *length);
/// Encodes one code point to at most 4 bytes. Returns their number, or 0 if the encoding does not have this code point.
int cf__encode(UTF32Char character, CFStringEncoding encoding, UInt8 bytes[4]);
bool cf__encoding_is_narrow(CFStringEncoding encoding); ///< contains ASCII as single bytes

/// A string that is made from parts; all zeros at first. When memory ran out, it fails at its end.
struct cf_builder {
    char *text;
    size_t length, capacity;
    bool failed;
};

void cf__append(struct cf_builder *builder, const char *utf8, size_t length);
/// A string's contents, or the description of another object.
void cf__append_object(struct cf_builder *builder, CFTypeRef object);
/// Once, at last. NULL when memory ran out.
CFStringRef cf__finish(struct cf_builder *builder);

#endif // RUNLOOP_CF_STRINGS_H
