// format.c — strings from a format: snprintf makes each conversion except %@.

#include "strings/strings.h"

#include <stdio.h>

/// One conversion: flags, width and precision as text, each star replaced by its argument.
struct conversion {
    char spec[64];
    size_t length;
    char size; ///< 'H' char, 'h' short, 'l' long, 'q' long long, 'z', 't', 'j', 'L' long double, 0 int
    char kind;
};

static void put(struct conversion *conversion, char letter) {
    if (conversion->length < sizeof conversion->spec - 8)
        conversion->spec[conversion->length++] = letter;
    conversion->spec[conversion->length] = 0;
}

static const char *read_size(const char *format, char *size) {
    *size = 0;
    for (;; format++) {
        switch (*format) {
        case 'h': *size = *size == 'h' ? 'H' : 'h'; break;
        case 'l': *size = *size == 'l' ? 'q' : 'l'; break;
        case 'q':
        case 'z':
        case 't':
        case 'j':
        case 'L': *size = *format; break;
        default: return format;
        }
    }
}

typedef struct {
    va_list list;
} arguments;

static const char *read_conversion(const char *format, struct conversion *conversion, arguments *rest) {
    conversion->length = 0;
    put(conversion, '%');
    for (; *format && strchr("-+ #0123456789.*'", *format); format++) {
        if (*format != '*') {
            put(conversion, *format);
            continue;
        }
        char number[16];
        int given = va_arg(rest->list, int);
        // A negative precision is ignored.
        if (given < 0 && conversion->spec[conversion->length - 1] == '.') {
            conversion->spec[--conversion->length] = 0;
            continue;
        }
        snprintf(number, sizeof number, "%d", given);
        for (const char *digit = number; *digit; digit++)
            put(conversion, *digit);
    }
    format = read_size(format, &conversion->size);
    conversion->kind = *format;
    return *format ? format + 1 : format;
}

static long long read_integer(char size, arguments *rest) {
    switch (size) {
    case 'l': return va_arg(rest->list, long);
    case 'q': return va_arg(rest->list, long long);
    case 'z': return (long long)va_arg(rest->list, size_t);
    case 't': return va_arg(rest->list, ptrdiff_t);
    case 'j': return va_arg(rest->list, intmax_t);
    case 'h': return (short)va_arg(rest->list, int);
    case 'H': return (signed char)va_arg(rest->list, int);
    default: return va_arg(rest->list, int);
    }
}

static unsigned long long read_unsigned(char size, arguments *rest) {
    switch (size) {
    case 'l': return va_arg(rest->list, unsigned long);
    case 'q': return va_arg(rest->list, unsigned long long);
    case 'z': return va_arg(rest->list, size_t);
    case 't': return (unsigned long long)va_arg(rest->list, ptrdiff_t);
    case 'j': return va_arg(rest->list, uintmax_t);
    case 'h': return (unsigned short)va_arg(rest->list, int);
    case 'H': return (unsigned char)va_arg(rest->list, int);
    default: return va_arg(rest->list, unsigned);
    }
}

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif

/// snprintf into a small buffer first, then into one of the size that it asked for: `value` is evaluated twice.
#define APPEND_PRINTED(builder, spec, value)                                                                           \
    do {                                                                                                               \
        char small[128];                                                                                               \
        int needed = snprintf(small, sizeof small, spec, value);                                                       \
        if (needed >= (int)sizeof small) {                                                                             \
            char *large = malloc((size_t)needed + 1);                                                                  \
            if (large) {                                                                                               \
                snprintf(large, (size_t)needed + 1, spec, value);                                                      \
                cf__append(builder, large, (size_t)needed);                                                            \
            }                                                                                                          \
            (builder)->failed |= !large;                                                                               \
            free(large);                                                                                               \
        } else if (needed > 0) {                                                                                       \
            cf__append(builder, small, (size_t)needed);                                                                \
        }                                                                                                              \
    } while (0)

static void append_unit(struct cf_builder *builder, UniChar unit) {
    CFStringRef string = CFStringCreateWithCharacters(NULL, &unit, 1);
    cf__append_object(builder, string);
    CFRelease(string);
}

static void append_conversion(struct cf_builder *builder, struct conversion *conversion, arguments *rest) {
    char *spec = conversion->spec;
    switch (conversion->kind) {
    case '%': cf__append(builder, "%", 1); break;
    case '@': cf__append_object(builder, va_arg(rest->list, CFTypeRef)); break;
    case 'C': append_unit(builder, (UniChar)va_arg(rest->list, int)); break;
    case 'd':
    case 'i': {
        long long value = read_integer(conversion->size, rest);
        put(conversion, 'l'), put(conversion, 'l'), put(conversion, conversion->kind);
        APPEND_PRINTED(builder, spec, value);
        break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        unsigned long long value = read_unsigned(conversion->size, rest);
        put(conversion, 'l'), put(conversion, 'l'), put(conversion, conversion->kind);
        APPEND_PRINTED(builder, spec, value);
        break;
    }
    case 'c': {
        int value = va_arg(rest->list, int);
        put(conversion, 'c');
        APPEND_PRINTED(builder, spec, value);
        break;
    }
    case 's':
    case 'p': {
        void *value = va_arg(rest->list, void *);
        put(conversion, conversion->kind);
        APPEND_PRINTED(builder, spec, value);
        break;
    }
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': {
        // Not as the same: %a shows how the bits of each are divided.
        if (conversion->size == 'L') {
            long double value = va_arg(rest->list, long double);
            put(conversion, 'L'), put(conversion, conversion->kind);
            APPEND_PRINTED(builder, spec, value);
        } else {
            double value = va_arg(rest->list, double);
            put(conversion, conversion->kind);
            APPEND_PRINTED(builder, spec, value);
        }
        break;
    }
    default: break;
    }
}

CFStringRef CFStringCreateWithFormatAndArguments(CFAllocatorRef alloc, CFDictionaryRef formatOptions,
                                                 CFStringRef format, va_list list) {
    (void)alloc, (void)formatOptions;
    char *utf8 = CF_IS(format, CF_TYPE_STRING) ? cf__string_copy_utf8(format) : NULL;
    if (!utf8)
        return NULL;
    arguments rest;
    va_copy(rest.list, list);
    struct cf_builder builder = {0};
    for (const char *at = utf8; *at;) {
        size_t plain = strcspn(at, "%");
        cf__append(&builder, at, plain);
        at += plain;
        if (*at) {
            struct conversion conversion;
            at = read_conversion(at + 1, &conversion, &rest);
            append_conversion(&builder, &conversion, &rest);
        }
    }
    va_end(rest.list);
    free(utf8);
    return cf__finish(&builder);
}

CFStringRef CFStringCreateWithFormat(CFAllocatorRef alloc, CFDictionaryRef formatOptions, CFStringRef format, ...) {
    va_list list;
    va_start(list, format);
    CFStringRef string = CFStringCreateWithFormatAndArguments(alloc, formatOptions, format, list);
    va_end(list);
    return string;
}
