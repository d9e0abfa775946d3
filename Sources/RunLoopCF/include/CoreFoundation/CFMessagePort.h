//===----------------------------------------------------------------------===//
// CFMessagePort.h — message ports: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFMESSAGEPORT_H
#define RUNLOOP_CF_CFMESSAGEPORT_H

#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>

#pragma GCC system_header

#define CF_NO_MESSAGE_PORT "runloop-cf has no message ports: use CFSocket"

CF_EXTERN_C_BEGIN

CF_MISSING(CFMessagePortCreateLocal, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortCreateRemote, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortCreateRunLoopSource, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortGetContext, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortGetInvalidationCallBack, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortGetName, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortGetTypeID, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortInvalidate, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortIsRemote, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortIsValid, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortSendRequest, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortSetDispatchQueue, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortSetInvalidationCallBack, CF_NO_MESSAGE_PORT)
CF_MISSING(CFMessagePortSetName, CF_NO_MESSAGE_PORT)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFMESSAGEPORT_H
