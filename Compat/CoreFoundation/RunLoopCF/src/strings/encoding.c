// encoding.c — conversion of ASCII, Latin 1 and the UTF encodings to UTF-16 units and back.

#include "strings/strings.h"

#include <limits.h>

bool cf__encoding_is_narrow(CFStringEncoding encoding) {
    switch (encoding) {
    case kCFStringEncodingMacRoman:
    case kCFStringEncodingWindowsLatin1:
    case kCFStringEncodingISOLatin1:
    case kCFStringEncodingNextStepLatin:
    case kCFStringEncodingASCII:
    case kCFStringEncodingNonLossyASCII:
    case kCFStringEncodingUTF8: return true;
    default: return false;
    }
}

/// The bytes per unit of a wide encoding, and their order; 0 for other encodings. The default order is that of this machine.
static int wide_unit(CFStringEncoding encoding, bool *is_big) {
    const uint16_t probe = 1;
    *is_big = *(const char *)&probe == 0;
    switch (encoding) {
    case kCFStringEncodingUTF16BE: *is_big = true; return 2;
    case kCFStringEncodingUTF16LE: *is_big = false; return 2;
    case kCFStringEncodingUTF16: return 2;
    case kCFStringEncodingUTF32BE: *is_big = true; return 4;
    case kCFStringEncodingUTF32LE: *is_big = false; return 4;
    case kCFStringEncodingUTF32: return 4;
    default: return 0;
    }
}

Boolean CFStringIsEncodingAvailable(CFStringEncoding encoding) {
    bool is_big;
    return cf__encoding_is_narrow(encoding) || wide_unit(encoding, &is_big) > 0;
}

CFStringEncoding CFStringGetSystemEncoding(void) {
    return kCFStringEncodingUTF8;
}

CFIndex CFStringGetMaximumSizeForEncoding(CFIndex length, CFStringEncoding encoding) {
    bool is_big;
    int unit = wide_unit(encoding, &is_big);
    CFIndex factor = encoding == kCFStringEncodingUTF8 ? 3 : unit > 0 ? unit : 1;
    return length > LONG_MAX / factor ? kCFNotFound : length * factor;
}

//===-- decoding -----------------------------------------------------------------------------------------------------===//

/// Decodes one code point of UTF-8. Returns the number of its bytes, or 0 if they are not UTF-8 in its shortest form.
static int decode_utf8(const UInt8 *bytes, CFIndex count, UTF32Char *character) {
    static const UTF32Char least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = bytes[0] < 0x80 ? 1 : bytes[0] >> 5 == 6 ? 2 : bytes[0] >> 4 == 14 ? 3 : bytes[0] >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > count)
        return 0;
    *character = length == 1 ? bytes[0] : bytes[0] & (0x7FU >> length);
    for (int i = 1; i < length; i++) {
        if (bytes[i] >> 6 != 2)
            return 0;
        *character = *character << 6 | (bytes[i] & 0x3F);
    }
    bool is_surrogate = *character >= 0xD800 && *character <= 0xDFFF;
    return *character < least[length] || *character > 0x10FFFF || is_surrogate ? 0 : length;
}

static UTF32Char wide_character(const UInt8 *bytes, int size, bool is_big) {
    UTF32Char character = 0;
    for (int i = 0; i < size; i++)
        character = character << 8 | bytes[is_big ? i : size - 1 - i];
    return character;
}

/// Decodes one code point or one UTF-16 unit. Returns the number of its bytes, or 0 if they are not text.
static int decode_one(const UInt8 *bytes, CFIndex count, CFStringEncoding encoding, bool is_big, int unit,
                      UTF32Char *character) {
    if (encoding == kCFStringEncodingUTF8)
        return decode_utf8(bytes, count, character);
    if (unit > 0) {
        if (count < unit)
            return 0;
        *character = wide_character(bytes, unit, is_big);
        return *character > 0x10FFFF ? 0 : unit;
    }
    *character = bytes[0];
    return bytes[0] < 128 || encoding == kCFStringEncodingISOLatin1 ? 1 : 0;
}

bool cf__decode(const UInt8 *bytes, CFIndex count, CFStringEncoding encoding, bool is_external, UniChar **units,
                CFIndex *length) {
    bool is_big;
    int unit = wide_unit(encoding, &is_big);
    if (unit == 0 && !cf__encoding_is_narrow(encoding))
        return false;
    // A byte order mark counts only if the encoding does not determine the order, and the bytes are from elsewhere: those that a string has
    // given begin with one only if the string does.
    bool is_open = encoding == kCFStringEncodingUTF16 || encoding == kCFStringEncodingUTF32;
    if (is_open && is_external && count >= unit) {
        bool swapped = wide_character(bytes, unit, !is_big) == 0xFEFF;
        if (swapped)
            is_big = !is_big;
        if (swapped || wide_character(bytes, unit, is_big) == 0xFEFF) {
            bytes += unit;
            count -= unit;
        }
    }
    *units = malloc(((size_t)count + 1) * sizeof **units);
    *length = 0;
    while (*units && count > 0) {
        UTF32Char character;
        int used = decode_one(bytes, count, encoding, is_big, unit, &character);
        if (used == 0) {
            free(*units);
            return false;
        }
        if (character > 0xFFFF) {
            (*units)[(*length)++] = (UniChar)(0xD800 + ((character - 0x10000) >> 10));
            character = 0xDC00 + ((character - 0x10000) & 0x3FF);
        }
        (*units)[(*length)++] = (UniChar)character;
        bytes += used;
        count -= used;
    }
    return *units != NULL;
}

//===-- encoding -----------------------------------------------------------------------------------------------------===//

static int encode_utf8(UTF32Char character, UInt8 bytes[4]) {
    if (character < 0x80) {
        bytes[0] = (UInt8)character;
        return 1;
    }
    if (character >= 0xD800 && character <= 0xDFFF)
        return 0;
    int length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--, character >>= 6)
        bytes[i] = (UInt8)(0x80 | (character & 0x3F));
    bytes[0] = (UInt8)(0xF00 >> length | character);
    return length;
}

static void put_wide(UTF32Char unit, int size, bool is_big, UInt8 *bytes) {
    for (int i = 0; i < size; i++, unit >>= 8)
        bytes[is_big ? size - 1 - i : i] = (UInt8)unit;
}

int cf__encode(UTF32Char character, CFStringEncoding encoding, UInt8 bytes[4]) {
    bool is_big;
    int unit = wide_unit(encoding, &is_big);
    if (encoding == kCFStringEncodingUTF8)
        return encode_utf8(character, bytes);
    if (unit == 2 && character > 0xFFFF) {
        put_wide(0xD800 + ((character - 0x10000) >> 10), 2, is_big, bytes);
        put_wide(0xDC00 + ((character - 0x10000) & 0x3FF), 2, is_big, bytes + 2);
        return 4;
    }
    if (unit > 0) {
        put_wide(character, unit, is_big, bytes);
        return unit;
    }
    UTF32Char greatest = encoding == kCFStringEncodingISOLatin1 ? 255 : 127;
    if (!cf__encoding_is_narrow(encoding) || character > greatest)
        return 0;
    bytes[0] = (UInt8)character;
    return 1;
}
