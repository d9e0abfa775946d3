// The local notification center. The toolchain's CoreFoundation has only its header. Only for ours.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdatomic.h>

static CFNotificationCenterRef center;
static const int sender = 1, other = 2;
static char one[] = "one", two[] = "two", three[] = "three";

static void print(CFNotificationCenterRef of, void *observer, CFNotificationName name, const void *object,
                  CFDictionaryRef info) {
    char text[20];
    CFStringGetCString(name, text, sizeof text, kCFStringEncodingUTF8);
    printf(" %s:%s:%s%s%s", (char *)observer, text,
           object == &sender  ? "sender"
           : object == &other ? "other"
                              : "nobody",
           info ? ":info" : "", of == center ? "" : " of no center");
}

static void add(char *observer, CFNotificationCallback callback, CFStringRef name, const void *object) {
    CFNotificationCenterAddObserver(center, observer, callback, name, object,
                                    CFNotificationSuspensionBehaviorDeliverImmediately);
}

static void post(const char *what, CFStringRef name, const void *object) {
    printf("%s:", what);
    CFNotificationCenterPostNotification(center, name, object, NULL, true);
    printf("\n");
}

static void filters(void) {
    add(one, print, CFSTR("saved"), NULL);
    add(two, print, NULL, &sender);
    add(three, print, CFSTR("saved"), &other);
    add(one, print, CFSTR("saved"), NULL);
    post("saved by nobody", CFSTR("saved"), NULL);
    post("saved by the sender", CFSTR("saved"), &sender);
    CFStringRef same = CFStringCreateWithCString(NULL, "saved", kCFStringEncodingUTF8);
    post("an equal name, by another one", same, &other);
    CFRelease(same);
    post("closed by the sender", CFSTR("closed"), &sender);
    post("closed by another one", CFSTR("closed"), &other);
    printf("with information:");
    CFNotificationCenterPostNotificationWithOptions(center, CFSTR("closed"), &sender, (CFDictionaryRef)one,
                                                    kCFNotificationDeliverImmediately);
    printf("\n");
}

static void removals(void) {
    CFNotificationCenterRemoveObserver(center, one, CFSTR("closed"), NULL);
    CFNotificationCenterRemoveObserver(center, one, CFSTR("saved"), &sender);
    CFNotificationCenterRemoveObserver(center, three, NULL, &sender);
    post("nothing was removed", CFSTR("saved"), &other);
    CFNotificationCenterRemoveObserver(center, one, CFSTR("saved"), NULL);
    post("one was removed, both times", CFSTR("saved"), &other);
    CFNotificationCenterRemoveObserver(center, three, NULL, &other);
    CFNotificationCenterRemoveEveryObserver(center, two);
    post("all were removed", CFSTR("saved"), &sender);
}

static int depth;

static void change(CFNotificationCenterRef of, void *observer, CFNotificationName name, const void *object,
                   CFDictionaryRef info) {
    print(of, observer, name, object, info);
    if (depth++ > 0)
        return;
    add(three, print, name, NULL);
    CFNotificationCenterRemoveEveryObserver(center, two);
    CFNotificationCenterRemoveEveryObserver(center, observer);
    printf(" (");
    CFNotificationCenterPostNotification(center, name, &sender, NULL, false);
    printf(" )");
}

static void changes_in_a_callback(void) {
    add(one, change, CFSTR("saved"), NULL);
    add(two, print, CFSTR("saved"), NULL);
    post("one adds three, removes two and itself, and posts", CFSTR("saved"), NULL);
    post("after it", CFSTR("saved"), NULL);
    CFNotificationCenterRemoveEveryObserver(center, three);
    post("and none is left", CFSTR("saved"), NULL);
}

static _Atomic int calls;

static void count(CFNotificationCenterRef of, void *observer, CFNotificationName name, const void *object,
                  CFDictionaryRef info) {
    (void)of, (void)name, (void)object, (void)info;
    if (observer == &calls)
        calls++;
}

static void *work(void *mine) {
    for (int i = 0; i < 2000; i++) {
        add(mine, count, CFSTR("counted"), NULL);
        CFNotificationCenterPostNotification(center, CFSTR("counted"), NULL, NULL, true);
        CFNotificationCenterRemoveEveryObserver(center, mine);
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[4];
    int observers[4];
    add((char *)&calls, count, CFSTR("counted"), NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, work, &observers[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    printf("%d calls of an observer, from four threads\n", calls);
    CFNotificationCenterRemoveEveryObserver(center, &calls);
}

static void nobody(void) {
    CFNotificationCenterAddObserver(NULL, one, print, CFSTR("saved"), NULL, 0);
    CFNotificationCenterAddObserver(center, one, NULL, CFSTR("saved"), NULL, 0);
    CFNotificationCenterPostNotification(NULL, CFSTR("saved"), NULL, NULL, true);
    CFNotificationCenterPostNotification(center, NULL, NULL, NULL, true);
    CFNotificationCenterRemoveEveryObserver(NULL, one);
    add(NULL, count, NULL, NULL);
    post("NULL is ignored", CFSTR("saved"), NULL);
    CFNotificationCenterRemoveEveryObserver(center, NULL);
}

int main(void) {
    center = CFNotificationCenterGetLocalCenter();
    CFStringRef type = CFCopyTypeIDDescription(CFGetTypeID(center));
    char text[40];
    CFStringGetCString(type, text, sizeof text, kCFStringEncodingUTF8);
    CFRelease(type);
    printf("%s, the same each time: %d\n", text,
           center == CFNotificationCenterGetLocalCenter() && CFGetTypeID(center) == CFNotificationCenterGetTypeID());
    filters();
    removals();
    changes_in_a_callback();
    threads();
    nobody();
    return 0;
}
