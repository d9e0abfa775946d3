//===----------------------------------------------------------------------===//
// CFNumber.h — numbers and truth values: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFNUMBER_H
#define RUNLOOP_CF_CFNUMBER_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_NUMBER "runloop-cf has no numbers"

CF_EXTERN_C_BEGIN

CF_MISSING(CFBooleanGetTypeID, CF_NO_NUMBER)
CF_MISSING(CFBooleanGetValue, CF_NO_NUMBER)
CF_MISSING(CFNumberCompare, CF_NO_NUMBER)
CF_MISSING(CFNumberCreate, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterCopyProperty, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterCreate, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterCreateNumberFromString, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterCreateStringWithNumber, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterCreateStringWithValue, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterGetDecimalInfoForCurrencyCode, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterGetFormat, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterGetLocale, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterGetStyle, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterGetTypeID, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterGetValueFromString, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterSetFormat, CF_NO_NUMBER)
CF_MISSING(CFNumberFormatterSetProperty, CF_NO_NUMBER)
CF_MISSING(CFNumberGetByteSize, CF_NO_NUMBER)
CF_MISSING(CFNumberGetType, CF_NO_NUMBER)
CF_MISSING(CFNumberGetTypeID, CF_NO_NUMBER)
CF_MISSING(CFNumberGetValue, CF_NO_NUMBER)
CF_MISSING(CFNumberIsFloatType, CF_NO_NUMBER)
CF_MISSING_CONSTANT(kCFBooleanFalse, CF_NO_NUMBER)
CF_MISSING_CONSTANT(kCFBooleanTrue, CF_NO_NUMBER)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFNUMBER_H
