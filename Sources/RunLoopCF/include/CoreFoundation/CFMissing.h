//===----------------------------------------------------------------------===//
// CFMissing.h — what programs may look for and not find, so that the compiler says so, by name, instead of the linker.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFMISSING_H
#define RUNLOOP_CF_CFMISSING_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFString.h>

// These declarations have no parameters on purpose; a program's own warnings are not for them.
#pragma GCC system_header

#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define CF_MISSING_ATTRIBUTE(reason) __attribute__((unavailable(reason)))
#endif
#endif
#ifndef CF_MISSING_ATTRIBUTE
#define CF_MISSING_ATTRIBUTE(reason)
#endif

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define CF_MISSING(name, reason) extern void *name(...) CF_MISSING_ATTRIBUTE(reason);
#else
#define CF_MISSING(name, reason) extern void *name() CF_MISSING_ATTRIBUTE(reason);
#endif
#define CF_MISSING_CONSTANT(name, reason) extern const void *const name CF_MISSING_ATTRIBUTE(reason);

CF_EXTERN_C_BEGIN

// Types that appear in so many programs that the first complaint should be about a function.

typedef const struct __CFNumber *CFNumberRef;
typedef const struct __CFBoolean *CFBooleanRef;
typedef const struct __CFData *CFDataRef;
typedef struct __CFSocket *CFSocketRef;
typedef struct __CFReadStream *CFReadStreamRef;
typedef struct __CFWriteStream *CFWriteStreamRef;
typedef struct __CFMachPort *CFMachPortRef;
typedef struct __CFMessagePort *CFMessagePortRef;
typedef struct __CFNotificationCenter *CFNotificationCenterRef;
typedef const struct __CFTimeZone *CFTimeZoneRef;
typedef struct __CFCalendar *CFCalendarRef;
typedef const struct __CFLocale *CFLocaleRef;
typedef const struct __CFURL *CFURLRef;
typedef struct __CFBundle *CFBundleRef;
typedef const struct __CFUUID *CFUUIDRef;
typedef struct __CFError *CFErrorRef;
typedef const struct __CFCharacterSet *CFCharacterSetRef;
typedef const struct __CFBag *CFBagRef;
typedef struct __CFTree *CFTreeRef;
typedef struct __CFDictionary *CFMutableDictionaryRef;
typedef struct __CFData *CFMutableDataRef;

// Dictionaries.
#define CF_NO_DICTIONARIES "runloop-cf has no dictionaries"
CF_MISSING(CFDictionaryCreate, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryCreateCopy, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryCreateMutable, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryCreateMutableCopy, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryGetCount, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryGetValue, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryGetValueIfPresent, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryContainsKey, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryContainsValue, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryGetKeysAndValues, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryApplyFunction, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryAddValue, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionarySetValue, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryReplaceValue, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryRemoveValue, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryRemoveAllValues, CF_NO_DICTIONARIES)
CF_MISSING(CFDictionaryGetTypeID, CF_NO_DICTIONARIES)
CF_MISSING_CONSTANT(kCFTypeDictionaryKeyCallBacks, CF_NO_DICTIONARIES)
CF_MISSING_CONSTANT(kCFTypeDictionaryValueCallBacks, CF_NO_DICTIONARIES)
CF_MISSING_CONSTANT(kCFCopyStringDictionaryKeyCallBacks, CF_NO_DICTIONARIES)

// Numbers and data.
#define CF_NO_NUMBERS_AND_DATA "runloop-cf has no numbers and no data objects"
CF_MISSING(CFNumberCreate, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFNumberGetValue, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFNumberGetType, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFNumberCompare, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFNumberGetTypeID, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFBooleanGetValue, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFBooleanGetTypeID, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataCreate, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataCreateMutable, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataCreateCopy, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataCreateWithBytesNoCopy, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataGetLength, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataGetBytePtr, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataGetMutableBytePtr, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataGetBytes, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataAppendBytes, CF_NO_NUMBERS_AND_DATA)
CF_MISSING(CFDataGetTypeID, CF_NO_NUMBERS_AND_DATA)
CF_MISSING_CONSTANT(kCFBooleanTrue, CF_NO_NUMBERS_AND_DATA)
CF_MISSING_CONSTANT(kCFBooleanFalse, CF_NO_NUMBERS_AND_DATA)

// Mutable strings.
#define CF_NO_MUTABLE_STRINGS                                                                                          \
    "runloop-cf has immutable strings only: CFStringCreateWithFormat, CFStringCreateByCombiningStrings"
CF_MISSING(CFStringCreateMutable, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringCreateMutableCopy, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppend, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendCString, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendCharacters, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringAppendFormat, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringInsert, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringDelete, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringReplace, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringReplaceAll, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringTrim, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringTrimWhitespace, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringLowercase, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringUppercase, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringFindAndReplace, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringPad, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringNormalize, CF_NO_MUTABLE_STRINGS)
CF_MISSING(CFStringTransform, CF_NO_MUTABLE_STRINGS)

// More of strings.
#define CF_NO_MORE_OF_STRINGS "runloop-cf does not have this operation on strings"
CF_MISSING(CFStringFindWithOptions, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCompareWithOptionsAndLocale, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateArrayBySeparatingStrings, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateExternalRepresentation, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateFromExternalRepresentation, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateWithPascalString, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringGetPascalString, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertEncodingToNSStringEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringConvertIANACharSetNameToEncoding, CF_NO_MORE_OF_STRINGS)
CF_MISSING(CFStringCreateWithCharactersNoCopy, CF_NO_MORE_OF_STRINGS)

// Arrays.
#define CF_NO_ARRAYS "runloop-cf does not have this operation on arrays"
CF_MISSING(CFArrayBSearchValues, CF_NO_ARRAYS)
CF_MISSING(CFArrayReplaceValues, CF_NO_ARRAYS)

// Memory.
#define CF_NO_MEMORY "all memory of runloop-cf comes from malloc, and there are no autorelease pools"
CF_MISSING(CFAllocatorCreate, CF_NO_MEMORY)
CF_MISSING(CFAllocatorSetDefault, CF_NO_MEMORY)
CF_MISSING(CFAllocatorGetContext, CF_NO_MEMORY)
CF_MISSING(CFAutorelease, CF_NO_MEMORY)

// Sockets and streams.
#define CF_NO_SOCKETS_AND_STREAMS "runloop-cf has no sockets or streams: use CFFileDescriptor"
CF_MISSING(CFSocketCreate, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketCreateWithNative, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketCreateWithSocketSignature, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketCreateConnectedToSocketSignature, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketCreateRunLoopSource, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketSetAddress, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketConnectToAddress, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketInvalidate, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketIsValid, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketGetNative, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketEnableCallBacks, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketDisableCallBacks, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketSetSocketFlags, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketGetSocketFlags, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketSendData, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketCopyAddress, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFSocketGetContext, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFStreamCreatePairWithSocket, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFStreamCreatePairWithSocketToHost, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFStreamCreateBoundPair, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamCreateWithFile, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamCreateWithBytesNoCopy, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamOpen, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamClose, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamRead, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamHasBytesAvailable, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamSetClient, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamScheduleWithRunLoop, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamUnscheduleFromRunLoop, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamSetProperty, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamGetStatus, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFReadStreamCopyError, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamCreateWithFile, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamOpen, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamClose, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamWrite, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamCanAcceptBytes, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamSetClient, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamScheduleWithRunLoop, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamUnscheduleFromRunLoop, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamSetProperty, CF_NO_SOCKETS_AND_STREAMS)
CF_MISSING(CFWriteStreamGetStatus, CF_NO_SOCKETS_AND_STREAMS)

// Ports.
#define CF_NO_PORTS "Linux has no Mach ports: use a version-1 source with an eventfd, or CFFileDescriptor"
CF_MISSING(CFMachPortCreate, CF_NO_PORTS)
CF_MISSING(CFMachPortCreateWithPort, CF_NO_PORTS)
CF_MISSING(CFMachPortCreateRunLoopSource, CF_NO_PORTS)
CF_MISSING(CFMachPortGetPort, CF_NO_PORTS)
CF_MISSING(CFMachPortInvalidate, CF_NO_PORTS)
CF_MISSING(CFMachPortIsValid, CF_NO_PORTS)
CF_MISSING(CFMachPortSetInvalidationCallBack, CF_NO_PORTS)
CF_MISSING(CFMessagePortCreateLocal, CF_NO_PORTS)
CF_MISSING(CFMessagePortCreateRemote, CF_NO_PORTS)
CF_MISSING(CFMessagePortCreateRunLoopSource, CF_NO_PORTS)
CF_MISSING(CFMessagePortSendRequest, CF_NO_PORTS)
CF_MISSING(CFMessagePortInvalidate, CF_NO_PORTS)
CF_MISSING(CFMessagePortIsValid, CF_NO_PORTS)
CF_MISSING(CFMessagePortSetInvalidationCallBack, CF_NO_PORTS)

// Notifications.
#define CF_NO_NOTIFICATIONS "runloop-cf has no notifications"
CF_MISSING(CFNotificationCenterGetLocalCenter, CF_NO_NOTIFICATIONS)
CF_MISSING(CFNotificationCenterGetDarwinNotifyCenter, CF_NO_NOTIFICATIONS)
CF_MISSING(CFNotificationCenterGetDistributedCenter, CF_NO_NOTIFICATIONS)
CF_MISSING(CFNotificationCenterAddObserver, CF_NO_NOTIFICATIONS)
CF_MISSING(CFNotificationCenterRemoveObserver, CF_NO_NOTIFICATIONS)
CF_MISSING(CFNotificationCenterRemoveEveryObserver, CF_NO_NOTIFICATIONS)
CF_MISSING(CFNotificationCenterPostNotification, CF_NO_NOTIFICATIONS)
CF_MISSING(CFNotificationCenterPostNotificationWithOptions, CF_NO_NOTIFICATIONS)
CF_MISSING(CFUserNotificationCreate, CF_NO_NOTIFICATIONS)
CF_MISSING(CFUserNotificationCreateRunLoopSource, CF_NO_NOTIFICATIONS)

// Calendars and locales.
#define CF_NO_CALENDARS_AND_LOCALES "runloop-cf has dates, but no calendars, time zones and locales"
CF_MISSING(CFGregorianDateGetAbsoluteTime, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFAbsoluteTimeGetGregorianDate, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFAbsoluteTimeAddGregorianUnits, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFAbsoluteTimeGetDayOfWeek, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFTimeZoneCopySystem, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFTimeZoneCopyDefault, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFTimeZoneCreateWithName, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFCalendarCopyCurrent, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFCalendarComposeAbsoluteTime, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFCalendarDecomposeAbsoluteTime, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFLocaleCopyCurrent, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFLocaleGetSystem, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFDateFormatterCreate, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFDateFormatterCreateStringWithAbsoluteTime, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFNumberFormatterCreate, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFCharacterSetGetPredefined, CF_NO_CALENDARS_AND_LOCALES)
CF_MISSING(CFCharacterSetIsCharacterMember, CF_NO_CALENDARS_AND_LOCALES)

// Files and bundles.
#define CF_NO_FILES_AND_BUNDLES "runloop-cf has no URLs, bundles and preferences"
CF_MISSING(CFURLCreateWithFileSystemPath, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFURLCreateFromFileSystemRepresentation, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFURLCreateWithString, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFURLGetFileSystemRepresentation, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFURLCopyFileSystemPath, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFURLGetString, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFBundleGetMainBundle, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFBundleGetBundleWithIdentifier, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFBundleGetIdentifier, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFBundleCreate, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFBundleGetFunctionPointerForName, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFBundleCopyResourceURL, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFPreferencesCopyAppValue, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFPreferencesSetAppValue, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFPreferencesAppSynchronize, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFPropertyListCreateData, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFPropertyListCreateWithData, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFUUIDCreate, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFUUIDCreateString, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFErrorCreate, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFErrorGetCode, CF_NO_FILES_AND_BUNDLES)
CF_MISSING(CFErrorCopyDescription, CF_NO_FILES_AND_BUNDLES)
CF_MISSING_CONSTANT(kCFPreferencesCurrentApplication, CF_NO_FILES_AND_BUNDLES)

// Other collections.
#define CF_NO_OTHER_COLLECTIONS "runloop-cf has arrays and sets only"
CF_MISSING(CFBagCreate, CF_NO_OTHER_COLLECTIONS)
CF_MISSING(CFBagCreateMutable, CF_NO_OTHER_COLLECTIONS)
CF_MISSING(CFTreeCreate, CF_NO_OTHER_COLLECTIONS)
CF_MISSING(CFBinaryHeapCreate, CF_NO_OTHER_COLLECTIONS)
CF_MISSING(CFBitVectorCreate, CF_NO_OTHER_COLLECTIONS)
CF_MISSING(CFBitVectorCreateMutable, CF_NO_OTHER_COLLECTIONS)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFMISSING_H
