//===----------------------------------------------------------------------===//
// CFRuntime.h — types of one's own: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFRUNTIME_H
#define RUNLOOP_CF_CFRUNTIME_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_RUNTIME "runloop-cf has no way to add types of objects"

CF_EXTERN_C_BEGIN

typedef struct __CFRuntimeBase CFRuntimeBase;
typedef struct __CFRuntimeClass CFRuntimeClass;

CF_MISSING(_CFRuntimeCreateInstance, CF_NO_RUNTIME)
CF_MISSING(_CFRuntimeGetClassWithTypeID, CF_NO_RUNTIME)
CF_MISSING(_CFRuntimeInitStaticInstance, CF_NO_RUNTIME)
CF_MISSING(_CFRuntimeRegisterClass, CF_NO_RUNTIME)
CF_MISSING(_CFRuntimeSetInstanceTypeID, CF_NO_RUNTIME)
CF_MISSING(_CFRuntimeUnregisterClassWithTypeID, CF_NO_RUNTIME)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFRUNTIME_H
