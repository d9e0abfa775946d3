//===----------------------------------------------------------------------===//
// CFByteOrder.h — byte order: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#include <CoreFoundation/CFMissing.h>
