//===----------------------------------------------------------------------===//
// CFMachPort.h — Mach ports: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>
