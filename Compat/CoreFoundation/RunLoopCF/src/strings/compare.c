// compare.c — comparing and searching strings, unit by unit: locales and normal forms are not considered.

#include "strings/strings.h"

static UniChar folded(UniChar unit, CFStringCompareFlags options) {
    return (options & kCFCompareCaseInsensitive) && unit >= 'A' && unit <= 'Z' ? (UniChar)(unit + 32) : unit;
}

static bool is_digit(UniChar unit) {
    return unit >= '0' && unit <= '9';
}

/// The number at `*index`, which is advanced past it.
static uint64_t number_at(const struct cf_text *text, CFIndex *index, CFIndex end) {
    uint64_t number = 0;
    for (; *index < end && is_digit(cf__text_at(text, *index)); (*index)++) {
        uint64_t digit = (uint64_t)(cf__text_at(text, *index) - '0');
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    return number;
}

CFComparisonResult CFStringCompareWithOptions(CFStringRef theString1, CFStringRef theString2, CFRange rangeToCompare,
                                              CFStringCompareFlags compareOptions) {
    if (!CF_IS(theString1, CF_TYPE_STRING) || !CF_IS(theString2, CF_TYPE_STRING))
        return theString1 ? kCFCompareGreaterThan : theString2 ? kCFCompareLessThan : kCFCompareEqualTo;
    struct cf_text left = cf__text(theString1), right = cf__text(theString2);
    CFIndex i = rangeToCompare.location, j = 0, end = rangeToCompare.location + rangeToCompare.length;
    if (i < 0 || end > left.length)
        return kCFCompareLessThan;
    while (i < end && j < right.length) {
        uint64_t a, b;
        UniChar unit = cf__text_at(&left, i), other = cf__text_at(&right, j);
        if ((compareOptions & kCFCompareNumerically) && is_digit(unit) && is_digit(other)) {
            a = number_at(&left, &i, end);
            b = number_at(&right, &j, right.length);
        } else {
            a = folded(unit, compareOptions);
            b = folded(other, compareOptions);
            i++, j++;
        }
        if (a != b)
            return a < b ? kCFCompareLessThan : kCFCompareGreaterThan;
    }
    return i < end ? kCFCompareGreaterThan : j < right.length ? kCFCompareLessThan : kCFCompareEqualTo;
}

CFComparisonResult CFStringCompare(CFStringRef theString1, CFStringRef theString2,
                                   CFStringCompareFlags compareOptions) {
    return CFStringCompareWithOptions(theString1, theString2, CFRangeMake(0, CFStringGetLength(theString1)),
                                      compareOptions);
}

static bool is_at(const struct cf_text *text, CFIndex location, const struct cf_text *part,
                  CFStringCompareFlags options) {
    for (CFIndex i = 0; i < part->length; i++) {
        if (folded(cf__text_at(text, location + i), options) != folded(cf__text_at(part, i), options))
            return false;
    }
    return true;
}

CFRange CFStringFind(CFStringRef theString, CFStringRef stringToFind, CFStringCompareFlags compareOptions) {
    CFRange nowhere = {kCFNotFound, 0};
    if (!CF_IS(theString, CF_TYPE_STRING) || !CF_IS(stringToFind, CF_TYPE_STRING))
        return nowhere;
    struct cf_text text = cf__text(theString), part = cf__text(stringToFind);
    if (part.length == 0 || part.length > text.length)
        return nowhere;
    bool backwards = compareOptions & kCFCompareBackwards;
    CFIndex last = text.length - part.length;
    CFIndex location = backwards ? last : 0;
    for (CFIndex tries = compareOptions & kCFCompareAnchored ? 1 : last + 1; tries > 0; tries--) {
        if (is_at(&text, location, &part, compareOptions))
            return CFRangeMake(location, part.length);
        location += backwards ? -1 : 1;
    }
    return nowhere;
}

Boolean CFStringHasPrefix(CFStringRef theString, CFStringRef prefix) {
    return CFStringFind(theString, prefix, kCFCompareAnchored).location != kCFNotFound;
}

Boolean CFStringHasSuffix(CFStringRef theString, CFStringRef suffix) {
    return CFStringFind(theString, suffix, kCFCompareAnchored | kCFCompareBackwards).location != kCFNotFound;
}
