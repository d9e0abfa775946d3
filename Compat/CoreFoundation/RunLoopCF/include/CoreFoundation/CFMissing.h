//===----------------------------------------------------------------------===//
// CFMissing.h — what programs may look for and not find. Each such function is declared, and unavailable: a program may include the
// header that it comes from, and the compiler names it, with the reason, where it is used.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CF_CFMISSING_H
#define RUNLOOP_CF_CFMISSING_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFString.h>

// These declarations have no parameters on purpose. A program's own warnings do not apply to them.
#pragma GCC system_header

#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define CF_MISSING_ATTRIBUTE(reason) __attribute__((unavailable(reason)))
#define CF_MISSING_CONSTANT_ATTRIBUTE(reason) CF_MISSING_ATTRIBUTE(reason)
#elif __has_attribute(error)
#define CF_MISSING_ATTRIBUTE(reason) __attribute__((error(reason)))
#endif
#endif
#ifndef CF_MISSING_ATTRIBUTE
#define CF_MISSING_ATTRIBUTE(reason)
#endif
#ifndef CF_MISSING_CONSTANT_ATTRIBUTE
#define CF_MISSING_CONSTANT_ATTRIBUTE(reason)
#endif

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef void *CFMissingFunction(...);
#else
typedef void *CFMissingFunction();
#endif
typedef const void *CFMissingConstant;
// What follows them is names, up to a semicolon.
#define CF_MISSING(reason) CF_MISSING_ATTRIBUTE(reason) extern CFMissingFunction
#define CF_MISSING_CONSTANTS(reason) CF_MISSING_CONSTANT_ATTRIBUTE(reason) extern const CFMissingConstant

CF_EXTERN_C_BEGIN

// Types are there even where nothing can make an object of them: many programs name them in declarations that they do not use.

typedef const struct __CFAttributedString *CFAttributedStringRef;
typedef struct __CFAttributedString *CFMutableAttributedStringRef;
typedef const struct __CFBag *CFBagRef;
typedef struct __CFBag *CFMutableBagRef;
typedef struct __CFBinaryHeap *CFBinaryHeapRef;
typedef const struct __CFBitVector *CFBitVectorRef;
typedef struct __CFBitVector *CFMutableBitVectorRef;
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
typedef struct __CFRuntimeBase CFRuntimeBase;
typedef struct __CFRuntimeClass CFRuntimeClass;
typedef struct __CFSocket *CFSocketRef;
typedef struct __CFStringTokenizer *CFStringTokenizerRef;
typedef const struct __CFTimeZone *CFTimeZoneRef;
typedef struct __CFTree *CFTreeRef;
typedef const struct __CFURL *CFURLRef;
typedef const struct __CFUUID *CFUUIDRef;
typedef struct __CFUserNotification *CFUserNotificationRef;
typedef struct __CFWriteStream *CFWriteStreamRef;

// Mutable strings.
CF_MISSING("runloop-cf has immutable strings only: CFStringCreateWithFormat, CFStringCreateByCombiningStrings")
CFStringAppend, CFStringAppendCString, CFStringAppendCharacters, CFStringAppendFormat, CFStringAppendFormatAndArguments,
    CFStringAppendPascalString, CFStringCapitalize, CFStringCreateMutable, CFStringCreateMutableCopy,
    CFStringCreateMutableWithExternalCharactersNoCopy, CFStringDelete, CFStringFindAndReplace, CFStringFold,
    CFStringInsert, CFStringLowercase, CFStringNormalize, CFStringPad, CFStringReplace, CFStringReplaceAll,
    CFStringSetExternalCharactersNoCopy, CFStringTransform, CFStringTrim, CFStringTrimWhitespace, CFStringUppercase;

// More of strings.
CF_MISSING("runloop-cf does not have this operation on strings")
CFStringCompareWithOptionsAndLocale, CFStringConvertEncodingToIANACharSetName,
    CFStringConvertEncodingToNSStringEncoding, CFStringConvertEncodingToWindowsCodepage,
    CFStringConvertIANACharSetNameToEncoding, CFStringConvertNSStringEncodingToEncoding,
    CFStringConvertWindowsCodepageToEncoding, CFStringCreateArrayBySeparatingStrings,
    CFStringCreateArrayWithFindResults, CFStringCreateExternalRepresentation, CFStringCreateFromExternalRepresentation,
    CFStringCreateWithCharactersNoCopy, CFStringCreateWithPascalString, CFStringCreateWithPascalStringNoCopy,
    CFStringFindCharacterFromSet, CFStringFindWithOptions, CFStringFindWithOptionsAndLocale, CFStringGetLineBounds,
    CFStringGetListOfAvailableEncodings, CFStringGetMostCompatibleMacStringEncoding, CFStringGetNameOfEncoding,
    CFStringGetParagraphBounds, CFStringGetPascalString, CFStringGetPascalStringPtr,
    CFStringGetRangeOfComposedCharactersAtIndex;

// More of arrays.
CF_MISSING("runloop-cf does not have this operation on arrays")
CFArrayBSearchValues, CFArrayReplaceValues;

// More of data.
CF_MISSING("runloop-cf does not search in data: use memmem")
CFDataFind;

// Names of sockets.
CF_MISSING("there is no server for names of sockets")
CFSocketCopyRegisteredSocketSignature, CFSocketCopyRegisteredValue, CFSocketGetDefaultNameRegistryPortNumber,
    CFSocketRegisterSocketSignature, CFSocketRegisterValue, CFSocketSetDefaultNameRegistryPortNumber,
    CFSocketUnregister;

// Notification centers that connect processes.
CF_MISSING("runloop-cf has the local notification center only")
CFNotificationCenterGetDarwinNotifyCenter, CFNotificationCenterGetDistributedCenter;

// Memory.
CF_MISSING("all memory of runloop-cf comes from malloc, and there are no autorelease pools")
CFAllocatorSetDefault, CFAutorelease;

// Parts of dates.
CF_MISSING("runloop-cf has dates, but no calendars, time zones and locales")
CFAbsoluteTimeAddGregorianUnits, CFAbsoluteTimeGetDayOfWeek, CFAbsoluteTimeGetDayOfYear,
    CFAbsoluteTimeGetDifferenceAsGregorianUnits, CFAbsoluteTimeGetGregorianDate, CFAbsoluteTimeGetWeekOfYear,
    CFGregorianDateGetAbsoluteTime, CFGregorianDateIsValid;

// Attributed strings.
CF_MISSING("runloop-cf has no attributed strings")
CFAttributedStringBeginEditing, CFAttributedStringCreate, CFAttributedStringCreateCopy, CFAttributedStringCreateMutable,
    CFAttributedStringCreateMutableCopy, CFAttributedStringCreateWithSubstring, CFAttributedStringEndEditing,
    CFAttributedStringGetAttribute, CFAttributedStringGetAttributeAndLongestEffectiveRange,
    CFAttributedStringGetAttributes, CFAttributedStringGetAttributesAndLongestEffectiveRange,
    CFAttributedStringGetLength, CFAttributedStringGetMutableString, CFAttributedStringGetString,
    CFAttributedStringGetTypeID, CFAttributedStringRemoveAttribute, CFAttributedStringReplaceAttributedString,
    CFAttributedStringReplaceString, CFAttributedStringSetAttribute, CFAttributedStringSetAttributes;

// Bags.
CF_MISSING("runloop-cf has arrays and sets only")
CFBagAddValue, CFBagApplyFunction, CFBagContainsValue, CFBagCreate, CFBagCreateCopy, CFBagCreateMutable,
    CFBagCreateMutableCopy, CFBagGetCount, CFBagGetCountOfValue, CFBagGetTypeID, CFBagGetValue, CFBagGetValueIfPresent,
    CFBagGetValues, CFBagRemoveAllValues, CFBagRemoveValue, CFBagReplaceValue, CFBagSetValue;

// Binary heaps.
CF_MISSING("runloop-cf has arrays and sets only")
CFBinaryHeapAddValue, CFBinaryHeapApplyFunction, CFBinaryHeapContainsValue, CFBinaryHeapCreate, CFBinaryHeapCreateCopy,
    CFBinaryHeapGetCount, CFBinaryHeapGetCountOfValue, CFBinaryHeapGetMinimum, CFBinaryHeapGetMinimumIfPresent,
    CFBinaryHeapGetTypeID, CFBinaryHeapGetValues, CFBinaryHeapRemoveAllValues, CFBinaryHeapRemoveMinimumValue;

// Bit vectors.
CF_MISSING("runloop-cf has arrays and sets only")
CFBitVectorContainsBit, CFBitVectorCreate, CFBitVectorCreateCopy, CFBitVectorCreateMutable,
    CFBitVectorCreateMutableCopy, CFBitVectorFlipBitAtIndex, CFBitVectorFlipBits, CFBitVectorGetBitAtIndex,
    CFBitVectorGetBits, CFBitVectorGetCount, CFBitVectorGetCountOfBit, CFBitVectorGetFirstIndexOfBit,
    CFBitVectorGetLastIndexOfBit, CFBitVectorGetTypeID, CFBitVectorSetAllBits, CFBitVectorSetBitAtIndex,
    CFBitVectorSetBits, CFBitVectorSetCount;

// Bundles.
CF_MISSING("runloop-cf has no bundles")
CFBundleCopyAuxiliaryExecutableURL, CFBundleCopyBuiltInPlugInsURL, CFBundleCopyBundleLocalizations,
    CFBundleCopyBundleURL, CFBundleCopyExecutableArchitectures, CFBundleCopyExecutableArchitecturesForURL,
    CFBundleCopyExecutableURL, CFBundleCopyInfoDictionaryForURL, CFBundleCopyInfoDictionaryInDirectory,
    CFBundleCopyLocalizationForLocalizationInfo, CFBundleCopyLocalizationsForPreferences,
    CFBundleCopyLocalizationsForURL, CFBundleCopyLocalizedString, CFBundleCopyLocalizedStringForLocalization,
    CFBundleCopyPreferredLocalizationsFromArray, CFBundleCopyPrivateFrameworksURL, CFBundleCopyResourceURL,
    CFBundleCopyResourceURLForLocalization, CFBundleCopyResourceURLInDirectory, CFBundleCopyResourceURLsOfType,
    CFBundleCopyResourceURLsOfTypeForLocalization, CFBundleCopyResourceURLsOfTypeInDirectory,
    CFBundleCopyResourcesDirectoryURL, CFBundleCopySharedFrameworksURL, CFBundleCopySharedSupportURL,
    CFBundleCopySupportFilesDirectoryURL, CFBundleCreate, CFBundleCreateBundlesFromDirectory, CFBundleGetAllBundles,
    CFBundleGetBundleWithIdentifier, CFBundleGetDataPointerForName, CFBundleGetDataPointersForNames,
    CFBundleGetDevelopmentRegion, CFBundleGetExecutableType, CFBundleGetFunctionPointerForName,
    CFBundleGetFunctionPointersForNames, CFBundleGetIdentifier, CFBundleGetInfoDictionary,
    CFBundleGetLocalInfoDictionary, CFBundleGetLocalizationInfoForLocalization, CFBundleGetMainBundle,
    CFBundleGetPackageInfo, CFBundleGetPackageInfoInDirectory, CFBundleGetPlugIn, CFBundleGetTypeID,
    CFBundleGetValueForInfoDictionaryKey, CFBundleGetVersionNumber, CFBundleIsExecutableLoaded, CFBundleLoadExecutable,
    CFBundleLoadExecutableAndReturnError, CFBundlePreflightExecutable, CFBundleUnloadExecutable;

// Byte order.
CF_MISSING("runloop-cf has no byte order functions: use endian.h")
CFByteOrderGetCurrent, CFConvertDoubleHostToSwapped, CFConvertDoubleSwappedToHost, CFConvertFloat32HostToSwapped,
    CFConvertFloat32SwappedToHost, CFConvertFloat64HostToSwapped, CFConvertFloat64SwappedToHost,
    CFConvertFloatHostToSwapped, CFConvertFloatSwappedToHost, CFSwapInt16, CFSwapInt16BigToHost, CFSwapInt16HostToBig,
    CFSwapInt16HostToLittle, CFSwapInt16LittleToHost, CFSwapInt32, CFSwapInt32BigToHost, CFSwapInt32HostToBig,
    CFSwapInt32HostToLittle, CFSwapInt32LittleToHost, CFSwapInt64, CFSwapInt64BigToHost, CFSwapInt64HostToBig,
    CFSwapInt64HostToLittle, CFSwapInt64LittleToHost;

// Calendars.
CF_MISSING("runloop-cf has no calendars")
CFCalendarAddComponents, CFCalendarComposeAbsoluteTime, CFCalendarCopyCurrent, CFCalendarCopyGregorianStartDate,
    CFCalendarCopyLocale, CFCalendarCopyTimeZone, CFCalendarCreateDateComponentsFromDate,
    CFCalendarCreateDateFromComponents, CFCalendarCreateWithIdentifier, CFCalendarDecomposeAbsoluteTime,
    CFCalendarGetComponentDifference, CFCalendarGetComponentFromDate, CFCalendarGetFirstWeekday,
    CFCalendarGetIdentifier, CFCalendarGetMaximumRangeOfUnit, CFCalendarGetMinimumDaysInFirstWeek,
    CFCalendarGetMinimumRangeOfUnit, CFCalendarGetOrdinalityOfUnit, CFCalendarGetRangeOfUnit,
    CFCalendarGetTimeRangeOfUnit, CFCalendarGetTypeID, CFCalendarSetFirstWeekday, CFCalendarSetGregorianStartDate,
    CFCalendarSetLocale, CFCalendarSetMinimumDaysInFirstWeek, CFCalendarSetTimeZone;

// Sets of characters.
CF_MISSING("runloop-cf has no character sets")
CFCharacterSetAddCharactersInRange, CFCharacterSetAddCharactersInString, CFCharacterSetCreateBitmapRepresentation,
    CFCharacterSetCreateCopy, CFCharacterSetCreateInvertedSet, CFCharacterSetCreateMutable,
    CFCharacterSetCreateMutableCopy, CFCharacterSetCreateWithBitmapRepresentation,
    CFCharacterSetCreateWithCharactersInRange, CFCharacterSetCreateWithCharactersInString, CFCharacterSetGetPredefined,
    CFCharacterSetGetTypeID, CFCharacterSetHasMemberInPlane, CFCharacterSetInitInlineBuffer, CFCharacterSetIntersect,
    CFCharacterSetInvert, CFCharacterSetIsCharacterMember, CFCharacterSetIsLongCharacterMember,
    CFCharacterSetIsSupersetOfSet, CFCharacterSetIsSurrogatePairMember, CFCharacterSetRemoveCharactersInRange,
    CFCharacterSetRemoveCharactersInString, CFCharacterSetUnion;

// Formatters of dates.
CF_MISSING("runloop-cf has no formatters")
CFDateFormatterCopyProperty, CFDateFormatterCreate, CFDateFormatterCreateDateFormatFromTemplate,
    CFDateFormatterCreateDateFormatsFromTemplates, CFDateFormatterCreateDateFromString,
    CFDateFormatterCreateISO8601Formatter, CFDateFormatterCreateStringWithAbsoluteTime,
    CFDateFormatterCreateStringWithDate, CFDateFormatterGetAbsoluteTimeFromString, CFDateFormatterGetDateStyle,
    CFDateFormatterGetFormat, CFDateFormatterGetLocale, CFDateFormatterGetTimeStyle, CFDateFormatterGetTypeID,
    CFDateFormatterSetFormat, CFDateFormatterSetProperty;

// Dictionaries.
CF_MISSING("runloop-cf has no dictionaries")
CFDictionaryAddValue, CFDictionaryApplyFunction, CFDictionaryContainsKey, CFDictionaryContainsValue, CFDictionaryCreate,
    CFDictionaryCreateCopy, CFDictionaryCreateMutable, CFDictionaryCreateMutableCopy, CFDictionaryGetCount,
    CFDictionaryGetCountOfKey, CFDictionaryGetCountOfValue, CFDictionaryGetKeyIfPresent, CFDictionaryGetKeysAndValues,
    CFDictionaryGetTypeID, CFDictionaryGetValue, CFDictionaryGetValueIfPresent, CFDictionaryRemoveAllValues,
    CFDictionaryRemoveValue, CFDictionaryReplaceValue, CFDictionarySetValue;
CF_MISSING_CONSTANTS("runloop-cf has no dictionaries")
kCFCopyStringDictionaryKeyCallBacks, kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks;

// Error objects.
CF_MISSING("runloop-cf has no error objects")
CFErrorCopyCallBackBlockForDomain, CFErrorCopyDescription, CFErrorCopyFailureReason, CFErrorCopyRecoverySuggestion,
    CFErrorCopyUserInfo, CFErrorCreate, CFErrorCreateWithUserInfoKeysAndValues, CFErrorGetCallBackBlockForDomain,
    CFErrorGetCallBackForDomain, CFErrorGetCode, CFErrorGetDomain, CFErrorGetTypeID, CFErrorSetCallBackBlockForDomain,
    CFErrorSetCallBackForDomain;

// Locales.
CF_MISSING("runloop-cf has no locales")
CFLocaleCopyAvailableLocaleIdentifiers, CFLocaleCopyCommonISOCurrencyCodes, CFLocaleCopyCurrent,
    CFLocaleCopyDisplayNameForPropertyValue, CFLocaleCopyISOCountryCodes, CFLocaleCopyISOCurrencyCodes,
    CFLocaleCopyISOLanguageCodes, CFLocaleCopyPreferredLanguages, CFLocaleCreate,
    CFLocaleCreateCanonicalLanguageIdentifierFromString, CFLocaleCreateCanonicalLocaleIdentifierFromScriptManagerCodes,
    CFLocaleCreateCanonicalLocaleIdentifierFromString, CFLocaleCreateComponentsFromLocaleIdentifier, CFLocaleCreateCopy,
    CFLocaleCreateLocaleIdentifierFromComponents, CFLocaleCreateLocaleIdentifierFromWindowsLocaleCode,
    CFLocaleGetIdentifier, CFLocaleGetLanguageCharacterDirection, CFLocaleGetLanguageLineDirection,
    CFLocaleGetLanguageRegionEncodingForLocaleIdentifier, CFLocaleGetSystem, CFLocaleGetTypeID, CFLocaleGetValue,
    CFLocaleGetWindowsLocaleCodeFromLocaleIdentifier;

// Mach ports.
CF_MISSING("Linux has no Mach ports: use a version-1 source with an eventfd, or CFFileDescriptor")
CFMachPortCreate, CFMachPortCreateRunLoopSource, CFMachPortCreateWithPort, CFMachPortGetContext,
    CFMachPortGetInvalidationCallBack, CFMachPortGetPort, CFMachPortGetTypeID, CFMachPortInvalidate, CFMachPortIsValid,
    CFMachPortSetInvalidationCallBack;

// Message ports.
CF_MISSING("runloop-cf has no message ports: use CFSocket")
CFMessagePortCreateLocal, CFMessagePortCreateRemote, CFMessagePortCreateRunLoopSource, CFMessagePortGetContext,
    CFMessagePortGetInvalidationCallBack, CFMessagePortGetName, CFMessagePortGetTypeID, CFMessagePortInvalidate,
    CFMessagePortIsRemote, CFMessagePortIsValid, CFMessagePortSendRequest, CFMessagePortSetDispatchQueue,
    CFMessagePortSetInvalidationCallBack, CFMessagePortSetName;

// Numbers.
CF_MISSING("runloop-cf has no numbers")
CFNumberCompare, CFNumberCreate, CFNumberFormatterCopyProperty, CFNumberFormatterCreate,
    CFNumberFormatterCreateNumberFromString, CFNumberFormatterCreateStringWithNumber,
    CFNumberFormatterCreateStringWithValue, CFNumberFormatterGetDecimalInfoForCurrencyCode, CFNumberFormatterGetFormat,
    CFNumberFormatterGetLocale, CFNumberFormatterGetStyle, CFNumberFormatterGetTypeID,
    CFNumberFormatterGetValueFromString, CFNumberFormatterSetFormat, CFNumberFormatterSetProperty, CFNumberGetByteSize,
    CFNumberGetType, CFNumberGetTypeID, CFNumberGetValue, CFNumberIsFloatType;

// Plug-ins.
CF_MISSING("runloop-cf has no plug-ins")
CFPlugInAddInstanceForFactory, CFPlugInCreate, CFPlugInFindFactoriesForPlugInType,
    CFPlugInFindFactoriesForPlugInTypeInPlugIn, CFPlugInGetBundle, CFPlugInGetTypeID, CFPlugInInstanceCreate,
    CFPlugInInstanceCreateWithInstanceDataSize, CFPlugInInstanceGetFactoryName, CFPlugInInstanceGetInstanceData,
    CFPlugInInstanceGetInterfaceFunctionTable, CFPlugInInstanceGetTypeID, CFPlugInIsLoadOnDemand,
    CFPlugInRegisterFactoryFunction, CFPlugInRegisterFactoryFunctionByName, CFPlugInRegisterPlugInType,
    CFPlugInRemoveInstanceForFactory, CFPlugInSetLoadOnDemand, CFPlugInUnregisterFactory, CFPlugInUnregisterPlugInType;

// Preferences.
CF_MISSING("runloop-cf has no preferences")
CFPreferencesAddSuitePreferencesToApp, CFPreferencesAppBooleanValue, CFPreferencesAppSynchronize,
    CFPreferencesCopyAppValue, CFPreferencesCopyApplicationList, CFPreferencesCopyKeyList, CFPreferencesCopyMultiple,
    CFPreferencesCopyValue, CFPreferencesFlushCaches, CFPreferencesGetAppBooleanValue, CFPreferencesGetAppIntegerValue,
    CFPreferencesRemoveSuitePreferencesFromApp, CFPreferencesSetAppValue, CFPreferencesSetMultiple,
    CFPreferencesSetValue, CFPreferencesSynchronize;
CF_MISSING_CONSTANTS("runloop-cf has no preferences")
kCFPreferencesCurrentApplication;

// Property lists.
CF_MISSING("runloop-cf has no property lists")
CFPropertyListCreateData, CFPropertyListCreateDeepCopy, CFPropertyListCreateFromStream, CFPropertyListCreateFromXMLData,
    CFPropertyListCreateWithData, CFPropertyListCreateWithStream, CFPropertyListCreateXMLData, CFPropertyListIsValid,
    CFPropertyListWrite, CFPropertyListWriteToStream;

// Types of one's own.
CF_MISSING("runloop-cf has no way to add types of objects")
_CFRuntimeCreateInstance, _CFRuntimeGetClassWithTypeID, _CFRuntimeInitStaticInstance, _CFRuntimeRegisterClass,
    _CFRuntimeSetInstanceTypeID, _CFRuntimeUnregisterClassWithTypeID;

// Streams.
CF_MISSING("runloop-cf has no streams: use CFSocket")
CFReadStreamClose, CFReadStreamCopyDispatchQueue, CFReadStreamCopyError, CFReadStreamCopyProperty, CFReadStreamCreate,
    CFReadStreamCreateWithBytesNoCopy, CFReadStreamCreateWithData, CFReadStreamCreateWithFile, CFReadStreamGetBuffer,
    CFReadStreamGetError, CFReadStreamGetInfoPointer, CFReadStreamGetStatus, CFReadStreamGetTypeID,
    CFReadStreamHasBytesAvailable, CFReadStreamOpen, CFReadStreamRead, CFReadStreamScheduleWithRunLoop,
    CFReadStreamSetClient, CFReadStreamSetDispatchQueue, CFReadStreamSetProperty, CFReadStreamSignalEvent,
    CFReadStreamUnscheduleFromRunLoop, CFStreamCreateBoundPair, CFStreamCreatePairWithPeerSocketSignature,
    CFStreamCreatePairWithSocket, CFStreamCreatePairWithSocketToHost, CFWriteStreamCanAcceptBytes, CFWriteStreamClose,
    CFWriteStreamCopyDispatchQueue, CFWriteStreamCopyError, CFWriteStreamCopyProperty, CFWriteStreamCreate,
    CFWriteStreamCreateWithAllocatedBuffers, CFWriteStreamCreateWithBuffer, CFWriteStreamCreateWithFile,
    CFWriteStreamGetError, CFWriteStreamGetInfoPointer, CFWriteStreamGetStatus, CFWriteStreamGetTypeID,
    CFWriteStreamOpen, CFWriteStreamScheduleWithRunLoop, CFWriteStreamSetClient, CFWriteStreamSetDispatchQueue,
    CFWriteStreamSetProperty, CFWriteStreamSignalEvent, CFWriteStreamUnscheduleFromRunLoop, CFWriteStreamWrite;

// Words of a string.
CF_MISSING("runloop-cf has no tokenizer")
CFStringTokenizerAdvanceToNextToken, CFStringTokenizerCopyBestStringLanguage,
    CFStringTokenizerCopyCurrentTokenAttribute, CFStringTokenizerCreate, CFStringTokenizerGetCurrentSubTokens,
    CFStringTokenizerGetCurrentTokenRange, CFStringTokenizerGetTypeID, CFStringTokenizerGoToTokenAtIndex,
    CFStringTokenizerSetString;

// Time zones.
CF_MISSING("runloop-cf has no time zones")
CFTimeZoneCopyAbbreviation, CFTimeZoneCopyAbbreviationDictionary, CFTimeZoneCopyDefault, CFTimeZoneCopyKnownNames,
    CFTimeZoneCopyLocalizedName, CFTimeZoneCopySystem, CFTimeZoneCreate, CFTimeZoneCreateWithName,
    CFTimeZoneCreateWithTimeIntervalFromGMT, CFTimeZoneGetData, CFTimeZoneGetDaylightSavingTimeOffset,
    CFTimeZoneGetName, CFTimeZoneGetNextDaylightSavingTimeTransition, CFTimeZoneGetSecondsFromGMT, CFTimeZoneGetTypeID,
    CFTimeZoneIsDaylightSavingTime, CFTimeZoneResetSystem, CFTimeZoneSetAbbreviationDictionary, CFTimeZoneSetDefault;

// Trees.
CF_MISSING("runloop-cf has arrays and sets only")
CFTreeAppendChild, CFTreeApplyFunctionToChildren, CFTreeCreate, CFTreeFindRoot, CFTreeGetChildAtIndex,
    CFTreeGetChildCount, CFTreeGetChildren, CFTreeGetContext, CFTreeGetFirstChild, CFTreeGetNextSibling,
    CFTreeGetParent, CFTreeGetTypeID, CFTreeInsertSibling, CFTreePrependChild, CFTreeRemove, CFTreeRemoveAllChildren,
    CFTreeSetContext, CFTreeSortChildren;

// URLs.
CF_MISSING("runloop-cf has no URLs")
CFURLCanBeDecomposed, CFURLClearResourcePropertyCache, CFURLClearResourcePropertyCacheForKey, CFURLCopyAbsoluteURL,
    CFURLCopyFileSystemPath, CFURLCopyFragment, CFURLCopyHostName, CFURLCopyLastPathComponent, CFURLCopyNetLocation,
    CFURLCopyParameterString, CFURLCopyPassword, CFURLCopyPath, CFURLCopyPathExtension, CFURLCopyQueryString,
    CFURLCopyResourcePropertiesForKeys, CFURLCopyResourcePropertyForKey, CFURLCopyResourceSpecifier, CFURLCopyScheme,
    CFURLCopyStrictPath, CFURLCopyUserName, CFURLCreateAbsoluteURLWithBytes, CFURLCreateCopyAppendingPathComponent,
    CFURLCreateCopyAppendingPathExtension, CFURLCreateCopyDeletingLastPathComponent,
    CFURLCreateCopyDeletingPathExtension, CFURLCreateData, CFURLCreateDataAndPropertiesFromResource,
    CFURLCreateFileReferenceURL, CFURLCreateFromFileSystemRepresentation,
    CFURLCreateFromFileSystemRepresentationRelativeToBase, CFURLCreatePropertyFromResource,
    CFURLCreateStringByAddingPercentEscapes, CFURLCreateStringByReplacingPercentEscapes,
    CFURLCreateStringByReplacingPercentEscapesUsingEncoding, CFURLCreateStringWithFileSystemPath, CFURLCreateWithBytes,
    CFURLCreateWithFileSystemPath, CFURLCreateWithFileSystemPathRelativeToBase, CFURLCreateWithString,
    CFURLDestroyResource, CFURLGetBaseURL, CFURLGetByteRangeForComponent, CFURLGetBytes, CFURLGetBytesUsingEncoding,
    CFURLGetFileSystemRepresentation, CFURLGetPortNumber, CFURLGetString, CFURLGetTypeID, CFURLHasDirectoryPath,
    CFURLSetResourcePropertiesForKeys, CFURLSetResourcePropertyForKey, CFURLSetTemporaryResourcePropertyForKey,
    CFURLWriteDataAndPropertiesToResource;

// UUIDs.
CF_MISSING("runloop-cf has no UUIDs")
CFUUIDCreate, CFUUIDCreateFromString, CFUUIDCreateFromUUIDBytes, CFUUIDCreateString, CFUUIDCreateWithBytes,
    CFUUIDGetConstantUUIDWithBytes, CFUUIDGetTypeID, CFUUIDGetUUIDBytes;

// Questions to the user.
CF_MISSING("runloop-cf has no user notifications")
CFUserNotificationCancel, CFUserNotificationCreate, CFUserNotificationCreateRunLoopSource,
    CFUserNotificationDisplayAlert, CFUserNotificationDisplayNotice, CFUserNotificationGetResponseDictionary,
    CFUserNotificationGetResponseValue, CFUserNotificationGetTypeID, CFUserNotificationReceiveResponse,
    CFUserNotificationUpdate;

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFMISSING_H
