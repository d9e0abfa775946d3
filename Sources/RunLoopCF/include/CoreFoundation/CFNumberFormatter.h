//===----------------------------------------------------------------------===//
// CFNumberFormatter.h — formatters of numbers: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFNUMBERFORMATTER_H
#define RUNLOOP_CF_CFNUMBERFORMATTER_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_NUMBER_FORMATTER "runloop-cf has no formatters"

CF_EXTERN_C_BEGIN

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFNUMBERFORMATTER_H
