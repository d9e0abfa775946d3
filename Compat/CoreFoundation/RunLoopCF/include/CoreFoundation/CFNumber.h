//===----------------------------------------------------------------------===//
// CFNumber.h — numbers and truth values: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#include <CoreFoundation/CFMissing.h>
