//===----------------------------------------------------------------------===//
// CFUserNotification.h — questions to the user: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFUSERNOTIFICATION_H
#define RUNLOOP_CF_CFUSERNOTIFICATION_H

#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFRunLoop.h>

#pragma GCC system_header

#define CF_NO_USER_NOTIFICATION "runloop-cf has no user notifications"

CF_EXTERN_C_BEGIN

CF_MISSING(CFUserNotificationCancel, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationCreate, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationCreateRunLoopSource, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationDisplayAlert, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationDisplayNotice, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationGetResponseDictionary, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationGetResponseValue, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationGetTypeID, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationReceiveResponse, CF_NO_USER_NOTIFICATION)
CF_MISSING(CFUserNotificationUpdate, CF_NO_USER_NOTIFICATION)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFUSERNOTIFICATION_H
