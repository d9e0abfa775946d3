// A sender that fills the socket's buffer waits for the write callback, and a receiver takes everything in data callbacks.
#include <CoreFoundation/CoreFoundation.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TOTAL = 3000000 };

static size_t sent, received;
static int fills, empty, writes_in_vain, other_writes;

static void add(CFSocketRef s) {
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFRelease(source);
}

static void send_more(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)address, (void)data, (void)info;
    static char bytes[50000];
    other_writes += type != kCFSocketWriteCallBack;
    size_t before = sent;
    while (sent < TOTAL) {
        size_t rest = TOTAL - sent < sizeof bytes ? TOTAL - sent : sizeof bytes;
        ssize_t count = write(CFSocketGetNative(s), bytes, rest);
        if (count < 0 && errno == EAGAIN) {
            fills++;
            writes_in_vain += sent == before;
            CFSocketEnableCallBacks(s, kCFSocketWriteCallBack);
            return;
        }
        sent += (size_t)count;
    }
    CFSocketInvalidate(s);
}

static void receive(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)s, (void)type, (void)address, (void)info;
    received += (size_t)CFDataGetLength(data);
    empty += CFDataGetLength(data) == 0;
    if (CFDataGetLength(data) == 0)
        CFRunLoopStop(CFRunLoopGetCurrent());
}

int main(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    CFSocketRef sender = CFSocketCreateWithNative(NULL, pair[0], kCFSocketWriteCallBack, send_more, NULL);
    CFSocketRef receiver = CFSocketCreateWithNative(NULL, pair[1], kCFSocketDataCallBack, receive, NULL);
    add(sender);
    add(receiver);
    CFRunLoopRun();
    printf("sent %zu, received %zu, the buffer was full: %d, for nothing: %d, other callbacks: %d\n", sent, received,
           fills > 0, writes_in_vain, other_writes);
    printf("ends: %d, valid %d %d\n", empty, CFSocketIsValid(sender), CFSocketIsValid(receiver));
    CFRelease(sender);
    CFRelease(receiver);
    return 0;
}
