//===----------------------------------------------------------------------===//
// CFError.h — error objects: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFERROR_H
#define RUNLOOP_CF_CFERROR_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_ERROR "runloop-cf has no error objects"

CF_EXTERN_C_BEGIN

CF_MISSING(CFErrorCopyCallBackBlockForDomain, CF_NO_ERROR)
CF_MISSING(CFErrorCopyDescription, CF_NO_ERROR)
CF_MISSING(CFErrorCopyFailureReason, CF_NO_ERROR)
CF_MISSING(CFErrorCopyRecoverySuggestion, CF_NO_ERROR)
CF_MISSING(CFErrorCopyUserInfo, CF_NO_ERROR)
CF_MISSING(CFErrorCreate, CF_NO_ERROR)
CF_MISSING(CFErrorCreateWithUserInfoKeysAndValues, CF_NO_ERROR)
CF_MISSING(CFErrorGetCallBackBlockForDomain, CF_NO_ERROR)
CF_MISSING(CFErrorGetCallBackForDomain, CF_NO_ERROR)
CF_MISSING(CFErrorGetCode, CF_NO_ERROR)
CF_MISSING(CFErrorGetDomain, CF_NO_ERROR)
CF_MISSING(CFErrorGetTypeID, CF_NO_ERROR)
CF_MISSING(CFErrorSetCallBackBlockForDomain, CF_NO_ERROR)
CF_MISSING(CFErrorSetCallBackForDomain, CF_NO_ERROR)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFERROR_H
