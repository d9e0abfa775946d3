// Strings: made of bytes in many encodings, read, cut, compared, searched, and formats.
#include <CoreFoundation/CoreFoundation.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void show(const char *what, CFStringRef string) {
    char text[256] = "";
    Boolean fits = string && CFStringGetCString(string, text, sizeof text, kCFStringEncodingUTF8);
    printf("%s: %s, %d\n", what, fits ? text : "none", string ? (int)CFStringGetLength(string) : -1);
}

static void show_and_release(const char *what, CFStringRef string) {
    show(what, string);
    if (string)
        CFRelease(string);
}

#define MADE(bytes, encoding, is_external)                                                                             \
    CFStringCreateWithBytes(NULL, (const UInt8 *)bytes, sizeof bytes - 1, kCFStringEncoding##encoding, is_external)

static void encodings(void) {
    show_and_release("UTF-8", MADE("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z", UTF8, false));
    show_and_release("not UTF-8", MADE("\xC3z", UTF8, false));
    show_and_release("cut off", MADE("\xE2\x82", UTF8, false));
    show_and_release("too long a form", MADE("\xC0\x80", UTF8, false));
    show_and_release("Latin 1", MADE("\xE4z", ISOLatin1, false));
    show_and_release("UTF-16BE", MADE("\x20\xAC\xD8\x3D\xDE\x00", UTF16BE, false));
    show_and_release("UTF-16LE", MADE("\xAC\x20\x3D\xD8\x00\xDE", UTF16LE, false));
    show_and_release("marked as big", MADE("\xFE\xFF\x20\xAC", UTF16, true));
    show_and_release("marked as little", MADE("\xFF\xFE\xAC\x20", UTF16, true));
    show_and_release("UTF-32BE", MADE("\0\x01\xF6\0\0\0\0z", UTF32BE, false));
    show_and_release("UTF-32LE", MADE("\0\xF6\x01\0z\0\0\0", UTF32LE, false));
    show_and_release("a path", CFStringCreateWithFileSystemRepresentation(NULL, "/tmp/\xC3\xA4"));
    printf("available: %d %d %d, sizes %d %d %d\n", CFStringIsEncodingAvailable(kCFStringEncodingUTF8),
           CFStringIsEncodingAvailable(kCFStringEncodingUTF32), CFStringIsEncodingAvailable(0x7777),
           (int)CFStringGetMaximumSizeForEncoding(10, kCFStringEncodingASCII),
           (int)CFStringGetMaximumSizeForEncoding(10, kCFStringEncodingUTF8),
           (int)CFStringGetMaximumSizeForEncoding(10, kCFStringEncodingUTF16BE));
}

static void bytes_of(CFStringRef string, const char *what, CFStringEncoding encoding, UInt8 loss, Boolean is_external) {
    UInt8 bytes[32];
    CFIndex used = 0, whole = CFStringGetLength(string),
            units = CFStringGetBytes(string, CFRangeMake(0, whole), encoding, loss, is_external, bytes, 32, &used);
    printf("%s: %d units,", what, (int)units);
    for (CFIndex i = 0; i < used; i++)
        printf(" %02X", bytes[i]);
    printf("\n");
}

static void reading(void) {
    CFStringRef string = CFStringCreateWithCString(NULL, "a\xC3\xA4\xF0\x9F\x98\x80z", kCFStringEncodingUTF8);
    UniChar units[5];
    char small[4];
    CFStringGetCharacters(string, CFRangeMake(0, 5), units);
    printf("units: %X %X %X %X %X, the last again %X\n", units[0], units[1], units[2], units[3], units[4],
           CFStringGetCharacterAtIndex(string, 4));
    bytes_of(string, "as UTF-8", kCFStringEncodingUTF8, 0, false);
    bytes_of(string, "as UTF-16BE", kCFStringEncodingUTF16BE, 0, false);
    bytes_of(string, "as UTF-16LE", kCFStringEncodingUTF16LE, 0, false);
    bytes_of(string, "as UTF-32BE", kCFStringEncodingUTF32BE, 0, false);
    bytes_of(string, "as ASCII, as far as that goes", kCFStringEncodingASCII, 0, false);
    CFStringRef latin = CFStringCreateWithCString(NULL, "\xE4z", kCFStringEncodingISOLatin1);
    bytes_of(latin, "as Latin 1", kCFStringEncodingISOLatin1, 0, false);
    bytes_of(latin, "as ASCII with a substitute", kCFStringEncodingASCII, '?', false);
    CFRelease(latin);
    printf("does not fit: %d, not ASCII: %d\n", CFStringGetCString(string, small, 4, kCFStringEncodingUTF8),
           CFStringGetCString(string, (char[32]){0}, 32, kCFStringEncodingASCII));
    CFStringRef part = CFStringCreateWithSubstring(NULL, string, CFRangeMake(1, 3)),
                made = CFStringCreateWithCharacters(NULL, units + 1, 3), copy = CFStringCreateCopy(NULL, part);
    show("a part", part);
    printf("equal to what has its units %d, hash %d, copy %d, others %d %d\n", CFEqual(part, made),
           CFHash(part) == CFHash(made), CFEqual(copy, part), CFEqual(part, string), CFEqual(part, CFSTR("abc")));
    printf("type %d, a constant %d %d\n", CFGetTypeID(part) == CFStringGetTypeID(),
           CFEqual(CFSTR("text"), CFSTR("text")), CFHash(CFSTR("text")) == CFHash(CFSTR("text")));
    CFRelease(string), CFRelease(part), CFRelease(made), CFRelease(copy);
    CFStringRef taken = CFStringCreateWithCStringNoCopy(NULL, "static", kCFStringEncodingASCII, kCFAllocatorNull);
    show_and_release("not copied", taken);
    taken = CFStringCreateWithBytesNoCopy(NULL, (const UInt8 *)"static", 3, kCFStringEncodingASCII, false,
                                          kCFAllocatorNull);
    show_and_release("three bytes of it", taken);
    printf("numbers: %d %d %d, %g %g\n", (int)CFStringGetIntValue(CFSTR("42 and more")),
           (int)CFStringGetIntValue(CFSTR("-7")), (int)CFStringGetIntValue(CFSTR("none")),
           CFStringGetDoubleValue(CFSTR("2.5")), CFStringGetDoubleValue(CFSTR("none")));
}

/// A mark of the order of bytes is one in what comes from elsewhere, and a character in what a string has given.
static void marking(void) {
    const UInt8 bytes[] = {0xFE, 0xFF, 0x00, 0x30};
    for (int is_external = 0; is_external < 2; is_external++) {
        CFStringRef string = CFStringCreateWithBytes(NULL, bytes, 4, kCFStringEncodingUTF16, is_external);
        printf("%s: length %d, first %04x\n", is_external ? "from elsewhere" : "its own",
               (int)CFStringGetLength(string), CFStringGetCharacterAtIndex(string, 0));
        CFRelease(string);
    }
}

static void comparing(void) {
    printf("compared: %d %d %d %d\n", (int)CFStringCompare(CFSTR("abc"), CFSTR("abd"), 0),
           (int)CFStringCompare(CFSTR("abc"), CFSTR("abc"), 0), (int)CFStringCompare(CFSTR("abc"), CFSTR("ab"), 0),
           (int)CFStringCompare(CFSTR("ab"), CFSTR("abc"), 0));
    printf("in any case: %d %d\n", (int)CFStringCompare(CFSTR("ABC"), CFSTR("abc"), 0),
           (int)CFStringCompare(CFSTR("ABC"), CFSTR("abc"), kCFCompareCaseInsensitive));
    printf("as numbers: %d %d %d\n", (int)CFStringCompare(CFSTR("file9"), CFSTR("file10"), 0),
           (int)CFStringCompare(CFSTR("file9"), CFSTR("file10"), kCFCompareNumerically),
           (int)CFStringCompare(CFSTR("file12b"), CFSTR("file12a"), kCFCompareNumerically));
    printf("a part: %d %d\n", (int)CFStringCompareWithOptions(CFSTR("xabcx"), CFSTR("abc"), CFRangeMake(1, 3), 0),
           (int)CFStringCompareWithOptions(CFSTR("xabcx"), CFSTR("abc"), CFRangeMake(0, 3), 0));
    CFStringRef text = CFSTR("one two one");
    CFRange first = CFStringFind(text, CFSTR("one"), 0), last = CFStringFind(text, CFSTR("one"), kCFCompareBackwards),
            none = CFStringFind(text, CFSTR("three"), 0),
            any = CFStringFind(text, CFSTR("TWO"), kCFCompareCaseInsensitive),
            start = CFStringFind(text, CFSTR("two"), kCFCompareAnchored);
    printf("found: %d+%d %d+%d %d %d %d\n", (int)first.location, (int)first.length, (int)last.location,
           (int)last.length, none.location == kCFNotFound, (int)any.location, start.location == kCFNotFound);
    printf("begins %d %d, ends %d %d, with more than it has %d\n", CFStringHasPrefix(text, CFSTR("one t")),
           CFStringHasPrefix(text, CFSTR("two")), CFStringHasSuffix(text, CFSTR("o one")),
           CFStringHasSuffix(text, CFSTR("two")), CFStringHasPrefix(CFSTR("on"), CFSTR("one")));
}

static void formats(void) {
    show_and_release("integers",
                     CFStringCreateWithFormat(NULL, NULL, CFSTR("%d %5d|%-5d|%05d %+d %i"), 1, 2, 3, 4, 5, -6));
    show_and_release("sizes", CFStringCreateWithFormat(NULL, NULL, CFSTR("%ld %lld %zu %hd %hhd"), -1L, -2LL, (size_t)3,
                                                       (short)-4, (signed char)-5));
    show_and_release("unsigned",
                     CFStringCreateWithFormat(NULL, NULL, CFSTR("%u %lu %llu %x %X %o %#x %hu %hhu"), 1u, 2ul, 3ull,
                                              0xabu, 0xabu, 8u, 255u, (unsigned short)65535, (unsigned char)255));
    show_and_release("others", CFStringCreateWithFormat(NULL, NULL, CFSTR("%jd %td %ju"), (intmax_t)-1, (ptrdiff_t)-2,
                                                        (uintmax_t)3));
    show_and_release("floating", CFStringCreateWithFormat(NULL, NULL, CFSTR("%f %.2f %e %g %8.3f %a %.3A|"), 1.5, 2.25,
                                                          3.0, 0.5, 4.0, 4.9e-322, 0.1));
    show_and_release("stars", CFStringCreateWithFormat(NULL, NULL, CFSTR("%*d|%*d|%.*f|%.*f|%.*d|%*.*f|"), 4, 1, -4, 2,
                                                       3, 1.5, -3, 1.5, -1, 7, -9, -9, 2.5));
    show_and_release("texts", CFStringCreateWithFormat(NULL, NULL, CFSTR("%s %c %C %% %@ %@"), "C string", 'c', 0x20AC,
                                                       CFSTR("object"), CFSTR("and another")));
    char longest[301];
    memset(longest, 'x', 300);
    longest[300] = 0;
    CFStringRef padded = CFStringCreateWithFormat(NULL, NULL, CFSTR("%200d%s%150c"), 7, longest, 0x7A);
    printf("long: %d\n", (int)CFStringGetLength(padded));
    CFRelease(padded);
}

int main(void) {
    encodings();
    reading();
    marking();
    comparing();
    formats();
    return 0;
}
