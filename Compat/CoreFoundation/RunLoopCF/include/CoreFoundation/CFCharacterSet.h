//===----------------------------------------------------------------------===//
// CFCharacterSet.h — sets of characters: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#include <CoreFoundation/CFMissing.h>
