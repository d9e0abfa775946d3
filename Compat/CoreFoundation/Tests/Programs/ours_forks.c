// A child is forked while another thread holds the locks of single objects again and again. Only for ours: the real one does not survive
// that. A lock that stayed held in the child would make it wait until its alarm.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 300 };

static CFRunLoopSourceRef source;
static CFRunLoopTimerRef timer;
static CFFileDescriptorRef descriptor;
static CFSocketRef unconnected;
static atomic_bool stopped;

static void fire(CFRunLoopTimerRef fired, void *info) {
    (void)fired, (void)info;
}

static void use_all(void) {
    CFRunLoopSourceIsValid(source);
    CFRunLoopTimerGetNextFireDate(timer);
    CFFileDescriptorIsValid(descriptor);
    CFSocketIsValid(unconnected);
}

static void *use_without_end(void *nothing) {
    while (!atomic_load(&stopped))
        use_all();
    return nothing;
}

int main(void) {
    CFRunLoopSourceContext1 port = {.version = 1};
    source = CFRunLoopSourceCreate(NULL, 0, (CFRunLoopSourceContext *)&port);
    timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 1000, 0, 0, 0, fire, NULL);
    descriptor = CFFileDescriptorCreate(NULL, STDIN_FILENO, false, NULL, NULL);
    unconnected = CFSocketCreate(NULL, 0, 0, 0, kCFSocketNoCallBack, NULL, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, use_without_end, NULL);
    int ended = 0;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            use_all();
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        ended += status == 0;
    }
    atomic_store(&stopped, true);
    pthread_join(thread, NULL);
    printf("%d of %d children found every lock free\n", ended, FORKS);
    return 0;
}
