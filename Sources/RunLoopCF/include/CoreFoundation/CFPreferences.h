//===----------------------------------------------------------------------===//
// CFPreferences.h — preferences: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFPREFERENCES_H
#define RUNLOOP_CF_CFPREFERENCES_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_PREFERENCES "runloop-cf has no preferences"

CF_EXTERN_C_BEGIN

CF_MISSING(CFPreferencesAddSuitePreferencesToApp, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesAppBooleanValue, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesAppSynchronize, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesCopyAppValue, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesCopyApplicationList, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesCopyKeyList, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesCopyMultiple, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesCopyValue, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesFlushCaches, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesGetAppBooleanValue, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesGetAppIntegerValue, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesRemoveSuitePreferencesFromApp, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesSetAppValue, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesSetMultiple, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesSetValue, CF_NO_PREFERENCES)
CF_MISSING(CFPreferencesSynchronize, CF_NO_PREFERENCES)
CF_MISSING_CONSTANT(kCFPreferencesCurrentApplication, CF_NO_PREFERENCES)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFPREFERENCES_H
