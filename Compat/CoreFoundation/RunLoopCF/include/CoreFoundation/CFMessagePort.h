//===----------------------------------------------------------------------===//
// CFMessagePort.h — message ports: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>
