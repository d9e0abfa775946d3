//===----------------------------------------------------------------------===//
// CFByteOrder.h — byte order: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFBYTEORDER_H
#define RUNLOOP_CF_CFBYTEORDER_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_BYTE_ORDER "runloop-cf has no byte order functions: use endian.h"

CF_EXTERN_C_BEGIN

CF_MISSING(CFByteOrderGetCurrent, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertDoubleHostToSwapped, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertDoubleSwappedToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertFloat32HostToSwapped, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertFloat32SwappedToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertFloat64HostToSwapped, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertFloat64SwappedToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertFloatHostToSwapped, CF_NO_BYTE_ORDER)
CF_MISSING(CFConvertFloatSwappedToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt16, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt16BigToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt16HostToBig, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt16HostToLittle, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt16LittleToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt32, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt32BigToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt32HostToBig, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt32HostToLittle, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt32LittleToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt64, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt64BigToHost, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt64HostToBig, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt64HostToLittle, CF_NO_BYTE_ORDER)
CF_MISSING(CFSwapInt64LittleToHost, CF_NO_BYTE_ORDER)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFBYTEORDER_H
