// CFFileDescriptor on a pipe: one callback for each enabling.
#include <CoreFoundation/CoreFoundation.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int calls, pipe_ends[2];

static void readable(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    char letter;
    ssize_t count = read(CFFileDescriptorGetNativeDescriptor(f), &letter, 1);
    printf("%s: types %lu, read %ld '%c'\n", (const char *)info, types, (long)count, count == 1 ? letter : '-');
    if (++calls == 2)
        CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    if (count == 0)
        CFFileDescriptorInvalidate(f);
}

static void run(const char *what) {
    printf("%s: %d\n", what, (int)CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.03, false));
}

int main(void) {
    if (pipe(pipe_ends))
        return 1;
    CFFileDescriptorContext context = {0, "pipe", NULL, NULL, NULL};
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, pipe_ends[0], true, readable, &context);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFRunLoopSourceRef same = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    printf("the same source: %d\n", source == same);
    CFRelease(same);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFRelease(source);

    printf("written %ld\n", (long)write(pipe_ends[1], "abc", 3));
    run("not enabled");
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    run("enabled once");
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    run("enabled again, and once more in the callback");
    printf("written %ld\n", (long)write(pipe_ends[1], "d", 1));
    run("not enabled");
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    CFFileDescriptorDisableCallBacks(f, kCFFileDescriptorReadCallBack);
    run("disabled again");
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    run("enabled");
    close(pipe_ends[1]);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    run("end of file, where nothing is left");
    printf("valid: %d, closed: %d\n", CFFileDescriptorIsValid(f), fcntl(pipe_ends[0], F_GETFD) == -1);
    CFRelease(f);
    return 0;
}
