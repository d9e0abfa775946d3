//===----------------------------------------------------------------------===//
// CFUUID.h — UUIDs: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFUUID_H
#define RUNLOOP_CF_CFUUID_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_UUID "runloop-cf has no UUIDs"

CF_EXTERN_C_BEGIN

CF_MISSING(CFUUIDCreate, CF_NO_UUID)
CF_MISSING(CFUUIDCreateFromString, CF_NO_UUID)
CF_MISSING(CFUUIDCreateFromUUIDBytes, CF_NO_UUID)
CF_MISSING(CFUUIDCreateString, CF_NO_UUID)
CF_MISSING(CFUUIDCreateWithBytes, CF_NO_UUID)
CF_MISSING(CFUUIDGetConstantUUIDWithBytes, CF_NO_UUID)
CF_MISSING(CFUUIDGetTypeID, CF_NO_UUID)
CF_MISSING(CFUUIDGetUUIDBytes, CF_NO_UUID)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFUUID_H
