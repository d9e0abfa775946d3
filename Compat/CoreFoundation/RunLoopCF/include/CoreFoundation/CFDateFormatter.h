//===----------------------------------------------------------------------===//
// CFDateFormatter.h — formatters of dates: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFMissing.h>
