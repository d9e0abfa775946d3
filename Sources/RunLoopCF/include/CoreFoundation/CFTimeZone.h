//===----------------------------------------------------------------------===//
// CFTimeZone.h — time zones: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFTIMEZONE_H
#define RUNLOOP_CF_CFTIMEZONE_H

#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_TIME_ZONE "runloop-cf has no time zones"

CF_EXTERN_C_BEGIN

CF_MISSING(CFTimeZoneCopyAbbreviation, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCopyAbbreviationDictionary, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCopyDefault, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCopyKnownNames, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCopyLocalizedName, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCopySystem, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCreate, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCreateWithName, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneCreateWithTimeIntervalFromGMT, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneGetData, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneGetDaylightSavingTimeOffset, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneGetName, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneGetNextDaylightSavingTimeTransition, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneGetSecondsFromGMT, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneGetTypeID, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneIsDaylightSavingTime, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneResetSystem, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneSetAbbreviationDictionary, CF_NO_TIME_ZONE)
CF_MISSING(CFTimeZoneSetDefault, CF_NO_TIME_ZONE)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFTIMEZONE_H
