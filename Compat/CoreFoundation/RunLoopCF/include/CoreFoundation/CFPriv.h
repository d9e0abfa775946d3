//===----------------------------------------------------------------------===//
// CFPriv.h — run loop calls that CoreFoundation exports but does not declare in CFRunLoop.h.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CF_CFPRIV_H
#define RUNLOOP_CF_CFPRIV_H

#include <CoreFoundation/CFRunLoop.h>

CF_EXTERN_C_BEGIN

/// Ends the active run of `modeName`, or else the next one, and wakes the loop.
CF_EXPORT void _CFRunLoopStopMode(CFRunLoopRef rl, CFStringRef modeName);
/// Would a run of the mode return kCFRunLoopRunFinished at once?
CF_EXPORT Boolean _CFRunLoopFinished(CFRunLoopRef rl, CFStringRef mode);
CF_EXPORT Boolean _CFRunLoopIsCurrent(CFRunLoopRef rl);
/// CFRunLoopRunInMode for the calling thread's loop; for any other loop the result is kCFRunLoopRunFinished.
CF_EXPORT SInt32 CFRunLoopRunSpecific(CFRunLoopRef rl, CFStringRef modeName, CFTimeInterval seconds,
                                      Boolean returnAfterSourceHandled);
CF_EXPORT Boolean CFRunLoopSourceIsSignalled(CFRunLoopSourceRef source);

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFPRIV_H
