//===----------------------------------------------------------------------===//
// CFSocket.h — sockets whose readiness, connections, data and clients are reported by callbacks of a run loop.
//
// A socket lives until it is invalidated, even if nothing references it. There is one for each native descriptor. Any descriptor
// that can be waited for has read and write callbacks; a regular file is always ready.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CF_CFSOCKET_H
#define RUNLOOP_CF_CFSOCKET_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFData.h>
#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>

CF_EXTERN_C_BEGIN

typedef int CFSocketNativeHandle;

typedef CFIndex CFSocketError;
enum {
    kCFSocketSuccess = 0,
    kCFSocketError = -1L,
    kCFSocketTimeout = -2L,
};

typedef struct {
    SInt32 protocolFamily;
    SInt32 socketType;
    SInt32 protocol;
    CFDataRef address;
} CFSocketSignature;

/// One of the first three, and any of the others.
typedef CFOptionFlags CFSocketCallBackType;
enum {
    kCFSocketNoCallBack = 0,
    kCFSocketReadCallBack = 1,   ///< There is something to read or to accept, or the end has been reached.
    kCFSocketAcceptCallBack = 2, ///< A client was accepted; `data` points to its CFSocketNativeHandle.
    kCFSocketDataCallBack =
        3, ///< Data was read; `data` is a CFDataRef. Empty: the connection is over, and s becomes invalid.
    kCFSocketConnectCallBack = 4, ///< Once: the connection is made, or `data` points to an SInt32, the error.
    kCFSocketWriteCallBack = 8,   ///< Something can be written.
};

/// With the first four, callbacks are enabled again after each call; initially read, accept and data callbacks are.
enum {
    kCFSocketAutomaticallyReenableReadCallBack = 1,
    kCFSocketAutomaticallyReenableAcceptCallBack = 2,
    kCFSocketAutomaticallyReenableDataCallBack = 3,
    kCFSocketAutomaticallyReenableWriteCallBack = 8,
    kCFSocketLeaveErrors = 64, ///< SO_ERROR is left to the program; a failed connection is reported without its error.
    kCFSocketCloseOnInvalidate = 128, ///< Initially set.
};

/// `address` is that of the peer, for accept and data callbacks, and otherwise NULL. It and `data` are valid during the call only.
typedef void (*CFSocketCallBack)(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data,
                                 void *info);

typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
} CFSocketContext;

CF_EXPORT CFTypeID CFSocketGetTypeID(void);

/// Without a positive family it is PF_INET, and there the defaults are SOCK_STREAM and the type's usual protocol. NULL if there is
/// no such socket.
CF_EXPORT CFSocketRef CFSocketCreate(CFAllocatorRef allocator, SInt32 protocolFamily, SInt32 socketType,
                                     SInt32 protocol, CFOptionFlags callBackTypes, CFSocketCallBack callout,
                                     const CFSocketContext *context);
/// If the descriptor has a CFSocket already, that one, retained, whatever the other arguments are. NULL if it is not open.
CF_EXPORT CFSocketRef CFSocketCreateWithNative(CFAllocatorRef allocator, CFSocketNativeHandle sock,
                                               CFOptionFlags callBackTypes, CFSocketCallBack callout,
                                               const CFSocketContext *context);
/// As CFSocketCreate, and then CFSocketSetAddress or CFSocketConnectToAddress; NULL if that fails.
CF_EXPORT CFSocketRef CFSocketCreateWithSocketSignature(CFAllocatorRef allocator, const CFSocketSignature *signature,
                                                        CFOptionFlags callBackTypes, CFSocketCallBack callout,
                                                        const CFSocketContext *context);
CF_EXPORT CFSocketRef CFSocketCreateConnectedToSocketSignature(CFAllocatorRef allocator,
                                                               const CFSocketSignature *signature,
                                                               CFOptionFlags callBackTypes, CFSocketCallBack callout,
                                                               const CFSocketContext *context, CFTimeInterval timeout);

/// Binds, and listens where the type of the socket allows it. An address is a struct sockaddr.
CF_EXPORT CFSocketError CFSocketSetAddress(CFSocketRef s, CFDataRef address);
/// Negative timeout: connects in the background, which the connect callback reports. 0: waits as the descriptor does. Positive:
/// waits so long, and gives kCFSocketTimeout after that. A timeout other than 0 makes the descriptor non-blocking for good.
CF_EXPORT CFSocketError CFSocketConnectToAddress(CFSocketRef s, CFDataRef address, CFTimeInterval timeout);
/// Sends all of the data, to an address unless that is NULL. Positive timeout: for so long, then kCFSocketTimeout, and a part may
/// have been sent. Otherwise it waits as the descriptor does: if that is non-blocking and can't take all, kCFSocketError.
CF_EXPORT CFSocketError CFSocketSendData(CFSocketRef s, CFDataRef address, CFDataRef data, CFTimeInterval timeout);

/// Ends all callbacks, invalidates the source, and closes the descriptor if kCFSocketCloseOnInvalidate is set: after a callback
/// that another thread is running. May be called again, and in the callback.
CF_EXPORT void CFSocketInvalidate(CFSocketRef s);
CF_EXPORT Boolean CFSocketIsValid(CFSocketRef s);

/// NULL if there is none, and if s is invalid.
CF_EXPORT CFDataRef CFSocketCopyAddress(CFSocketRef s);
CF_EXPORT CFDataRef CFSocketCopyPeerAddress(CFSocketRef s);
CF_EXPORT void CFSocketGetContext(CFSocketRef s, CFSocketContext *context);
/// -1 if invalid.
CF_EXPORT CFSocketNativeHandle CFSocketGetNative(CFSocketRef s);

/// The one source of a valid socket, retained; a new one if that was invalidated. NULL if s is invalid.
CF_EXPORT CFRunLoopSourceRef CFSocketCreateRunLoopSource(CFAllocatorRef allocator, CFSocketRef s, CFIndex order);

CF_EXPORT CFOptionFlags CFSocketGetSocketFlags(CFSocketRef s);
/// Setting a flag for a callback does not enable it.
CF_EXPORT void CFSocketSetSocketFlags(CFSocketRef s, CFOptionFlags flags);
/// A callback that is disabled is not made until it is enabled, whatever the flags are. Enabling one that the socket was not
/// created with has no effect, nor has it for a connect callback that was made already.
CF_EXPORT void CFSocketDisableCallBacks(CFSocketRef s, CFOptionFlags callBackTypes);
CF_EXPORT void CFSocketEnableCallBacks(CFSocketRef s, CFOptionFlags callBackTypes);

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFSOCKET_H
