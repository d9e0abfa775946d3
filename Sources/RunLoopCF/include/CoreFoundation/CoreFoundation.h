//===----------------------------------------------------------------------===//
// CoreFoundation.h — everything of CoreFoundation that is here.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_COREFOUNDATION_H
#define RUNLOOP_CF_COREFOUNDATION_H

#define __COREFOUNDATION__ 1

#if !defined(CF_EXCLUDE_CSTD_HEADERS)
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#endif

#include <CoreFoundation/CFArray.h>
#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFFileDescriptor.h>
#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFSet.h>
#include <CoreFoundation/CFString.h>

#endif // RUNLOOP_CF_COREFOUNDATION_H
