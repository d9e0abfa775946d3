//===----------------------------------------------------------------------===//
// CFPriv.h — calls that CoreFoundation exports for run loops without putting them into CFRunLoop.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFPRIV_H
#define RUNLOOP_CF_CFPRIV_H

#include <CoreFoundation/CFRunLoop.h>

CF_EXTERN_C_BEGIN

/// Ends a run of `modeName`, the one that is active or the next one to come, and wakes the loop.
CF_EXPORT void _CFRunLoopStopMode(CFRunLoopRef rl, CFStringRef modeName);
/// Would a run of the mode finish at once?
CF_EXPORT Boolean _CFRunLoopFinished(CFRunLoopRef rl, CFStringRef mode);
CF_EXPORT Boolean _CFRunLoopIsCurrent(CFRunLoopRef rl);
/// CFRunLoopRunInMode for a loop that must be the calling thread's; of any other, Finished.
CF_EXPORT SInt32 CFRunLoopRunSpecific(CFRunLoopRef rl, CFStringRef modeName, CFTimeInterval seconds,
                                      Boolean returnAfterSourceHandled);
CF_EXPORT Boolean CFRunLoopSourceIsSignalled(CFRunLoopSourceRef source);

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFPRIV_H
