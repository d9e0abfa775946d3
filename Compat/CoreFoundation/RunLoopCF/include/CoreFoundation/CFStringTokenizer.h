//===----------------------------------------------------------------------===//
// CFStringTokenizer.h — words of a string: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#include <CoreFoundation/CFMissing.h>
