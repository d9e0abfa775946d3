//===----------------------------------------------------------------------===//
// CFStream.h — streams: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFSTREAM_H
#define RUNLOOP_CF_CFSTREAM_H

#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>

#pragma GCC system_header

#define CF_NO_STREAM "runloop-cf has no streams: use CFSocket"

CF_EXTERN_C_BEGIN

CF_MISSING(CFReadStreamClose, CF_NO_STREAM)
CF_MISSING(CFReadStreamCopyDispatchQueue, CF_NO_STREAM)
CF_MISSING(CFReadStreamCopyError, CF_NO_STREAM)
CF_MISSING(CFReadStreamCopyProperty, CF_NO_STREAM)
CF_MISSING(CFReadStreamCreate, CF_NO_STREAM)
CF_MISSING(CFReadStreamCreateWithBytesNoCopy, CF_NO_STREAM)
CF_MISSING(CFReadStreamCreateWithData, CF_NO_STREAM)
CF_MISSING(CFReadStreamCreateWithFile, CF_NO_STREAM)
CF_MISSING(CFReadStreamGetBuffer, CF_NO_STREAM)
CF_MISSING(CFReadStreamGetError, CF_NO_STREAM)
CF_MISSING(CFReadStreamGetInfoPointer, CF_NO_STREAM)
CF_MISSING(CFReadStreamGetStatus, CF_NO_STREAM)
CF_MISSING(CFReadStreamGetTypeID, CF_NO_STREAM)
CF_MISSING(CFReadStreamHasBytesAvailable, CF_NO_STREAM)
CF_MISSING(CFReadStreamOpen, CF_NO_STREAM)
CF_MISSING(CFReadStreamRead, CF_NO_STREAM)
CF_MISSING(CFReadStreamScheduleWithRunLoop, CF_NO_STREAM)
CF_MISSING(CFReadStreamSetClient, CF_NO_STREAM)
CF_MISSING(CFReadStreamSetDispatchQueue, CF_NO_STREAM)
CF_MISSING(CFReadStreamSetProperty, CF_NO_STREAM)
CF_MISSING(CFReadStreamSignalEvent, CF_NO_STREAM)
CF_MISSING(CFReadStreamUnscheduleFromRunLoop, CF_NO_STREAM)
CF_MISSING(CFStreamCreateBoundPair, CF_NO_STREAM)
CF_MISSING(CFStreamCreatePairWithPeerSocketSignature, CF_NO_STREAM)
CF_MISSING(CFStreamCreatePairWithSocket, CF_NO_STREAM)
CF_MISSING(CFStreamCreatePairWithSocketToHost, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCanAcceptBytes, CF_NO_STREAM)
CF_MISSING(CFWriteStreamClose, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCopyDispatchQueue, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCopyError, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCopyProperty, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCreate, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCreateWithAllocatedBuffers, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCreateWithBuffer, CF_NO_STREAM)
CF_MISSING(CFWriteStreamCreateWithFile, CF_NO_STREAM)
CF_MISSING(CFWriteStreamGetError, CF_NO_STREAM)
CF_MISSING(CFWriteStreamGetInfoPointer, CF_NO_STREAM)
CF_MISSING(CFWriteStreamGetStatus, CF_NO_STREAM)
CF_MISSING(CFWriteStreamGetTypeID, CF_NO_STREAM)
CF_MISSING(CFWriteStreamOpen, CF_NO_STREAM)
CF_MISSING(CFWriteStreamScheduleWithRunLoop, CF_NO_STREAM)
CF_MISSING(CFWriteStreamSetClient, CF_NO_STREAM)
CF_MISSING(CFWriteStreamSetDispatchQueue, CF_NO_STREAM)
CF_MISSING(CFWriteStreamSetProperty, CF_NO_STREAM)
CF_MISSING(CFWriteStreamSignalEvent, CF_NO_STREAM)
CF_MISSING(CFWriteStreamUnscheduleFromRunLoop, CF_NO_STREAM)
CF_MISSING(CFWriteStreamWrite, CF_NO_STREAM)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFSTREAM_H
