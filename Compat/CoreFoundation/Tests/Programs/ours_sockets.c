// Where our sockets differ from the real ones on purpose: bad descriptors, disabled callbacks, errors, one pass. Only for ours.
#include <CoreFoundation/CoreFoundation.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 200 };
#define kMode CFSTR("sockets")

static CFRunLoopRef loop;
static int pair[2], calls, kinds, held, depth;
static int64_t bytes;
static CFRunLoopTimerRef timer;

static const void *retain(const void *info) {
    held++;
    return info;
}

static void release(const void *info) {
    (void)info;
    held--;
}

static void count(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)s, (void)address, (void)info;
    calls++;
    kinds |= type == kCFSocketDataCallBack ? 16 : (int)type;
    if (type == kCFSocketDataCallBack)
        bytes = CFDataGetLength(data);
    if (type == kCFSocketAcceptCallBack)
        close(*(const CFSocketNativeHandle *)data);
}

static void run(CFTimeInterval limit) {
    calls = kinds = 0;
    CFRunLoopRunInMode(kMode, limit, false);
}

static CFSocketRef make(int native, CFOptionFlags types, CFSocketCallBack callback, void *info) {
    CFSocketContext context = {0, info, retain, release, NULL};
    CFSocketRef s = CFSocketCreateWithNative(NULL, native, types, callback, &context);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(loop, source, kMode);
    CFRelease(source);
    return s;
}

static void end(CFSocketRef s) {
    CFSocketInvalidate(s);
    CFRelease(s);
}

static CFSocketRef make_pair(int type, CFOptionFlags types) {
    return socketpair(AF_UNIX, type, 0, pair) ? NULL : make(pair[0], types, count, NULL);
}

static void put(int descriptor, size_t length) {
    static char text[100000];
    if (write(descriptor, text, length) != (ssize_t)length)
        printf("short write\n");
}

static CFDataRef new_listener(int *listener) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    *listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(*listener, (struct sockaddr *)&address, size) || listen(*listener, 8) ||
        getsockname(*listener, (struct sockaddr *)&address, &size))
        printf("no listener\n");
    return CFDataCreate(NULL, (const UInt8 *)&address, sizeof address);
}

static void bad_arguments(void) {
    printf("bad descriptors: %d %d\n", CFSocketCreateWithNative(NULL, -1, 1, count, NULL) != NULL,
           CFSocketCreateWithNative(NULL, 900, 1, count, NULL) != NULL);
    printf("NULL: valid %d, native %d, %d %d %d\n", CFSocketIsValid(NULL), CFSocketGetNative(NULL),
           (int)CFSocketSetAddress(NULL, NULL), (int)CFSocketConnectToAddress(NULL, NULL, 1),
           (int)CFSocketSendData(NULL, NULL, NULL, 1));
    CFSocketInvalidate(NULL);
    CFSocketEnableCallBacks(NULL, 1);
    CFSocketSetSocketFlags(NULL, 1);
    printf("NULL: %d %d\n", CFSocketCreateRunLoopSource(NULL, NULL, 0) != NULL,
           CFSocketCreateWithSocketSignature(NULL, NULL, 0, NULL, NULL) != NULL);
    CFSocketRef s = make_pair(SOCK_STREAM, kCFSocketReadCallBack);
    CFDataRef nothing = CFDataCreate(NULL, NULL, 0);
    printf("no address: %d %d\n", (int)CFSocketConnectToAddress(s, NULL, 1), (int)CFSocketSetAddress(s, nothing));
    CFRelease(nothing);
    end(s);
    close(pair[1]);
}

static void disabled(void) {
    CFSocketRef s = make_pair(SOCK_STREAM, kCFSocketConnectCallBack | kCFSocketWriteCallBack);
    CFSocketDisableCallBacks(s, kCFSocketConnectCallBack);
    run(0);
    printf("connect disabled: %d\n", kinds);
    CFSocketEnableCallBacks(s, kCFSocketConnectCallBack);
    run(0);
    printf("connect enabled: %d\n", kinds);
    end(s);
    close(pair[1]);
}

static void regular_file(void) {
    CFSocketRef s = make(open("/proc/self/exe", O_RDONLY), kCFSocketReadCallBack, count, NULL);
    run(0.02);
    printf("regular file, again and again: %d\n", calls > 2);
    CFSocketDisableCallBacks(s, kCFSocketReadCallBack);
    run(0);
    run(0.01);
    printf("disabled: %d\n", calls);
    end(s);
}

static void errors(void) {
    int listener, error = 0;
    socklen_t size = sizeof error;
    CFDataRef address = new_listener(&listener);
    close(listener);
    CFSocketRef s = make(socket(AF_INET, SOCK_STREAM, 0), kCFSocketConnectCallBack, count, NULL);
    printf("waits for a refusal: %d\n", (int)CFSocketConnectToAddress(s, address, 1));
    run(0);
    printf("not told again: %d\n", kinds);
    end(s);
    s = make(socket(AF_INET, SOCK_STREAM, 0), kCFSocketConnectCallBack | kCFSocketWriteCallBack, count, NULL);
    CFSocketSetSocketFlags(s, kCFSocketCloseOnInvalidate | kCFSocketLeaveErrors);
    CFSocketConnectToAddress(s, address, -1);
    run(0.1);
    getsockopt(CFSocketGetNative(s), SOL_SOCKET, SO_ERROR, &error, &size);
    printf("told %d, and the error left: %d\n", kinds, error == ECONNREFUSED);
    end(s);
    CFRelease(address);
}

static void sending(void) {
    CFSocketRef s = make_pair(SOCK_STREAM, kCFSocketReadCallBack);
    CFMutableDataRef data = CFDataCreateMutable(NULL, 0);
    CFDataSetLength(data, 4000000);
    printf("too much: %d", (int)CFSocketSendData(s, NULL, data, 0.02));
    printf(", nothing more: %d", (int)CFSocketSendData(s, NULL, data, 0.02));
    close(pair[1]);
    printf(", nobody there: %d\n", (int)CFSocketSendData(s, NULL, data, 0));
    CFRelease(data);
    end(s);
    s = make_pair(SOCK_DGRAM, kCFSocketDataCallBack);
    put(pair[1], 100000);
    run(0);
    printf("datagram: %d bytes", (int)bytes);
    if (send(pair[1], "", 0, 0) == 0)
        run(0);
    printf(", empty: %d, valid %d\n", (int)bytes, CFSocketIsValid(s));
    end(s);
    close(pair[1]);
}

/// A Unix socket, bound to an address that the kernel chooses.
static CFDataRef new_unix(int type, int *bound) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = sizeof address;
    *bound = socket(AF_UNIX, type, 0);
    if (bind(*bound, (struct sockaddr *)&address, sizeof address.sun_family) ||
        getsockname(*bound, (struct sockaddr *)&address, &size))
        printf("not bound\n");
    return CFDataCreate(NULL, (const UInt8 *)&address, size);
}

static void *receive_one(void *receiver) {
    char byte;
    usleep(20000);
    return recv(*(int *)receiver, &byte, 1, 0) == 1 ? receiver : NULL;
}

static void *accept_one(void *listener) {
    usleep(20000);
    close(accept(*(int *)listener, NULL, NULL));
    return listener;
}

static CFSocketError send_one(CFSocketRef s, CFDataRef address, CFTimeInterval timeout) {
    CFDataRef data = CFDataCreate(NULL, (const UInt8 *)"a", 1);
    CFSocketError error = CFSocketSendData(s, address, data, timeout);
    CFRelease(data);
    return error;
}

/// A Unix socket can be written to, in the kernel's view, while the queue of the other side is full.
static void full_queues(int type, const char *what, void *(*make_space)(void *),
                        CFSocketError (*attempt)(CFSocketRef, CFDataRef, CFTimeInterval)) {
    int bound, error = 0;
    CFDataRef address = new_unix(type, &bound);
    pthread_t thread;
    listen(bound, 0);
    // A sender has a limit of its own, so each has one message.
    while (error != EAGAIN) {
        int native = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
        const struct sockaddr *name = (const void *)CFDataGetBytePtr(address);
        socklen_t size = (socklen_t)CFDataGetLength(address);
        error = connect(native, name, size) < 0 || send(native, "a", 1, 0) < 0 ? errno : 0;
        close(native);
    }
    CFSocketRef s = CFSocketCreate(NULL, AF_UNIX, type, 0, 0, count, NULL);
    printf("%s: %d", what, (int)attempt(s, address, 0.05));
    pthread_create(&thread, NULL, make_space, &bound);
    printf(", then there is space: %d\n", (int)attempt(s, address, 30));
    pthread_join(thread, NULL);
    end(s);
    close(bound);
    CFRelease(address);
}

static void accepting(void) {
    int listener, clients[2];
    CFDataRef address = new_listener(&listener);
    CFSocketRef s = make(listener, kCFSocketAcceptCallBack, count, NULL);
    for (int i = 0; i < 2; i++) {
        clients[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(clients[i], (const void *)CFDataGetBytePtr(address), sizeof(struct sockaddr_in)))
            printf("not connected\n");
    }
    struct rlimit before, none = {3, 0};
    run(0);
    printf("accepted: %d", calls);
    getrlimit(RLIMIT_NOFILE, &before);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    run(0);
    printf(", without descriptors: %d", calls);
    setrlimit(RLIMIT_NOFILE, &before);
    run(0);
    printf(", with: %d\n", calls);
    close(clients[0]);
    close(clients[1]);
    end(s);
    CFRelease(address);
    s = CFSocketCreate(NULL, 0, 0, 0, kCFSocketAcceptCallBack, count, NULL);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(loop, source, kMode);
    run(0.01);
    printf("not listening: %d\n", calls);
    CFRelease(source);
    end(s);
}

static void fire(CFRunLoopTimerRef t, void *info) {
    (void)t;
    *(int *)info = calls;
}

/// The first one adds a timer that is due at once. The third one runs the loop, which serves those that are left.
static void read_one(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)type, (void)address, (void)data, (void)info;
    char byte;
    if (read(CFSocketGetNative(s), &byte, 1) != 1)
        printf("nothing to read\n");
    if (++calls == 1)
        CFRunLoopAddTimer(loop, timer, kMode);
    if (calls == 3) {
        depth++;
        CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent() + 60);
        CFRunLoopRunInMode(kMode, 0, false);
        printf("the nested run served all: %d\n", calls == MANY);
        CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent());
        depth--;
    }
}

static void one_pass(void) {
    static CFSocketRef sockets[MANY];
    static int peers[MANY];
    int fired_after = -1;
    CFRunLoopTimerContext context = {.info = &fired_after};
    timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent(), 0, 0, 0, fire, &context);
    for (int i = 0; i < MANY; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
            printf("no pair\n");
        sockets[i] = make(pair[0], kCFSocketReadCallBack, read_one, NULL);
        peers[i] = pair[1];
        put(peers[i], 1);
    }
    run(0.1);
    printf("%d in one pass, the timer after %d\n", calls, fired_after);
    put(peers[7], 1);
    calls = 10; // no timer, no nested run
    int result = (int)CFRunLoopRunInMode(kMode, 10, true);
    printf("result %d with the call made: %d\n", result, calls - 10);
    for (int i = 0; i < MANY; i++) {
        end(sockets[i]);
        close(peers[i]);
    }
    CFRunLoopTimerInvalidate(timer);
    CFRelease(timer);
}

static void count_sleep(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info) {
    (void)observer, (void)activity;
    ++*(int *)info;
}

/// A descriptor that is closed too early, while a duplicate is open, is reported by the kernel for ever.
static void stale(void) {
    CFSocketRef s = make_pair(SOCK_STREAM, kCFSocketReadCallBack);
    int peer = pair[1], duplicate = dup(pair[0]);
    CFSocketRef other = make_pair(SOCK_STREAM, kCFSocketReadCallBack);
    put(peer, 1);
    close(CFSocketGetNative(s));
    CFSocketSetSocketFlags(s, 0);
    end(s);
    int sleeps = 0;
    CFRunLoopObserverContext context = {.info = &sleeps};
    CFRunLoopObserverRef observer =
        CFRunLoopObserverCreate(NULL, kCFRunLoopBeforeWaiting, true, 0, count_sleep, &context);
    CFRunLoopAddObserver(loop, observer, kMode);
    run(0.05);
    CFRunLoopObserverInvalidate(observer);
    CFRelease(observer);
    printf("stale: %d calls, it lets the loop sleep: %d", calls, sleeps < 5);
    put(pair[1], 1);
    run(0);
    printf(", the other one: %d\n", calls);
    end(other);
    close(peer);
    close(pair[1]);
    close(duplicate);
}

static void forked(void) {
    CFSocketRef s = make_pair(SOCK_STREAM, kCFSocketReadCallBack);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        loop = CFRunLoopGetCurrent();
        int peer = pair[1];
        CFSocketRef mine = make_pair(SOCK_STREAM, kCFSocketReadCallBack);
        put(pair[1], 1);
        run(0);
        bool works = calls > 0;
        end(mine);
        CFSocketInvalidate(s); // must not end the parent's interest
        close(peer);
        _exit(works ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    put(pair[1], 1);
    run(0);
    printf("child %d, parent called %d\n", status, calls > 0);
    end(s);
    close(pair[1]);
}

int main(void) {
    loop = CFRunLoopGetCurrent();
    bad_arguments();
    disabled();
    regular_file();
    errors();
    sending();
    full_queues(SOCK_DGRAM, "a full receiver", receive_one, send_one);
    full_queues(SOCK_STREAM, "a full listener", accept_one, CFSocketConnectToAddress);
    accepting();
    one_pass();
    stale();
    forked();
    printf("contexts left %d\n", held);
    return 0;
}
