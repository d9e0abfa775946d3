// A callback that ends its thread is finished all the same: contexts are released, descriptors closed, blocks disposed of. Only for ours.
#undef __BLOCKS__ // The block is passed as a plain pointer.
#include <CoreFoundation/CoreFoundation.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

void CFRunLoopPerformBlock(CFRunLoopRef loop, CFTypeRef mode, void *block);

static int held, descriptor;

static const void *retain(const void *info) {
    held++;
    return info;
}

static void release(const void *info) {
    (void)info;
    held--;
}

static void *retain_info(void *info) {
    held++;
    return info;
}

static void release_info(void *info) {
    release(info);
}

static void end_timer(CFRunLoopTimerRef timer, void *info) {
    (void)info;
    CFRunLoopTimerInvalidate(timer);
    pthread_exit(NULL);
}

static void add_timer(void) {
    CFRunLoopTimerContext context = {0, &held, retain, release, NULL};
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, 0, 1000, 0, 0, end_timer, &context);
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode);
    CFRelease(timer);
}

static void end_descriptor(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    (void)types, (void)info;
    CFFileDescriptorInvalidate(f);
    pthread_exit(NULL);
}

static void add_descriptor(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) || write(ends[1], "x", 1) != 1)
        return;
    close(ends[1]);
    descriptor = ends[0];
    CFFileDescriptorContext context = {0, &held, retain_info, release_info, NULL};
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, descriptor, true, end_descriptor, &context);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    CFRelease(source);
    CFRelease(f);
}

static void end_socket(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)type, (void)address, (void)data, (void)info;
    CFSocketInvalidate(s);
    pthread_exit(NULL);
}

static void add_socket(CFOptionFlags types) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) || write(ends[1], "x", 1) != 1)
        return;
    descriptor = ends[0];
    CFSocketContext context = {0, &held, retain, release, NULL};
    CFSocketRef s = CFSocketCreateWithNative(NULL, descriptor, types, end_socket, &context);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFRelease(source);
    CFRelease(s);
    close(ends[1]);
}

static void add_reader(void) {
    add_socket(kCFSocketReadCallBack);
}

static void add_data_reader(void) {
    add_socket(kCFSocketDataCallBack);
}

static void add_writer(void) {
    add_socket(kCFSocketWriteCallBack);
}

struct layout {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *block);
};

struct block {
    void *isa;
    int flags, reserved;
    void (*invoke)(void *block);
    const struct layout *layout;
};

static void copy(void *to, const void *from) {
    (void)to, (void)from;
    held++;
}

static void end_block(void *block) {
    (void)block;
    pthread_exit(NULL);
}

static void add_block(void) {
    static void *some_class[32];
    static const struct layout layout = {0, sizeof(struct block), copy, release};
    struct block block = {some_class, 1 << 25, 0, end_block, &layout};
    CFRunLoopPerformBlock(CFRunLoopGetCurrent(), kCFRunLoopDefaultMode, &block);
}

static CFStringRef notification;

static void end_post(CFNotificationCenterRef center, void *observer, CFStringRef name, const void *object,
                     CFDictionaryRef info) {
    (void)name, (void)object, (void)info;
    CFNotificationCenterRemoveEveryObserver(center, observer);
    pthread_exit(NULL);
}

static void post(void) {
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false);
    CFNotificationCenterRef center = CFNotificationCenterGetLocalCenter();
    notification = CFStringCreateWithFormat(NULL, NULL, CFSTR("notification %d"), 1);
    CFNotificationCenterAddObserver(center, &held, end_post, notification, NULL,
                                    CFNotificationSuspensionBehaviorDeliverImmediately);
    CFNotificationCenterPostNotification(center, notification, NULL, NULL, true);
}

static void *run(void *add) {
    CFRunLoopSourceContext context = {.version = 0};
    CFRunLoopSourceRef keep = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), keep, kCFRunLoopDefaultMode);
    CFRelease(keep);
    ((void (*)(void))(uintptr_t)add)();
    CFRunLoopRun();
    return NULL;
}

static void show(const char *what, void (*add)(void)) {
    pthread_t thread;
    descriptor = -1;
    pthread_create(&thread, NULL, run, (void *)(uintptr_t)add);
    pthread_join(thread, NULL);
    const char *state = descriptor < 0 ? "none" : fcntl(descriptor, F_GETFD) < 0 && errno == EBADF ? "closed" : "open";
    printf("%s: %d held, descriptor %s\n", what, held, state);
    held = 0;
}

int main(void) {
    show("timer", add_timer);
    show("descriptor", add_descriptor);
    show("reader", add_reader);
    show("reader of data", add_data_reader);
    show("writer", add_writer);
    show("block", add_block);
    show("post", post);
    printf("the name of its notification: %ld references\n", (long)CFGetRetainCount(notification));
    return 0;
}
