// center.c — the local notification center: a list of observers in the order in which they were added.
//
// User code is called without the lock, and may change the list. So an observer that is removed while anybody posts stays in the list, marked,
// until the last of them has finished. A post looks at no observer that was added after it began.

#include "base/base.h"

#include <pthread.h>

struct observer {
    struct observer *next;
    uint64_t serial;
    bool is_removed;
    const void *observer, *object;
    CFStringRef name; ///< retained; NULL: any
    CFNotificationCallback callback;
};

struct __CFNotificationCenter {
    struct cf_object object;
};

static const struct cf_class class = {.type = CF_TYPE_NOTIFICATION_CENTER};
static struct __CFNotificationCenter local = {{&class, CF_UNCOUNTED}};

static struct process_lock lock;
static struct observer *first GUARDED_BY(lock), **end GUARDED_BY(lock) = &first;
static uint64_t serial GUARDED_BY(lock);
static long posts GUARDED_BY(lock); ///< under way

CFTypeID CFNotificationCenterGetTypeID(void) {
    return CF_TYPE_NOTIFICATION_CENTER;
}

CFNotificationCenterRef CFNotificationCenterGetLocalCenter(void) {
    return &local;
}

//===-- observers ----------------------------------------------------------------------------------------------------===//

void CFNotificationCenterAddObserver(CFNotificationCenterRef center, const void *observer,
                                     CFNotificationCallback callBack, CFStringRef name, const void *object,
                                     CFNotificationSuspensionBehavior suspensionBehavior) {
    (void)suspensionBehavior;
    bool is_named = CF_IS(name, CF_TYPE_STRING);
    if (!CF_IS(center, CF_TYPE_NOTIFICATION_CENTER) || !callBack)
        return;
    struct observer *added = calloc(1, sizeof *added);
    CFStringRef copy = is_named && added ? CFStringCreateCopy(NULL, name) : NULL;
    if (!added || (is_named && !copy)) {
        free(added);
        return;
    }
    added->observer = observer;
    added->object = object;
    added->name = copy;
    added->callback = callBack;
    process_lock(&lock);
    added->serial = ++serial;
    *end = added;
    end = &added->next;
    process_unlock(&lock);
}

/// Takes those that were removed out of the list, unless somebody may be looking at them.
static struct observer *sweep(void) HOLDS(lock) {
    struct observer *removed = NULL;
    if (posts > 0)
        return NULL;
    end = &first;
    while (*end) {
        struct observer *observer = *end;
        if (!observer->is_removed) {
            end = &observer->next;
            continue;
        }
        *end = observer->next;
        observer->next = removed;
        removed = observer;
    }
    return removed;
}

static void release(struct observer *removed) {
    while (removed) {
        struct observer *next = removed->next;
        if (removed->name)
            CFRelease(removed->name);
        free(removed);
        removed = next;
    }
}

void CFNotificationCenterRemoveObserver(CFNotificationCenterRef center, const void *observer, CFNotificationName name,
                                        const void *object) {
    bool is_named = CF_IS(name, CF_TYPE_STRING);
    if (!CF_IS(center, CF_TYPE_NOTIFICATION_CENTER))
        return;
    process_lock(&lock);
    for (struct observer *each = first; each; each = each->next) {
        if (each->observer == observer && (!object || each->object == object) &&
            (!is_named || (each->name && CFEqual(each->name, name))))
            each->is_removed = true;
    }
    struct observer *removed = sweep();
    process_unlock(&lock);
    release(removed);
}

void CFNotificationCenterRemoveEveryObserver(CFNotificationCenterRef center, const void *observer) {
    CFNotificationCenterRemoveObserver(center, observer, NULL, NULL);
}

//===-- posting ------------------------------------------------------------------------------------------------------===//

static bool is_called(const struct observer *each, CFStringRef name, const void *object) HOLDS(lock) {
    return !each->is_removed && (!each->name || CFEqual(each->name, name)) && (!each->object || each->object == object);
}

/// The first one that is to be called, or the next one after `previous`.
static struct observer *find(struct observer *previous, uint64_t last, CFStringRef name, const void *object) {
    process_lock(&lock);
    struct observer *each = previous ? previous->next : first;
    while (each && each->serial <= last && !is_called(each, name, object))
        each = each->next;
    process_unlock(&lock);
    return each && each->serial <= last ? each : NULL;
}

/// Also if a callback has ended the thread.
static void end_post(void *unused) {
    (void)unused;
    process_lock(&lock);
    posts--;
    struct observer *removed = sweep();
    process_unlock(&lock);
    release(removed);
}

void CFNotificationCenterPostNotificationWithOptions(CFNotificationCenterRef center, CFNotificationName name,
                                                     const void *object, CFDictionaryRef userInfo,
                                                     CFOptionFlags options) {
    (void)options;
    if (!CF_IS(center, CF_TYPE_NOTIFICATION_CENTER) || !CF_IS(name, CF_TYPE_STRING))
        return;
    process_lock(&lock);
    posts++;
    uint64_t last = serial;
    process_unlock(&lock);
    pthread_cleanup_push(end_post, NULL);
    for (struct observer *each = find(NULL, last, name, object); each; each = find(each, last, name, object))
        each->callback(center, (void *)(uintptr_t)each->observer, name, object, userInfo);
    pthread_cleanup_pop(true);
}

void CFNotificationCenterPostNotification(CFNotificationCenterRef center, CFNotificationName name, const void *object,
                                          CFDictionaryRef userInfo, Boolean deliverImmediately) {
    CFNotificationCenterPostNotificationWithOptions(center, name, object, userInfo, deliverImmediately);
}
