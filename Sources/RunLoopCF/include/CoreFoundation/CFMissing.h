//===----------------------------------------------------------------------===//
// CFMissing.h — what programs may look for and not find. Each such function is declared, and unavailable: a program may include the
// header that it comes from, and the compiler names it, with the reason, where it is used.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFMISSING_H
#define RUNLOOP_CF_CFMISSING_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFString.h>

// These declarations have no parameters on purpose. A program's own warnings do not apply to them.
#pragma GCC system_header

#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define CF_MISSING_ATTRIBUTE(reason) __attribute__((unavailable(reason)))
#elif __has_attribute(error)
#define CF_MISSING_ATTRIBUTE(reason) __attribute__((error(reason)))
#define CF_MISSING_CONSTANT_ATTRIBUTE(reason)
#endif
#endif
#ifndef CF_MISSING_ATTRIBUTE
#define CF_MISSING_ATTRIBUTE(reason)
#endif
#ifndef CF_MISSING_CONSTANT_ATTRIBUTE
#define CF_MISSING_CONSTANT_ATTRIBUTE(reason) CF_MISSING_ATTRIBUTE(reason)
#endif

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define CF_MISSING(name, reason) extern void *name(...) CF_MISSING_ATTRIBUTE(reason);
#else
#define CF_MISSING(name, reason) extern void *name() CF_MISSING_ATTRIBUTE(reason);
#endif
#define CF_MISSING_CONSTANT(name, reason) extern const void *const name CF_MISSING_CONSTANT_ATTRIBUTE(reason);

CF_EXTERN_C_BEGIN

// Types are there even where nothing can make an object of them: many programs name them in declarations that they do not use.

typedef const struct __CFAttributedString *CFAttributedStringRef;
typedef struct __CFAttributedString *CFMutableAttributedStringRef;
typedef const struct __CFBag *CFBagRef;
typedef struct __CFBag *CFMutableBagRef;
typedef struct __CFBinaryHeap *CFBinaryHeapRef;
typedef const struct __CFBitVector *CFBitVectorRef;
typedef struct __CFBitVector *CFMutableBitVectorRef;
typedef const struct __CFBoolean *CFBooleanRef;
typedef struct __CFBundle *CFBundleRef;
typedef struct __CFCalendar *CFCalendarRef;
typedef const struct __CFCharacterSet *CFCharacterSetRef;
typedef struct __CFCharacterSet *CFMutableCharacterSetRef;
typedef const struct __CFData *CFDataRef;
typedef struct __CFData *CFMutableDataRef;
typedef struct __CFDateFormatter *CFDateFormatterRef;
typedef struct __CFDictionary *CFMutableDictionaryRef;
typedef struct __CFError *CFErrorRef;
typedef const struct __CFLocale *CFLocaleRef;
typedef struct __CFMachPort *CFMachPortRef;
typedef struct __CFMessagePort *CFMessagePortRef;
typedef struct __CFNotificationCenter *CFNotificationCenterRef;
typedef struct __CFNumberFormatter *CFNumberFormatterRef;
typedef const struct __CFNumber *CFNumberRef;
typedef struct __CFPlugInInstance *CFPlugInInstanceRef;
typedef struct __CFBundle *CFPlugInRef;
typedef struct __CFReadStream *CFReadStreamRef;
typedef struct __CFSocket *CFSocketRef;
typedef struct __CFStringTokenizer *CFStringTokenizerRef;
typedef const struct __CFTimeZone *CFTimeZoneRef;
typedef struct __CFTree *CFTreeRef;
typedef const struct __CFURL *CFURLRef;
typedef const struct __CFUUID *CFUUIDRef;
typedef struct __CFUserNotification *CFUserNotificationRef;
typedef struct __CFWriteStream *CFWriteStreamRef;

// Mutable strings.
#define CF_NO_MUTABLE_STRINGS                                                                                          \
    "runloop-cf has immutable strings only: CFStringCreateWithFormat, CFStringCreateByCombiningStrings"
CF_MISSING(CFStringAppend, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendCString, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendCharacters, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendFormat, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendFormatAndArguments, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendPascalString, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringCapitalize, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringCreateMutable, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringCreateMutableCopy, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringCreateMutableWithExternalCharactersNoCopy, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringDelete, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringFindAndReplace, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringFold, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringInsert, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringLowercase, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringNormalize, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringPad, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringReplace, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringReplaceAll, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringSetExternalCharactersNoCopy, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringTransform, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringTrim, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringTrimWhitespace, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringUppercase, CF_NO_MUTABLE_STRINGS)

// More of strings.
#define CF_NO_MORE_OF_STRINGS "runloop-cf does not have this operation on strings"
CF_MISSING(CFStringCompareWithOptionsAndLocale, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertEncodingToIANACharSetName, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertEncodingToNSStringEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertEncodingToWindowsCodepage, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertIANACharSetNameToEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertNSStringEncodingToEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertWindowsCodepageToEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateArrayBySeparatingStrings, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateArrayWithFindResults, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateExternalRepresentation, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateFromExternalRepresentation, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateWithCharactersNoCopy, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateWithPascalString, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateWithPascalStringNoCopy, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringFindCharacterFromSet, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringFindWithOptions, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringFindWithOptionsAndLocale, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetLineBounds, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetListOfAvailableEncodings, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetMostCompatibleMacStringEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetNameOfEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetParagraphBounds, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetPascalString, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetPascalStringPtr, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetRangeOfComposedCharactersAtIndex, CF_NO_MORE_OF_STRINGS)

// More of arrays.
#define CF_NO_MORE_OF_ARRAYS "runloop-cf does not have this operation on arrays"
CF_MISSING(CFArrayBSearchValues, CF_NO_MORE_OF_ARRAYS)
CF_MISSING(CFArrayReplaceValues, CF_NO_MORE_OF_ARRAYS)

// More of data.
CF_MISSING(CFDataFind, "runloop-cf does not search in data: use memmem")

// Names of sockets.
#define CF_NO_NAME_REGISTRY "there is no server for names of sockets"
CF_MISSING(CFSocketCopyRegisteredSocketSignature, CF_NO_NAME_REGISTRY)
CF_MISSING(CFSocketCopyRegisteredValue, CF_NO_NAME_REGISTRY)
CF_MISSING(CFSocketGetDefaultNameRegistryPortNumber, CF_NO_NAME_REGISTRY)
CF_MISSING(CFSocketRegisterSocketSignature, CF_NO_NAME_REGISTRY)
CF_MISSING(CFSocketRegisterValue, CF_NO_NAME_REGISTRY)
CF_MISSING(CFSocketSetDefaultNameRegistryPortNumber, CF_NO_NAME_REGISTRY)
CF_MISSING(CFSocketUnregister, CF_NO_NAME_REGISTRY)

// Notification centers that connect processes.
#define CF_NO_OTHER_CENTER "runloop-cf has the local notification center only"
CF_MISSING(CFNotificationCenterGetDarwinNotifyCenter, CF_NO_OTHER_CENTER)
CF_MISSING(CFNotificationCenterGetDistributedCenter, CF_NO_OTHER_CENTER)

// Memory.
#define CF_NO_MEMORY "all memory of runloop-cf comes from malloc, and there are no autorelease pools"
CF_MISSING(CFAllocatorCreate, CF_NO_MEMORY)
CF_MISSING(CFAllocatorGetContext, CF_NO_MEMORY)
CF_MISSING(CFAllocatorSetDefault, CF_NO_MEMORY)
CF_MISSING(CFAutorelease, CF_NO_MEMORY)

// Parts of dates.
#define CF_NO_PARTS_OF_DATES "runloop-cf has dates, but no calendars, time zones and locales"
CF_MISSING(CFAbsoluteTimeAddGregorianUnits, CF_NO_PARTS_OF_DATES)
CF_MISSING(CFAbsoluteTimeGetDayOfWeek, CF_NO_PARTS_OF_DATES)
CF_MISSING(CFAbsoluteTimeGetDayOfYear, CF_NO_PARTS_OF_DATES)
CF_MISSING(CFAbsoluteTimeGetDifferenceAsGregorianUnits, CF_NO_PARTS_OF_DATES)
CF_MISSING(CFAbsoluteTimeGetGregorianDate, CF_NO_PARTS_OF_DATES)
CF_MISSING(CFAbsoluteTimeGetWeekOfYear, CF_NO_PARTS_OF_DATES)
CF_MISSING(CFGregorianDateGetAbsoluteTime, CF_NO_PARTS_OF_DATES)
CF_MISSING(CFGregorianDateIsValid, CF_NO_PARTS_OF_DATES)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFMISSING_H
