//===----------------------------------------------------------------------===//
// CFNotificationCenter.h — notifications: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFNOTIFICATIONCENTER_H
#define RUNLOOP_CF_CFNOTIFICATIONCENTER_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_NOTIFICATION_CENTER "runloop-cf has no notifications"

CF_EXTERN_C_BEGIN

CF_MISSING(CFNotificationCenterAddObserver, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterGetDarwinNotifyCenter, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterGetDistributedCenter, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterGetLocalCenter, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterGetTypeID, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterPostNotification, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterPostNotificationWithOptions, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterRemoveEveryObserver, CF_NO_NOTIFICATION_CENTER)
CF_MISSING(CFNotificationCenterRemoveObserver, CF_NO_NOTIFICATION_CENTER)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFNOTIFICATIONCENTER_H
