//===----------------------------------------------------------------------===//
// CFBinaryHeap.h — binary heaps: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFBINARYHEAP_H
#define RUNLOOP_CF_CFBINARYHEAP_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_BINARY_HEAP "runloop-cf has arrays and sets only"

CF_EXTERN_C_BEGIN

CF_MISSING(CFBinaryHeapAddValue, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapApplyFunction, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapContainsValue, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapCreate, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapCreateCopy, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapGetCount, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapGetCountOfValue, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapGetMinimum, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapGetMinimumIfPresent, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapGetTypeID, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapGetValues, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapRemoveAllValues, CF_NO_BINARY_HEAP)
CF_MISSING(CFBinaryHeapRemoveMinimumValue, CF_NO_BINARY_HEAP)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFBINARYHEAP_H
