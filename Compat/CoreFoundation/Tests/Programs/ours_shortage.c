// Sockets and descriptors that are added or enabled while descriptors or the kernel's memory are short. Only for ours.
#include <CoreFoundation/CoreFoundation.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define kMode CFSTR("shortage")
#define kOther CFSTR("other")

static CFRunLoopRef loop;
static int pair[2], calls, refusal, refused;

/// In the place of the C library's. The loop itself goes on: only the descriptors of the test are refused.
int epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    if (refusal && operation != EPOLL_CTL_DEL && descriptor == pair[0]) {
        refused++;
        errno = refusal;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, operation, descriptor, event);
}

static void receive(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)s, (void)type, (void)address, (void)data, (void)info;
    calls++;
    CFRunLoopStop(loop);
}

static void take(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    (void)types, (void)info;
    char bytes[8];
    calls++;
    if (read(CFFileDescriptorGetNativeDescriptor(f), bytes, sizeof bytes) < 0)
        perror("read");
    CFRunLoopStop(loop);
}

static void make_pair(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
        perror("socketpair");
    calls = refused = 0;
    if (write(pair[1], "hello", 5) != 5)
        perror("write");
}

/// How often it was called within a run that is ended by the first call, and within a short one after that.
static void show(const char *what, CFRunLoopSourceRef source, CFRunLoopMode mode) {
    CFRunLoopRunInMode(mode, 30, false);
    int first = calls;
    CFRunLoopRunInMode(mode, 0.25, false);
    printf("%s: contained %d, called %d, then %d\n", what, CFRunLoopContainsSource(loop, source, mode), first,
           calls - first);
}

static void use_up(struct rlimit *before) {
    getrlimit(RLIMIT_NOFILE, before);
    struct rlimit none = *before;
    int top = dup(0);
    close(top);
    none.rlim_cur = (rlim_t)top;
    setrlimit(RLIMIT_NOFILE, &none);
}

static void write_again(void) {
    calls = 0;
    if (write(pair[1], "again", 5) != 5)
        perror("write");
}

//===-- the two kinds ------------------------------------------------------------------------------------------------===//

static CFTypeRef make_socket(CFRunLoopSourceRef *source) {
    CFSocketRef s = CFSocketCreateWithNative(NULL, pair[0], kCFSocketDataCallBack, receive, NULL);
    *source = CFSocketCreateRunLoopSource(NULL, s, 0);
    return s;
}

static void enable_socket(CFTypeRef s, bool enables) {
    (enables ? CFSocketEnableCallBacks : CFSocketDisableCallBacks)((CFSocketRef)s, kCFSocketDataCallBack);
}

static void invalidate_socket(CFTypeRef s) {
    CFSocketInvalidate((CFSocketRef)s);
}

static void enable_descriptor(CFTypeRef f, bool enables) {
    (enables ? CFFileDescriptorEnableCallBacks : CFFileDescriptorDisableCallBacks)((CFFileDescriptorRef)f,
                                                                                   kCFFileDescriptorReadCallBack);
}

static CFTypeRef make_descriptor(CFRunLoopSourceRef *source) {
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, pair[0], true, take, NULL);
    *source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    enable_descriptor(f, true);
    return f;
}

static void invalidate_descriptor(CFTypeRef f) {
    CFFileDescriptorInvalidate((CFFileDescriptorRef)f);
}

static const struct kind {
    const char *name;
    CFTypeRef (*make)(CFRunLoopSourceRef *source); ///< enabled
    void (*enable)(CFTypeRef object, bool enables);
    void (*invalidate)(CFTypeRef object);
} kinds[] = {{"a socket", make_socket, enable_socket, invalidate_socket},
             {"a descriptor", make_descriptor, enable_descriptor, invalidate_descriptor}};

static void end(const struct kind *kind, CFTypeRef object, CFRunLoopSourceRef source) {
    CFRelease(source);
    kind->invalidate(object);
    CFRelease(object);
    close(pair[1]);
}

//===-- shortages ----------------------------------------------------------------------------------------------------===//

/// None is needed.
static void add_without_descriptors(const struct kind *kind) {
    CFRunLoopSourceRef source;
    struct rlimit before;
    make_pair();
    CFTypeRef object = kind->make(&source);
    use_up(&before);
    CFRunLoopAddSource(loop, source, kMode);
    printf("without descriptors, ");
    show(kind->name, source, kMode);
    setrlimit(RLIMIT_NOFILE, &before);
    end(kind, object, source);
}

static void remove_before_it_is_watched(const struct kind *kind, int error) {
    CFRunLoopSourceRef source;
    make_pair();
    CFTypeRef object = kind->make(&source);
    refusal = error;
    CFRunLoopAddSource(loop, source, kMode);
    CFRunLoopAddSource(loop, source, kOther);
    refusal = 0;
    CFRunLoopRemoveSource(loop, source, kMode);
    CFRunLoopRunInMode(kMode, 0.25, false);
    printf("%s, removed before it is watched: called %d\n", kind->name, calls);
    show("in the other mode", source, kOther);
    end(kind, object, source);
}

static void use_without_memory(const struct kind *kind, int error) {
    CFRunLoopSourceRef source;
    make_pair();
    CFTypeRef object = kind->make(&source);
    refusal = error;
    CFRunLoopAddSource(loop, source, kMode);
    CFRunLoopRunInMode(kMode, 0.25, false);
    printf("%s: refused %d, called %d\n", strerror(error), refused > 1, calls);
    refusal = 0;
    show(kind->name, source, kMode);
    kind->enable(object, false);
    refusal = error;
    kind->enable(object, true);
    refusal = 0;
    write_again();
    show("enabled without memory", source, kMode);
    end(kind, object, source);
}

int main(void) {
    loop = CFRunLoopGetCurrent();
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const struct kind *kind = kinds; kind < kinds + 2; kind++) {
        add_without_descriptors(kind);
        remove_before_it_is_watched(kind, ENOMEM);
        use_without_memory(kind, ENOMEM);
        use_without_memory(kind, ENOSPC);
    }
    return 0;
}
