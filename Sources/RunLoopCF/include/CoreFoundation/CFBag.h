//===----------------------------------------------------------------------===//
// CFBag.h — bags: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFBAG_H
#define RUNLOOP_CF_CFBAG_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_BAG "runloop-cf has arrays and sets only"

CF_EXTERN_C_BEGIN

CF_MISSING(CFBagAddValue, CF_NO_BAG)
CF_MISSING(CFBagApplyFunction, CF_NO_BAG)
CF_MISSING(CFBagContainsValue, CF_NO_BAG)
CF_MISSING(CFBagCreate, CF_NO_BAG)
CF_MISSING(CFBagCreateCopy, CF_NO_BAG)
CF_MISSING(CFBagCreateMutable, CF_NO_BAG)
CF_MISSING(CFBagCreateMutableCopy, CF_NO_BAG)
CF_MISSING(CFBagGetCount, CF_NO_BAG)
CF_MISSING(CFBagGetCountOfValue, CF_NO_BAG)
CF_MISSING(CFBagGetTypeID, CF_NO_BAG)
CF_MISSING(CFBagGetValue, CF_NO_BAG)
CF_MISSING(CFBagGetValueIfPresent, CF_NO_BAG)
CF_MISSING(CFBagGetValues, CF_NO_BAG)
CF_MISSING(CFBagRemoveAllValues, CF_NO_BAG)
CF_MISSING(CFBagRemoveValue, CF_NO_BAG)
CF_MISSING(CFBagReplaceValue, CF_NO_BAG)
CF_MISSING(CFBagSetValue, CF_NO_BAG)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFBAG_H
