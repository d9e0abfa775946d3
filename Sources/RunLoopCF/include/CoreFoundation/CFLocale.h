//===----------------------------------------------------------------------===//
// CFLocale.h — locales: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFLOCALE_H
#define RUNLOOP_CF_CFLOCALE_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_LOCALE "runloop-cf has no locales"

CF_EXTERN_C_BEGIN

CF_MISSING(CFLocaleCopyAvailableLocaleIdentifiers, CF_NO_LOCALE)
CF_MISSING(CFLocaleCopyCommonISOCurrencyCodes, CF_NO_LOCALE)
CF_MISSING(CFLocaleCopyCurrent, CF_NO_LOCALE)
CF_MISSING(CFLocaleCopyDisplayNameForPropertyValue, CF_NO_LOCALE)
CF_MISSING(CFLocaleCopyISOCountryCodes, CF_NO_LOCALE)
CF_MISSING(CFLocaleCopyISOCurrencyCodes, CF_NO_LOCALE)
CF_MISSING(CFLocaleCopyISOLanguageCodes, CF_NO_LOCALE)
CF_MISSING(CFLocaleCopyPreferredLanguages, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreate, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreateCanonicalLanguageIdentifierFromString, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreateCanonicalLocaleIdentifierFromScriptManagerCodes, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreateCanonicalLocaleIdentifierFromString, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreateComponentsFromLocaleIdentifier, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreateCopy, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreateLocaleIdentifierFromComponents, CF_NO_LOCALE)
CF_MISSING(CFLocaleCreateLocaleIdentifierFromWindowsLocaleCode, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetIdentifier, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetLanguageCharacterDirection, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetLanguageLineDirection, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetLanguageRegionEncodingForLocaleIdentifier, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetSystem, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetTypeID, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetValue, CF_NO_LOCALE)
CF_MISSING(CFLocaleGetWindowsLocaleCodeFromLocaleIdentifier, CF_NO_LOCALE)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFLOCALE_H
