//===----------------------------------------------------------------------===//
// CFMachPort.h — Mach ports: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFMACHPORT_H
#define RUNLOOP_CF_CFMACHPORT_H

#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>

#pragma GCC system_header

#define CF_NO_MACH_PORT "Linux has no Mach ports: use a version-1 source with an eventfd, or CFFileDescriptor"

CF_EXTERN_C_BEGIN

CF_MISSING(CFMachPortCreate, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortCreateRunLoopSource, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortCreateWithPort, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortGetContext, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortGetInvalidationCallBack, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortGetPort, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortGetTypeID, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortInvalidate, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortIsValid, CF_NO_MACH_PORT)
CF_MISSING(CFMachPortSetInvalidationCallBack, CF_NO_MACH_PORT)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFMACHPORT_H
