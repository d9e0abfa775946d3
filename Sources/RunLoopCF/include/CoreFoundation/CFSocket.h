//===----------------------------------------------------------------------===//
// CFSocket.h — sockets: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFSOCKET_H
#define RUNLOOP_CF_CFSOCKET_H

#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>

#pragma GCC system_header

#define CF_NO_SOCKET "runloop-cf has no sockets: use CFFileDescriptor"

CF_EXTERN_C_BEGIN

CF_MISSING(CFSocketConnectToAddress, CF_NO_SOCKET)
CF_MISSING(CFSocketCopyAddress, CF_NO_SOCKET)
CF_MISSING(CFSocketCopyPeerAddress, CF_NO_SOCKET)
CF_MISSING(CFSocketCopyRegisteredSocketSignature, CF_NO_SOCKET)
CF_MISSING(CFSocketCopyRegisteredValue, CF_NO_SOCKET)
CF_MISSING(CFSocketCreate, CF_NO_SOCKET)
CF_MISSING(CFSocketCreateConnectedToSocketSignature, CF_NO_SOCKET)
CF_MISSING(CFSocketCreateRunLoopSource, CF_NO_SOCKET)
CF_MISSING(CFSocketCreateWithNative, CF_NO_SOCKET)
CF_MISSING(CFSocketCreateWithSocketSignature, CF_NO_SOCKET)
CF_MISSING(CFSocketDisableCallBacks, CF_NO_SOCKET)
CF_MISSING(CFSocketEnableCallBacks, CF_NO_SOCKET)
CF_MISSING(CFSocketGetContext, CF_NO_SOCKET)
CF_MISSING(CFSocketGetDefaultNameRegistryPortNumber, CF_NO_SOCKET)
CF_MISSING(CFSocketGetNative, CF_NO_SOCKET)
CF_MISSING(CFSocketGetSocketFlags, CF_NO_SOCKET)
CF_MISSING(CFSocketGetTypeID, CF_NO_SOCKET)
CF_MISSING(CFSocketInvalidate, CF_NO_SOCKET)
CF_MISSING(CFSocketIsValid, CF_NO_SOCKET)
CF_MISSING(CFSocketRegisterSocketSignature, CF_NO_SOCKET)
CF_MISSING(CFSocketRegisterValue, CF_NO_SOCKET)
CF_MISSING(CFSocketSendData, CF_NO_SOCKET)
CF_MISSING(CFSocketSetAddress, CF_NO_SOCKET)
CF_MISSING(CFSocketSetDefaultNameRegistryPortNumber, CF_NO_SOCKET)
CF_MISSING(CFSocketSetSocketFlags, CF_NO_SOCKET)
CF_MISSING(CFSocketUnregister, CF_NO_SOCKET)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFSOCKET_H
