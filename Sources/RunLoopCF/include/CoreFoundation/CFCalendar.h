//===----------------------------------------------------------------------===//
// CFCalendar.h — calendars: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFCALENDAR_H
#define RUNLOOP_CF_CFCALENDAR_H

#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_CALENDAR "runloop-cf has no calendars"

CF_EXTERN_C_BEGIN

CF_MISSING(CFCalendarAddComponents, CF_NO_CALENDAR)
CF_MISSING(CFCalendarComposeAbsoluteTime, CF_NO_CALENDAR)
CF_MISSING(CFCalendarCopyCurrent, CF_NO_CALENDAR)
CF_MISSING(CFCalendarCopyGregorianStartDate, CF_NO_CALENDAR)
CF_MISSING(CFCalendarCopyLocale, CF_NO_CALENDAR)
CF_MISSING(CFCalendarCopyTimeZone, CF_NO_CALENDAR)
CF_MISSING(CFCalendarCreateDateComponentsFromDate, CF_NO_CALENDAR)
CF_MISSING(CFCalendarCreateDateFromComponents, CF_NO_CALENDAR)
CF_MISSING(CFCalendarCreateWithIdentifier, CF_NO_CALENDAR)
CF_MISSING(CFCalendarDecomposeAbsoluteTime, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetComponentDifference, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetComponentFromDate, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetFirstWeekday, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetIdentifier, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetMaximumRangeOfUnit, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetMinimumDaysInFirstWeek, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetMinimumRangeOfUnit, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetOrdinalityOfUnit, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetRangeOfUnit, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetTimeRangeOfUnit, CF_NO_CALENDAR)
CF_MISSING(CFCalendarGetTypeID, CF_NO_CALENDAR)
CF_MISSING(CFCalendarSetFirstWeekday, CF_NO_CALENDAR)
CF_MISSING(CFCalendarSetGregorianStartDate, CF_NO_CALENDAR)
CF_MISSING(CFCalendarSetLocale, CF_NO_CALENDAR)
CF_MISSING(CFCalendarSetMinimumDaysInFirstWeek, CF_NO_CALENDAR)
CF_MISSING(CFCalendarSetTimeZone, CF_NO_CALENDAR)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFCALENDAR_H
