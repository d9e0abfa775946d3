//===----------------------------------------------------------------------===//
// CFDateFormatter.h — formatters of dates: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFDATEFORMATTER_H
#define RUNLOOP_CF_CFDATEFORMATTER_H

#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_DATE_FORMATTER "runloop-cf has no formatters"

CF_EXTERN_C_BEGIN

CF_MISSING(CFDateFormatterCopyProperty, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterCreate, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterCreateDateFormatFromTemplate, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterCreateDateFormatsFromTemplates, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterCreateDateFromString, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterCreateISO8601Formatter, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterCreateStringWithAbsoluteTime, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterCreateStringWithDate, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterGetAbsoluteTimeFromString, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterGetDateStyle, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterGetFormat, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterGetLocale, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterGetTimeStyle, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterGetTypeID, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterSetFormat, CF_NO_DATE_FORMATTER)
CF_MISSING(CFDateFormatterSetProperty, CF_NO_DATE_FORMATTER)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFDATEFORMATTER_H
