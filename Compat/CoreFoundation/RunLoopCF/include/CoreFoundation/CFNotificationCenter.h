//===----------------------------------------------------------------------===//
// CFNotificationCenter.h — the center of the process, whose observers are called where something is posted. Those that connect processes are
// not here; see CFMissing.h.
//===----------------------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CF_CFNOTIFICATIONCENTER_H
#define RUNLOOP_CF_CFNOTIFICATIONCENTER_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFMissing.h>
#include <CoreFoundation/CFString.h>

CF_EXTERN_C_BEGIN

typedef CFStringRef CFNotificationName;
/// `userInfo` is what the poster has passed. There are no dictionaries here: it may be any pointer that both sides know.
typedef void (*CFNotificationCallback)(CFNotificationCenterRef center, void *observer, CFNotificationName name,
                                       const void *object, CFDictionaryRef userInfo);

/// For centers that connect processes. The local one delivers immediately.
typedef CF_ENUM(CFIndex, CFNotificationSuspensionBehavior) {
    CFNotificationSuspensionBehaviorDrop = 1,
    CFNotificationSuspensionBehaviorCoalesce = 2,
    CFNotificationSuspensionBehaviorHold = 3,
    CFNotificationSuspensionBehaviorDeliverImmediately = 4
};

enum { kCFNotificationDeliverImmediately = 1, kCFNotificationPostToAllSessions = 2 };

CF_EXPORT CFTypeID CFNotificationCenterGetTypeID(void);
/// The same object each time. Not to be released.
CF_EXPORT CFNotificationCenterRef CFNotificationCenterGetLocalCenter(void);

/// NULL as the name or the object: any. The object is compared by its address, and is not retained. Added twice, it is called twice. If memory
/// has run out, it is not added.
CF_EXPORT void CFNotificationCenterAddObserver(CFNotificationCenterRef center, const void *observer,
                                               CFNotificationCallback callBack, CFStringRef name, const void *object,
                                               CFNotificationSuspensionBehavior suspensionBehavior);
/// Removes what the observer was added for: with NULL as the name or the object, for any. A callback that another thread is about to make may
/// still come; one of the calling thread does not.
CF_EXPORT void CFNotificationCenterRemoveObserver(CFNotificationCenterRef center, const void *observer,
                                                  CFNotificationName name, const void *object);
CF_EXPORT void CFNotificationCenterRemoveEveryObserver(CFNotificationCenterRef center, const void *observer);

/// Calls the observers before it returns, on the calling thread, in the order in which they were added. Those that are added meanwhile are not
/// called, and neither are those that are removed.
CF_EXPORT void CFNotificationCenterPostNotification(CFNotificationCenterRef center, CFNotificationName name,
                                                    const void *object, CFDictionaryRef userInfo,
                                                    Boolean deliverImmediately);
CF_EXPORT void CFNotificationCenterPostNotificationWithOptions(CFNotificationCenterRef center, CFNotificationName name,
                                                               const void *object, CFDictionaryRef userInfo,
                                                               CFOptionFlags options);

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFNOTIFICATIONCENTER_H
