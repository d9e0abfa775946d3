// Connections: in the background and waited for, made and refused; addresses; signatures.
#include <CoreFoundation/CoreFoundation.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *name_of(CFSocketCallBackType type) {
    return type == kCFSocketConnectCallBack ? "connect" : type == kCFSocketWriteCallBack ? "write" : "other";
}

static void called(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)s;
    printf("  %s: %s, address %d", (const char *)info, name_of(type), address != NULL);
    if (type == kCFSocketConnectCallBack && data)
        printf(", refused %d", *(const SInt32 *)data == ECONNREFUSED);
    printf("\n");
}

static void do_nothing(void *info) {
    (void)info;
}

static void run(void) {
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.1, false);
}

static CFSocketRef make(char *name, CFOptionFlags types) {
    CFSocketContext context = {.info = name};
    CFSocketRef s = CFSocketCreate(NULL, 0, 0, 0, types, called, &context);
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFRelease(source);
    return s;
}

static void end(CFSocketRef s) {
    CFDataRef peer = CFSocketCopyPeerAddress(s);
    printf("  peer %d\n", peer != NULL);
    if (peer)
        CFRelease(peer);
    CFSocketInvalidate(s);
    CFRelease(s);
}

static void connect_to(CFDataRef address, char *name, CFTimeInterval timeout) {
    CFSocketRef s = make(name, kCFSocketConnectCallBack | kCFSocketWriteCallBack);
    printf("%s, result %d\n", name, (int)CFSocketConnectToAddress(s, address, timeout));
    run();
    CFSocketEnableCallBacks(s, kCFSocketConnectCallBack);
    run();
    end(s);
}

static void not_called(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)s, (void)type, (void)address, (void)data, (void)info;
    printf("called\n");
}

int main(void) {
    CFRunLoopSourceContext keep_context = {.perform = do_nothing};
    CFRunLoopSourceRef keep = CFRunLoopSourceCreate(NULL, 0, &keep_context);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), keep, kCFRunLoopDefaultMode);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    CFDataRef any_port = CFDataCreate(NULL, (const UInt8 *)&any, sizeof any);
    CFSocketSignature signature = {PF_INET, SOCK_STREAM, IPPROTO_TCP, any_port};
    CFSocketRef server = CFSocketCreateWithSocketSignature(NULL, &signature, kCFSocketAcceptCallBack, not_called, NULL);
    CFDataRef address = CFSocketCopyAddress(server);
    printf("server %d, address of %d bytes, peer %d\n", server != NULL, (int)CFDataGetLength(address),
           CFSocketCopyPeerAddress(server) != NULL);
    connect_to(address, "in the background", -1);
    connect_to(address, "waited for", 0);
    connect_to(address, "for a second", 1);
    signature.address = address;
    CFSocketRef client = CFSocketCreateConnectedToSocketSignature(NULL, &signature, 0, not_called, NULL, 1);
    printf("by signature %d\n", client != NULL);
    end(client);
    CFSocketInvalidate(server);
    CFRelease(server);
    connect_to(address, "refused in the background", -1);
    CFSocketSignature unknown = {99, 0, 0, address};
    printf("of an unknown family %d\n", CFSocketCreateWithSocketSignature(NULL, &unknown, 0, not_called, NULL) != NULL);
    CFRelease(any_port);
    CFRelease(address);
    CFRunLoopSourceInvalidate(keep);
    CFRelease(keep);
    return 0;
}
