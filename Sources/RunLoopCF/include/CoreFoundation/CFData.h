//===----------------------------------------------------------------------===//
// CFData.h — data objects: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFDATA_H
#define RUNLOOP_CF_CFDATA_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_DATA "runloop-cf has no data objects"

CF_EXTERN_C_BEGIN

CF_MISSING(CFDataAppendBytes, CF_NO_DATA)
CF_MISSING(CFDataCreate, CF_NO_DATA)
CF_MISSING(CFDataCreateCopy, CF_NO_DATA)
CF_MISSING(CFDataCreateMutable, CF_NO_DATA)
CF_MISSING(CFDataCreateMutableCopy, CF_NO_DATA)
CF_MISSING(CFDataCreateWithBytesNoCopy, CF_NO_DATA)
CF_MISSING(CFDataDeleteBytes, CF_NO_DATA)
CF_MISSING(CFDataFind, CF_NO_DATA)
CF_MISSING(CFDataGetBytePtr, CF_NO_DATA)
CF_MISSING(CFDataGetBytes, CF_NO_DATA)
CF_MISSING(CFDataGetLength, CF_NO_DATA)
CF_MISSING(CFDataGetMutableBytePtr, CF_NO_DATA)
CF_MISSING(CFDataGetTypeID, CF_NO_DATA)
CF_MISSING(CFDataIncreaseLength, CF_NO_DATA)
CF_MISSING(CFDataReplaceBytes, CF_NO_DATA)
CF_MISSING(CFDataSetLength, CF_NO_DATA)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFDATA_H
