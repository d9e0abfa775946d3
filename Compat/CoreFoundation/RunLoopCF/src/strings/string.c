// string.c — immutable strings: ASCII is stored as bytes, other text as UTF-16 units. Creating, copying, reading; constants.

#include "strings/strings.h"

#include <stdio.h>

/// The layout of clang's constant strings: class, flags, units, number of units. Strings made here store their units behind it.
struct __CFString {
    struct cf_object object;
    const void *units;
    long length;
    bool is_wide; ///< not in constant strings: theirs is one of the flags
    UniChar storage[];
};

enum { CONSTANT_IS_WIDE = 0x10 };

//===-- constants ----------------------------------------------------------------------------------------------------===//

static void finalize(CFTypeRef object) {
    free((struct __CFString *)(uintptr_t)object);
}

static Boolean equal(CFTypeRef object, CFTypeRef other) {
    struct cf_text left = cf__text(object), right = cf__text(other);
    if (left.length != right.length)
        return false;
    if (left.is_wide == right.is_wide)
        return memcmp(left.units, right.units, (size_t)left.length * (left.is_wide ? 2 : 1)) == 0;
    for (CFIndex i = 0; i < left.length; i++) {
        if (cf__text_at(&left, i) != cf__text_at(&right, i))
            return false;
    }
    return true;
}

static CFHashCode hash(CFTypeRef object) {
    struct cf_text text = cf__text(object);
    uint64_t code = 14695981039346656037U;
    for (CFIndex i = 0; i < text.length; i++)
        code = (code ^ cf__text_at(&text, i)) * 1099511628211U;
    // A CFHashCode may have only 32 bits, so both halves are combined.
    return (CFHashCode)(code ^ code >> 32);
}

static CFStringRef describe(CFTypeRef object) {
    char *utf8 = cf__string_copy_utf8(object);
    size_t size = utf8 ? strlen(utf8) + 64 : 0;
    char *text = utf8 ? malloc(size) : NULL;
    CFStringRef description = NULL;
    if (text) {
        snprintf(text, size, "<CFString %p>{contents = \"%s\"}", object, utf8);
        description = cf__string_from_utf8(text);
    }
    free(text);
    free(utf8);
    return description;
}

#define STRING_CLASS .type = CF_TYPE_STRING, .finalize = finalize, .equal = equal, .hash = hash, .describe = describe

const struct cf_class cf__string_class = {STRING_CLASS};

/// The class of clang's constant strings. Clang gives it this name.
extern const struct cf_class __CFConstantStringClassReference;
CF_EXPORT const struct cf_class __CFConstantStringClassReference;
const struct cf_class __CFConstantStringClassReference = {STRING_CLASS, .is_constant = true};

CFTypeID CFStringGetTypeID(void) {
    return CF_TYPE_STRING;
}

//===-- the text of a string -----------------------------------------------------------------------------------------===//

/// The length of a literal if it is all ASCII, otherwise -1.
static CFIndex ascii_length(const char *text) {
    CFIndex length = 0;
    for (; text[length]; length++) {
        if ((unsigned char)text[length] > 127)
            return -1;
    }
    return length;
}

static CFStringRef constant(const char *text);

struct cf_text cf__text(CFStringRef string) {
    if (cf__is_literal(string)) {
        const char *letters = (const char *)string + CF_LITERAL_MAGIC_SIZE;
        CFIndex length = ascii_length(letters);
        if (length >= 0)
            return (struct cf_text){letters, length, false};
        string = constant(letters);
        if (!string)
            return (struct cf_text){"", 0, false};
    }
    bool is_wide = string->object.class->is_constant ? string->object.references & CONSTANT_IS_WIDE : string->is_wide;
    return (struct cf_text){string->units, string->length, is_wide};
}

UniChar cf__text_at(const struct cf_text *text, CFIndex index) {
    return text->is_wide ? ((const UniChar *)text->units)[index] : ((const UInt8 *)text->units)[index];
}

static bool is_ascii(const struct cf_text *text) {
    if (!text->is_wide)
        return true;
    for (CFIndex i = 0; i < text->length; i++) {
        if (cf__text_at(text, i) > 127)
            return false;
    }
    return true;
}

CFStringRef cf__string_create(const struct cf_text *text) {
    bool is_wide = !is_ascii(text);
    size_t units = (size_t)text->length, size = is_wide ? units * 2 : units + 1;
    struct __CFString *string = cf__new(&cf__string_class, sizeof *string + size);
    if (!string)
        return NULL;
    string->units = string->storage;
    string->length = text->length;
    string->is_wide = is_wide;
    if (is_wide == text->is_wide) {
        memcpy(string->storage, text->units, is_wide ? units * 2 : units);
    } else {
        for (size_t i = 0; i < units; i++)
            ((char *)string->storage)[i] = (char)cf__text_at(text, (CFIndex)i);
    }
    return string;
}

//===-- creating -----------------------------------------------------------------------------------------------------===//

CFStringRef CFStringCreateWithBytes(CFAllocatorRef alloc, const UInt8 *bytes, CFIndex numBytes,
                                    CFStringEncoding encoding, Boolean isExternalRepresentation) {
    (void)alloc;
    struct cf_text text = {bytes, numBytes, false};
    if (!bytes || numBytes < 0)
        return NULL;
    bool narrow = cf__encoding_is_narrow(encoding);
    for (CFIndex i = 0; narrow && i < numBytes; i++)
        narrow = bytes[i] < 128;
    if (narrow)
        return cf__string_create(&text);
    UniChar *units;
    if (!cf__decode(bytes, numBytes, encoding, isExternalRepresentation, &units, &text.length))
        return NULL;
    text.units = units;
    text.is_wide = true;
    CFStringRef string = cf__string_create(&text);
    free(units);
    return string;
}

CFStringRef CFStringCreateWithCString(CFAllocatorRef alloc, const char *cStr, CFStringEncoding encoding) {
    return cStr ? CFStringCreateWithBytes(alloc, (const UInt8 *)cStr, (CFIndex)strlen(cStr), encoding, false) : NULL;
}

CFStringRef cf__string_from_utf8(const char *utf8) {
    return CFStringCreateWithCString(NULL, utf8, kCFStringEncodingUTF8);
}

/// Constant strings: one object for each text, never freed.
static struct cf_table constants;

static bool make_constant(struct cf_entry *entry, const char *text, CFStringRef string) {
    entry->text = strdup(text);
    string = entry->text ? cf__string_from_utf8(text) : NULL;
    if (entry->text && !string)
        string = CFStringCreateWithCString(NULL, text, kCFStringEncodingISOLatin1);
    if (!string) {
        free((char *)(uintptr_t)entry->text);
        return false;
    }
    atomic_store(&((struct __CFString *)(uintptr_t)string)->object.references, CF_UNCOUNTED);
    entry->string = string;
    return true;
}

static CFStringRef constant(const char *text) {
    const struct cf_entry *entry = cf__table_find_or_make(&constants, text, make_constant, NULL);
    return entry ? entry->string : NULL;
}

CFStringRef __CFStringMakeConstantString(const char *cStr) {
    return cStr ? constant(cStr) : NULL;
}

CFStringRef CFStringCreateWithFileSystemRepresentation(CFAllocatorRef alloc, const char *buffer) {
    return CFStringCreateWithCString(alloc, buffer, kCFStringEncodingUTF8);
}

CFStringRef CFStringCreateWithBytesNoCopy(CFAllocatorRef alloc, const UInt8 *bytes, CFIndex numBytes,
                                          CFStringEncoding encoding, Boolean isExternalRepresentation,
                                          CFAllocatorRef contentsDeallocator) {
    CFStringRef string = CFStringCreateWithBytes(alloc, bytes, numBytes, encoding, isExternalRepresentation);
    if (string)
        CFAllocatorDeallocate(contentsDeallocator, (void *)(uintptr_t)bytes);
    return string;
}

CFStringRef CFStringCreateWithCStringNoCopy(CFAllocatorRef alloc, const char *cStr, CFStringEncoding encoding,
                                            CFAllocatorRef contentsDeallocator) {
    CFStringRef string = CFStringCreateWithCString(alloc, cStr, encoding);
    if (string)
        CFAllocatorDeallocate(contentsDeallocator, (void *)(uintptr_t)cStr);
    return string;
}

CFStringRef CFStringCreateWithCharacters(CFAllocatorRef alloc, const UniChar *chars, CFIndex numChars) {
    (void)alloc;
    struct cf_text text = {chars, numChars, true};
    return numChars < 0 || (!chars && numChars) ? NULL : cf__string_create(&text);
}

/// Is the range within `length` units? No sum is computed, since it might overflow.
static bool is_within(CFRange range, CFIndex length) {
    return range.location >= 0 && range.length >= 0 && range.location <= length &&
           range.length <= length - range.location;
}

CFStringRef CFStringCreateWithSubstring(CFAllocatorRef alloc, CFStringRef str, CFRange range) {
    (void)alloc;
    if (!CF_IS(str, CF_TYPE_STRING))
        return NULL;
    struct cf_text text = cf__text(str);
    if (!is_within(range, text.length))
        return NULL;
    text.units = (const char *)text.units + range.location * (text.is_wide ? 2 : 1);
    text.length = range.length;
    return cf__string_create(&text);
}

CFStringRef CFStringCreateCopy(CFAllocatorRef alloc, CFStringRef theString) {
    (void)alloc;
    return CF_IS(theString, CF_TYPE_STRING) ? CFRetain(theString) : NULL;
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

CFIndex CFStringGetLength(CFStringRef theString) {
    return CF_IS(theString, CF_TYPE_STRING) ? cf__text(theString).length : 0;
}

UniChar CFStringGetCharacterAtIndex(CFStringRef theString, CFIndex idx) {
    UniChar unit = 0;
    CFStringGetCharacters(theString, CFRangeMake(idx, 1), &unit);
    return unit;
}

void CFStringGetCharacters(CFStringRef theString, CFRange range, UniChar *buffer) {
    if (!CF_IS(theString, CF_TYPE_STRING) || !buffer)
        return;
    struct cf_text text = cf__text(theString);
    if (!is_within(range, text.length))
        return;
    for (CFIndex i = 0; i < range.length; i++)
        buffer[i] = cf__text_at(&text, range.location + i);
}

const UniChar *CFStringGetCharactersPtr(CFStringRef theString) {
    if (!CF_IS(theString, CF_TYPE_STRING))
        return NULL;
    struct cf_text text = cf__text(theString);
    return text.is_wide ? text.units : NULL;
}

const char *CFStringGetCStringPtr(CFStringRef theString, CFStringEncoding encoding) {
    if (!CF_IS(theString, CF_TYPE_STRING) || !cf__encoding_is_narrow(encoding))
        return NULL;
    struct cf_text text = cf__text(theString);
    return text.is_wide ? NULL : text.units;
}

CFStringEncoding CFStringGetFastestEncoding(CFStringRef theString) {
    return CFStringGetCharactersPtr(theString) ? kCFStringEncodingUTF16 : kCFStringEncodingASCII;
}

CFStringEncoding CFStringGetSmallestEncoding(CFStringRef theString) {
    return CFStringGetFastestEncoding(theString);
}

/// The code point at `*index`, which is advanced past it. A lone surrogate is returned as it is.
static UTF32Char next_character(const struct cf_text *text, CFIndex *index, CFIndex end) {
    UTF32Char unit = cf__text_at(text, (*index)++);
    if (unit < 0xD800 || unit > 0xDBFF || *index >= end)
        return unit;
    UTF32Char low = cf__text_at(text, *index);
    if (low < 0xDC00 || low > 0xDFFF)
        return unit;
    (*index)++;
    return ((unit - 0xD800) << 10) + (low - 0xDC00) + 0x10000;
}

CFIndex CFStringGetBytes(CFStringRef theString, CFRange range, CFStringEncoding encoding, UInt8 lossByte,
                         Boolean isExternalRepresentation, UInt8 *buffer, CFIndex maxBufLen, CFIndex *usedBufLen) {
    (void)isExternalRepresentation;
    if (usedBufLen)
        *usedBufLen = 0;
    if (!CF_IS(theString, CF_TYPE_STRING))
        return 0;
    struct cf_text text = cf__text(theString);
    if (!is_within(range, text.length))
        return 0;
    CFIndex index = range.location, end = range.location + range.length, used = 0;
    while (index < end) {
        CFIndex before = index;
        UInt8 bytes[4];
        int count = cf__encode(next_character(&text, &index, end), encoding, bytes);
        if (count == 0 && lossByte) {
            bytes[0] = lossByte;
            count = 1;
        }
        if (count == 0 || (buffer && used + count > maxBufLen)) {
            index = before;
            break;
        }
        if (buffer)
            memcpy(buffer + used, bytes, (size_t)count);
        used += count;
    }
    if (usedBufLen)
        *usedBufLen = used;
    return index - range.location;
}

Boolean CFStringGetCString(CFStringRef theString, char *buffer, CFIndex bufferSize, CFStringEncoding encoding) {
    if (!buffer || bufferSize <= 0)
        return false;
    CFIndex length = CFStringGetLength(theString), used;
    CFIndex converted =
        CFStringGetBytes(theString, CFRangeMake(0, length), encoding, 0, false, (UInt8 *)buffer, bufferSize - 1, &used);
    bool whole = theString && converted == length;
    buffer[whole ? used : 0] = 0;
    return whole;
}

char *cf__string_copy_utf8(CFStringRef string) {
    CFIndex size = CFStringGetMaximumSizeForEncoding(CFStringGetLength(string), kCFStringEncodingUTF8) + 1;
    char *utf8 = malloc((size_t)size);
    if (utf8 && !CFStringGetCString(string, utf8, size, kCFStringEncodingUTF8))
        utf8[0] = 0;
    return utf8;
}

CFIndex CFStringGetMaximumSizeOfFileSystemRepresentation(CFStringRef string) {
    return CFStringGetMaximumSizeForEncoding(CFStringGetLength(string), kCFStringEncodingUTF8) + 1;
}

Boolean CFStringGetFileSystemRepresentation(CFStringRef string, char *buffer, CFIndex maxBufLen) {
    return CFStringGetCString(string, buffer, maxBufLen, kCFStringEncodingUTF8);
}

double CFStringGetDoubleValue(CFStringRef str) {
    char *utf8 = CF_IS(str, CF_TYPE_STRING) ? cf__string_copy_utf8(str) : NULL;
    double number = utf8 ? strtod(utf8, NULL) : 0;
    free(utf8);
    return number;
}

SInt32 CFStringGetIntValue(CFStringRef str) {
    char *utf8 = CF_IS(str, CF_TYPE_STRING) ? cf__string_copy_utf8(str) : NULL;
    long number = utf8 ? strtol(utf8, NULL, 10) : 0;
    free(utf8);
    return number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : (SInt32)number;
}
