//===----------------------------------------------------------------------===//
// CFBitVector.h — bit vectors: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFBITVECTOR_H
#define RUNLOOP_CF_CFBITVECTOR_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_BIT_VECTOR "runloop-cf has arrays and sets only"

CF_EXTERN_C_BEGIN

CF_MISSING(CFBitVectorContainsBit, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorCreate, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorCreateCopy, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorCreateMutable, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorCreateMutableCopy, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorFlipBitAtIndex, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorFlipBits, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorGetBitAtIndex, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorGetBits, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorGetCount, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorGetCountOfBit, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorGetFirstIndexOfBit, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorGetLastIndexOfBit, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorGetTypeID, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorSetAllBits, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorSetBitAtIndex, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorSetBits, CF_NO_BIT_VECTOR)
CF_MISSING(CFBitVectorSetCount, CF_NO_BIT_VECTOR)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFBITVECTOR_H
