// A device library as on macOS: each device has a thread, which runs a private mode that is named after the device's address. A call of
// the library is passed to that thread, and the caller waits for it.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    CFStringRef mode;
    CFRunLoopRef loop;
    CFRunLoopSourceRef source;
    CFRunLoopTimerRef reports;
    pthread_t thread;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool shutdown, wanted;
    int report;
} Device;

static void report_arrived(CFRunLoopTimerRef timer, void *info) {
    (void)timer;
    Device *device = info;
    pthread_mutex_lock(&device->lock);
    device->report++;
    pthread_cond_broadcast(&device->answered);
    pthread_mutex_unlock(&device->lock);
}

static void perform(void *info) {
    Device *device = info;
    pthread_mutex_lock(&device->lock);
    if (device->wanted) {
        printf("request served in the private mode\n");
        device->wanted = false;
        pthread_cond_broadcast(&device->answered);
    }
    bool stops = device->shutdown;
    pthread_mutex_unlock(&device->lock);
    if (stops)
        CFRunLoopStop(CFRunLoopGetCurrent());
}

static void *read_thread(void *info) {
    Device *device = info;
    device->loop = CFRunLoopGetCurrent();
    CFRunLoopSourceContext context;
    memset(&context, 0, sizeof context);
    context.info = device;
    context.perform = perform;
    device->source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context);
    CFRunLoopAddSource(device->loop, device->source, device->mode);
    CFRunLoopTimerContext timer_context = {0, device, NULL, NULL, NULL};
    device->reports = CFRunLoopTimerCreate(kCFAllocatorDefault, CFAbsoluteTimeGetCurrent() + 0.005, 0.005, 0, 0,
                                           report_arrived, &timer_context);
    CFRunLoopAddTimer(device->loop, device->reports, device->mode);
    pthread_barrier_wait(&device->barrier);

    SInt32 code;
    do {
        code = CFRunLoopRunInMode(device->mode, 1000, false);
    } while (code != kCFRunLoopRunFinished && code != kCFRunLoopRunStopped);
    printf("the thread's run ended: %d\n", (int)code);

    CFRunLoopTimerInvalidate(device->reports);
    CFRelease(device->reports);
    pthread_barrier_wait(&device->barrier);
    return NULL;
}

static Device *open_device(void) {
    static Device device;
    char name[64];
    snprintf(name, sizeof name, "HIDAPI_%p", (void *)&device);
    device.mode = CFStringCreateWithCString(NULL, name, kCFStringEncodingASCII);
    pthread_mutex_init(&device.lock, NULL);
    pthread_cond_init(&device.answered, NULL);
    pthread_barrier_init(&device.barrier, NULL, 2);
    pthread_create(&device.thread, NULL, read_thread, &device);
    pthread_barrier_wait(&device.barrier);
    return &device;
}

static void close_device(Device *device) {
    pthread_mutex_lock(&device->lock);
    device->shutdown = true;
    pthread_mutex_unlock(&device->lock);
    CFRunLoopSourceSignal(device->source);
    CFRunLoopWakeUp(device->loop);
    pthread_barrier_wait(&device->barrier);
    pthread_join(device->thread, NULL);
    CFRelease(device->source);
    CFRelease(device->mode);
}

int main(void) {
    Device *device = open_device();
    pthread_mutex_lock(&device->lock);
    while (device->report < 3)
        pthread_cond_wait(&device->answered, &device->lock);
    printf("three reports\n");
    device->wanted = true;
    CFRunLoopSourceSignal(device->source);
    CFRunLoopWakeUp(device->loop);
    while (device->wanted)
        pthread_cond_wait(&device->answered, &device->lock);
    pthread_mutex_unlock(&device->lock);
    close_device(device);

    // A source of the main loop is not affected.
    printf("the default mode of the main loop: %d\n", (int)CFRunLoopRunInMode(CFSTR("nobody is here"), 0, false));
    return 0;
}
