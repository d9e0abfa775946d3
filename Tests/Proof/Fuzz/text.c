// text.c — strings and formats of RunLoopCF: a string is what its bytes say, in each encoding, and a conversion prints what printf does.
#include <CoreFoundation/CoreFoundation.h>

#include "fuzz.h"

enum { MOST = 512 };

static const CFStringEncoding encodings[] = {
    kCFStringEncodingUTF8,    kCFStringEncodingASCII,    kCFStringEncodingISOLatin1,    kCFStringEncodingUTF16,
    kCFStringEncodingUTF16BE, kCFStringEncodingUTF16LE,  kCFStringEncodingUTF32,        kCFStringEncodingUTF32BE,
    kCFStringEncodingUTF32LE, kCFStringEncodingMacRoman, kCFStringEncodingWindowsLatin1};

/// The bytes that a string gives, read again, are the string, where all of it can be said.
static void check_encoding(CFStringRef string, CFStringEncoding encoding, UInt8 loss) {
    UInt8 bytes[8 * MOST + 8];
    CFIndex length = CFStringGetLength(string), used = -1;
    CFIndex needed = CFStringGetBytes(string, CFRangeMake(0, length), encoding, loss, false, NULL, 0, &used);
    CFIndex done = CFStringGetBytes(string, CFRangeMake(0, length), encoding, loss, false, bytes, sizeof bytes, &used);
    CHECK(needed == done && used >= 0 && done <= length);
    CHECK(used <= CFStringGetMaximumSizeForEncoding(length, encoding));
    // A buffer that is too small gets whole characters, and no byte behind it is touched.
    UInt8 small[5];
    memset(small, 0xA5, sizeof small);
    CFIndex part = CFStringGetBytes(string, CFRangeMake(0, length), encoding, loss, false, small, 3, &used);
    CHECK(part <= done && used <= 3 && small[3] == 0xA5 && small[4] == 0xA5);
    if (done < length || loss)
        return;
    CFStringGetBytes(string, CFRangeMake(0, length), encoding, 0, false, bytes, sizeof bytes, &used);
    CFStringRef again = CFStringCreateWithBytes(NULL, bytes, used, encoding, false);
    CHECK(again && CFEqual(string, again) && CFHash(string) == CFHash(again));
    CFRelease(again);
}

static void check_string(struct bytes *bytes) {
    CFStringEncoding encoding = encodings[bytes_take(bytes, sizeof encodings / sizeof *encodings)];
    CFStringEncoding other = encodings[bytes_take(bytes, sizeof encodings / sizeof *encodings)];
    UInt8 loss = bytes_take(bytes, 2) ? '?' : 0;
    unsigned place = bytes_take(bytes, 64);
    bool is_external = bytes_take(bytes, 2);
    CFIndex size = bytes->end - bytes->next;
    CFStringRef string = CFStringCreateWithBytes(NULL, bytes->next, size, encoding, is_external);
    if (!string)
        return;
    check_encoding(string, other, loss);
    CFIndex length = CFStringGetLength(string), cut = length ? place % length : 0;
    CFStringRef head = CFStringCreateWithSubstring(NULL, string, CFRangeMake(0, cut));
    CFStringRef tail = CFStringCreateWithSubstring(NULL, string, CFRangeMake(cut, length - cut));
    // As in CoreFoundation, no string begins with the empty one.
    CHECK(CFStringHasPrefix(string, head) == (cut > 0) && CFStringHasSuffix(string, tail) == (cut < length));
    CHECK(CFStringCompare(string, head, 0) == (cut == length ? kCFCompareEqualTo : kCFCompareGreaterThan));
    CFStringRef parts[] = {head, tail};
    CFArrayRef array = CFArrayCreate(NULL, (const void **)parts, 2, &kCFTypeArrayCallBacks);
    CFStringRef whole = CFStringCreateByCombiningStrings(NULL, array, CFSTR(""));
    // Half of a pair of units is not text that can be combined.
    UniChar unit = length > cut ? CFStringGetCharacterAtIndex(string, cut) : 0;
    CFIndex used,
        said = CFStringGetBytes(string, CFRangeMake(0, length), kCFStringEncodingUTF8, 0, false, NULL, 0, &used);
    CHECK(said < length || (unit >= 0xDC00 && unit < 0xE000) || CFEqual(whole, string));
    if (length - cut > 0)
        CHECK(CFStringFind(string, tail, 0).location <= cut);
    CFStringGetIntValue(string);
    CFStringGetDoubleValue(string);
    CFTypeRef all[] = {head, tail, array, whole, string};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CFRelease(all[i]);
}

/// One conversion with flags, a width and a precision that are sensible, between texts that are not conversions.
static void check_format(struct bytes *bytes) {
    static const char *const conversions[] = {"d",   "i",   "u",  "x",  "X",  "o",  "ld", "lu", "lld",
                                              "llx", "hhd", "hd", "zu", "jd", "td", "f",  "e",  "g",
                                              "E",   "G",   "a",  "s",  "c",  "p",  "%"};
    char format[128], expected[512], got[512];
    size_t used = 0;
    for (unsigned count = bytes_take(bytes, 8); count > 0; count--)
        format[used++] = (char)(' ' + bytes_take(bytes, 4));
    for (size_t i = 0; i < used; i++)
        format[i] = format[i] == '%' ? '-' : format[i];
    unsigned which = bytes_take(bytes, sizeof conversions / sizeof *conversions);
    const char *conversion = conversions[which];
    format[used++] = '%';
    if (*conversion != '%') {
        // printf says nothing of 0 and # for these.
        for (const char *flag = strchr("scp", *conversion) ? "-" : "-+ 0#"; *flag; flag++)
            if (bytes_take(bytes, 3) == 1 && !(*flag == '#' && strchr("diu", conversion[strlen(conversion) - 1])))
                format[used++] = *flag;
        if (bytes_take(bytes, 2))
            used += (size_t)snprintf(format + used, 8, "%u", 1 + bytes_take(bytes, 60));
        if (bytes_take(bytes, 2) && !strchr("cp", *conversion))
            used += (size_t)snprintf(format + used, 8, ".%u", bytes_take(bytes, 40));
    }
    snprintf(format + used, sizeof format - used, "%s+", conversion);
    uint64_t number = 0;
    memcpy(&number, bytes->next, (size_t)(bytes->end - bytes->next) < 8 ? (size_t)(bytes->end - bytes->next) : 8);
    CFStringRef text = CFStringCreateWithCString(NULL, format, kCFStringEncodingASCII), result;
    double real;
    memcpy(&real, &number, sizeof real);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    if (*conversion == 's') {
        char letters[9] = {0};
        for (int i = 0; i < 8; i++)
            letters[i] = (char)(number >> (8 * i) & 0x7f);
        snprintf(expected, sizeof expected, format, letters);
        result = CFStringCreateWithFormat(NULL, NULL, text, letters);
    } else if (strchr("feEgGa", *conversion)) {
        // The largest has 309 digits before the point.
        snprintf(expected, sizeof expected, format, real);
        result = CFStringCreateWithFormat(NULL, NULL, text, real);
    } else if (strchr("lzjtp", *conversion)) {
        snprintf(expected, sizeof expected, format, number);
        result = CFStringCreateWithFormat(NULL, NULL, text, number);
    } else {
        int small = *conversion == 'c' ? (int)('A' + number % 26) : (int)number;
        snprintf(expected, sizeof expected, format, small);
        result = CFStringCreateWithFormat(NULL, NULL, text, small);
    }
#pragma GCC diagnostic pop
    CHECK(result && CFStringGetCString(result, got, sizeof got, kCFStringEncodingASCII));
    if (strcmp(got, expected) != 0)
        fprintf(stderr, "%s: \"%s\", expected \"%s\"\n", format, got, expected);
    CHECK(strcmp(got, expected) == 0);
    CFRelease(result);
    CFRelease(text);
}

/// Formats of any bytes take no argument that they were not given: all conversions of these are %@ and %%.
static void check_objects(struct bytes *bytes) {
    char format[MOST + 1];
    size_t used = 0;
    int objects = 0;
    while (bytes_left(bytes) && used + 3 < MOST) {
        char letter = (char)(1 + bytes_take(bytes, 127));
        format[used++] = letter;
        if (letter == '%')
            format[used++] = bytes_take(bytes, 2) && objects++ < 3 ? '@' : '%';
    }
    format[used] = 0;
    CFStringRef text = CFStringCreateWithCString(NULL, format, kCFStringEncodingASCII);
    CFStringRef result = CFStringCreateWithFormat(NULL, NULL, text, CFSTR("one"), NULL, text);
    CHECK(result);
    CFStringRef description = CFCopyDescription(result);
    CHECK(description);
    CFRelease(description);
    CFRelease(result);
    CFRelease(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, data + (size < MOST ? size : MOST)};
    switch (bytes_take(&bytes, 3)) {
    case 0: check_string(&bytes); break;
    case 1: check_format(&bytes); break;
    default: check_objects(&bytes);
    }
    return 0;
}
