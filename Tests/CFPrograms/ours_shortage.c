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

static void end_socket(CFSocketRef s, CFRunLoopSourceRef source) {
    CFRelease(source);
    CFSocketInvalidate(s);
    CFRelease(s);
    close(pair[1]);
}

static CFSocketRef make_socket(CFRunLoopSourceRef *source) {
    CFSocketRef s = CFSocketCreateWithNative(NULL, pair[0], kCFSocketDataCallBack, receive, NULL);
    *source = CFSocketCreateRunLoopSource(NULL, s, 0);
    return s;
}

static void add_without_descriptors(void) {
    CFRunLoopSourceRef source;
    struct rlimit before;
    make_pair();
    CFSocketRef s = make_socket(&source);
    use_up(&before);
    CFRunLoopAddSource(loop, source, kMode);
    CFRunLoopRunInMode(kMode, 0.25, false);
    printf("without descriptors: called %d\n", calls);
    setrlimit(RLIMIT_NOFILE, &before);
    show("a socket, with descriptors again", source, kMode);
    end_socket(s, source);
}

static void remove_before_it_joins(void) {
    CFRunLoopSourceRef source;
    struct rlimit before;
    make_pair();
    CFSocketRef s = make_socket(&source);
    use_up(&before);
    CFRunLoopAddSource(loop, source, kMode);
    CFRunLoopAddSource(loop, source, kOther);
    setrlimit(RLIMIT_NOFILE, &before);
    CFRunLoopRemoveSource(loop, source, kMode);
    CFRunLoopRunInMode(kMode, 0.25, false);
    printf("removed before it joins: called %d\n", calls);
    show("in the other mode", source, kOther);
    end_socket(s, source);
}

static void use_socket_without_memory(int error) {
    CFRunLoopSourceRef source;
    make_pair();
    CFSocketRef s = make_socket(&source);
    refusal = error;
    CFRunLoopAddSource(loop, source, kMode);
    CFRunLoopRunInMode(kMode, 0.25, false);
    printf("%s: refused %d, called %d\n", strerror(error), refused > 1, calls);
    refusal = 0;
    show("a socket", source, kMode);
    CFSocketDisableCallBacks(s, kCFSocketDataCallBack);
    refusal = error;
    CFSocketEnableCallBacks(s, kCFSocketDataCallBack);
    refusal = 0;
    calls = 0;
    if (write(pair[1], "again", 5) != 5)
        perror("write");
    show("enabled without memory", source, kMode);
    end_socket(s, source);
}

static void use_descriptor_without_memory(int error) {
    make_pair();
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, pair[0], true, take, NULL);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    refusal = error;
    CFRunLoopAddSource(loop, source, kMode);
    CFRunLoopRunInMode(kMode, 0.25, false);
    printf("%s: refused %d, called %d\n", strerror(error), refused > 1, calls);
    refusal = 0;
    show("a descriptor", source, kMode);
    refusal = error;
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    refusal = 0;
    calls = 0;
    if (write(pair[1], "again", 5) != 5)
        perror("write");
    show("enabled without memory", source, kMode);
    CFRelease(source);
    CFFileDescriptorInvalidate(f);
    CFRelease(f);
    close(pair[1]);
}

int main(void) {
    loop = CFRunLoopGetCurrent();
    setvbuf(stdout, NULL, _IOLBF, 0);
    add_without_descriptors();
    remove_before_it_joins();
    use_socket_without_memory(ENOMEM);
    use_socket_without_memory(ENOSPC);
    use_descriptor_without_memory(ENOMEM);
    use_descriptor_without_memory(ENOSPC);
    return 0;
}
