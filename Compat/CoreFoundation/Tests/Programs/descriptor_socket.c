// A server and a client on a local socket, both on one loop, both with CFFileDescriptor.
#include <CoreFoundation/CoreFoundation.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static CFFileDescriptorRef add(int fd, CFFileDescriptorCallBack callback, CFOptionFlags types, void *info) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    CFFileDescriptorContext context = {0, info, NULL, NULL, NULL};
    CFFileDescriptorRef f = CFFileDescriptorCreate(kCFAllocatorDefault, fd, true, callback, &context);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(kCFAllocatorDefault, f, 0);
    CFRunLoopAddSource(CFRunLoopGetMain(), source, kCFRunLoopCommonModes);
    CFRelease(source);
    CFFileDescriptorEnableCallBacks(f, types);
    return f;
}

static void end(CFFileDescriptorRef f) {
    CFFileDescriptorInvalidate(f);
    CFRelease(f);
}

static void serve(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    (void)types, (void)info;
    char text[64];
    ssize_t count = read(CFFileDescriptorGetNativeDescriptor(f), text, sizeof text);
    if (count <= 0) {
        printf("server: the client has gone\n");
        end(f);
        CFRunLoopStop(CFRunLoopGetMain());
        return;
    }
    printf("server: '%.*s'\n", (int)count, text);
    for (ssize_t i = 0; i < count; i++)
        text[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 32) : text[i];
    if (write(CFFileDescriptorGetNativeDescriptor(f), text, (size_t)count) != count)
        printf("server: short write\n");
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
}

static void accept_client(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    (void)info;
    printf("server: a client, types %lu\n", types);
    int client = accept(CFFileDescriptorGetNativeDescriptor(f), NULL, NULL);
    add(client, serve, kCFFileDescriptorReadCallBack, NULL);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
}

static void talk(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    int *sent = info, fd = CFFileDescriptorGetNativeDescriptor(f);
    if (types & kCFFileDescriptorReadCallBack) {
        char text[64];
        ssize_t count = read(fd, text, sizeof text);
        printf("client: '%.*s'\n", (int)count, text);
        if (*sent == 3) {
            end(f);
            return;
        }
        CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorWriteCallBack);
    } else if (types & kCFFileDescriptorWriteCallBack) {
        char text[64];
        int length = snprintf(text, sizeof text, "message %d", ++*sent);
        if (write(fd, text, (size_t)length) != length)
            printf("client: short write\n");
        CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    }
}

int main(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    // An abstract name, so that nothing is left in the file system.
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cf-programs-%d", (int)getpid());
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), sent = 0;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4) ||
        connect(client, (struct sockaddr *)&address, size))
        return 1;
    CFFileDescriptorRef server = add(listener, accept_client, kCFFileDescriptorReadCallBack, NULL);
    add(client, talk, kCFFileDescriptorReadCallBack | kCFFileDescriptorWriteCallBack, &sent);
    CFRunLoopRun();
    end(server);
    printf("done\n");
    return 0;
}
