// CFFileDescriptor on a regular file, which is always ready. Standard input may be one.
#include <CoreFoundation/CoreFoundation.h>
#include <stdio.h>
#include <unistd.h>

static void line(CFFileDescriptorRef f, CFOptionFlags types, void *info) {
    (void)types, (void)info;
    char text[4];
    ssize_t count = read(CFFileDescriptorGetNativeDescriptor(f), text, sizeof text);
    printf("read %ld '%.*s'\n", (long)count, (int)count, text);
    if (count > 0)
        CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    else
        CFRunLoopStop(CFRunLoopGetCurrent());
}

int main(void) {
    FILE *file = tmpfile();
    fputs("regular file", file);
    rewind(file);
    CFFileDescriptorRef f = CFFileDescriptorCreate(NULL, dup(fileno(file)), true, line, NULL);
    CFRunLoopSourceRef source = CFFileDescriptorCreateRunLoopSource(NULL, f, 0);
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
    CFFileDescriptorEnableCallBacks(f, kCFFileDescriptorReadCallBack);
    CFRunLoopRun();
    CFRelease(source);
    CFRelease(f);
    fclose(file);
    return 0;
}
