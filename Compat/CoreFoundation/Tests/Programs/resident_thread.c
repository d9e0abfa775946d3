// A thread that sleeps in its run loop until the main thread passes work to it through a version-0 source.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdio.h>

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    CFRunLoopRef loop;
    CFRunLoopSourceRef source;
    int jobs[8];
    int count;
    int done;
} Worker;

static void schedule(void *info, CFRunLoopRef loop, CFStringRef mode) {
    Worker *worker = info;
    pthread_mutex_lock(&worker->lock);
    worker->loop = (CFRunLoopRef)CFRetain(loop);
    printf("scheduled in the default mode: %d\n", CFEqual(mode, kCFRunLoopDefaultMode));
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

static void cancel(void *info, CFRunLoopRef loop, CFStringRef mode) {
    (void)mode;
    printf("cancelled, on its own loop: %d\n", loop == ((Worker *)info)->loop);
}

static void perform(void *info) {
    Worker *worker = info;
    pthread_mutex_lock(&worker->lock);
    while (worker->count > 0) {
        int job = worker->jobs[0];
        for (int i = 1; i < worker->count; i++)
            worker->jobs[i - 1] = worker->jobs[i];
        worker->count--;
        printf("job %d\n", job);
        if (job < 0)
            CFRunLoopStop(CFRunLoopGetCurrent());
        worker->done++;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
}

static void *resident(void *info) {
    Worker *worker = info;
    CFRunLoopAddSource(CFRunLoopGetCurrent(), worker->source, kCFRunLoopDefaultMode);
    CFRunLoopRun();
    printf("the thread has left its loop\n");
    CFRunLoopRemoveSource(CFRunLoopGetCurrent(), worker->source, kCFRunLoopDefaultMode);
    return NULL;
}

static void submit(Worker *worker, int job) {
    pthread_mutex_lock(&worker->lock);
    int done = worker->done;
    worker->jobs[worker->count++] = job;
    CFRunLoopSourceSignal(worker->source);
    CFRunLoopWakeUp(worker->loop);
    // One after the other, so that the order of the output does not depend on the threads' speed.
    while (worker->done == done) {
        pthread_mutex_unlock(&worker->lock);
        sched_yield();
        CFRunLoopWakeUp(worker->loop);
        pthread_mutex_lock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
}

int main(void) {
    Worker worker = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL, {0}, 0, 0};
    CFRunLoopSourceContext context = {0, &worker, NULL, NULL, NULL, NULL, NULL, schedule, cancel, perform};
    worker.source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context);
    pthread_t thread;
    pthread_create(&thread, NULL, resident, &worker);
    pthread_mutex_lock(&worker.lock);
    while (!worker.loop)
        pthread_cond_wait(&worker.changed, &worker.lock);
    pthread_mutex_unlock(&worker.lock);
    for (int job = 1; job <= 5; job++)
        submit(&worker, job);
    submit(&worker, -1);
    pthread_join(thread, NULL);
    CFRunLoopSourceInvalidate(worker.source);
    printf("valid: %d\n", CFRunLoopSourceIsValid(worker.source));
    CFRelease(worker.source);
    CFRelease(worker.loop);
    return 0;
}
