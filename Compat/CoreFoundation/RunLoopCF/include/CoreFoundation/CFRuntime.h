//===----------------------------------------------------------------------===//
// CFRuntime.h — types of one's own: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#include <CoreFoundation/CFMissing.h>
