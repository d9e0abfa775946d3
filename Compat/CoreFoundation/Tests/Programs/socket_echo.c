// A server that accepts clients and sends back, in capital letters, what they send; and a client. Both with data callbacks.
#include <CoreFoundation/CoreFoundation.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static int messages;

static CFDataRef loopback(CFDataRef other) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (other)
        address.sin_port = ((const struct sockaddr_in *)(const void *)CFDataGetBytePtr(other))->sin_port;
    return CFDataCreate(NULL, (const UInt8 *)&address, sizeof address);
}

static void add(CFSocketRef s) {
    CFRunLoopSourceRef source = CFSocketCreateRunLoopSource(NULL, s, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopCommonModes);
    CFRelease(source);
}

static CFSocketError send_text(CFSocketRef s, const char *text, CFIndex length) {
    CFDataRef data = CFDataCreate(NULL, (const UInt8 *)text, length);
    CFSocketError result = CFSocketSendData(s, NULL, data, 1);
    CFRelease(data);
    return result;
}

static void echo(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)info;
    CFIndex length = CFDataGetLength(data);
    printf("server: type %d, '%.*s', address of %d bytes\n", (int)type, (int)length,
           (const char *)CFDataGetBytePtr(data), (int)CFDataGetLength(address));
    if (length == 0) {
        printf("server: the client has gone, valid %d\n", CFSocketIsValid(s));
        CFRelease(s);
        CFRunLoopStop(CFRunLoopGetCurrent());
        return;
    }
    char text[64];
    for (CFIndex i = 0; i < length; i++) {
        UInt8 byte = CFDataGetBytePtr(data)[i];
        text[i] = (char)(byte >= 'a' && byte <= 'z' ? byte - 32 : byte);
    }
    printf("server: sent, result %d\n", (int)send_text(s, text, length));
}

static void accepted(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)s, (void)info;
    printf("server: type %d, a client, address of %d bytes\n", (int)type, (int)CFDataGetLength(address));
    add(CFSocketCreateWithNative(NULL, *(const CFSocketNativeHandle *)data, kCFSocketDataCallBack, echo, NULL));
}

static void talk(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data, void *info) {
    (void)address, (void)info;
    char text[64];
    // The server learns of the connection at the same time, so this is not printed.
    if (type != kCFSocketConnectCallBack || data)
        printf("client: type %d, '%.*s'\n", (int)type, (int)CFDataGetLength(data),
               (const char *)CFDataGetBytePtr(data));
    if (messages == 3) {
        CFSocketInvalidate(s);
        return;
    }
    int length = snprintf(text, sizeof text, "message %d", ++messages);
    send_text(s, text, length);
}

int main(void) {
    CFSocketRef server =
        CFSocketCreate(NULL, PF_INET, SOCK_STREAM, IPPROTO_TCP, kCFSocketAcceptCallBack, accepted, NULL);
    CFDataRef any = loopback(NULL);
    printf("bound, result %d\n", (int)CFSocketSetAddress(server, any));
    CFDataRef bound = CFSocketCopyAddress(server), target = loopback(bound);
    add(server);
    CFSocketRef client =
        CFSocketCreate(NULL, PF_INET, SOCK_STREAM, 0, kCFSocketDataCallBack | kCFSocketConnectCallBack, talk, NULL);
    printf("connecting, result %d\n", (int)CFSocketConnectToAddress(client, target, -1));
    add(client);
    CFRunLoopRun();
    printf("client valid %d, native %d\n", CFSocketIsValid(client), CFSocketGetNative(client));
    CFSocketInvalidate(server);
    CFRelease(server);
    CFRelease(client);
    CFRelease(any);
    CFRelease(bound);
    CFRelease(target);
    return 0;
}
