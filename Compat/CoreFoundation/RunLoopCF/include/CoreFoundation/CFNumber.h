//===----------------------------------------------------------------------===//
// CFNumber.h — truth values as objects. There are no numbers: their functions are declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CF_CFNUMBER_H
#define RUNLOOP_CF_CFNUMBER_H

#include <CoreFoundation/CFBase.h>

CF_EXTERN_C_BEGIN

typedef const struct __CFBoolean *CFBooleanRef;

/// The only two. Their references are not counted.
CF_EXPORT const CFBooleanRef kCFBooleanTrue;
CF_EXPORT const CFBooleanRef kCFBooleanFalse;

CF_EXPORT CFTypeID CFBooleanGetTypeID(void);
CF_EXPORT Boolean CFBooleanGetValue(CFBooleanRef boolean);

CF_EXTERN_C_END

#include <CoreFoundation/CFMissing.h>

#endif // RUNLOOP_CF_CFNUMBER_H
