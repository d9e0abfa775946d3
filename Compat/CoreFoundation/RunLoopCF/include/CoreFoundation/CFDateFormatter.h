//===----------------------------------------------------------------------===//
// CFDateFormatter.h — formatters of dates: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFMissing.h>
