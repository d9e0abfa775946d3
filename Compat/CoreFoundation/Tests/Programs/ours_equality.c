// Equal sources whose functions use the loop, end their thread, or run in several threads at once. Only for ours.
#include <CoreFoundation/CoreFoundation.h>
#include <pthread.h>

#define kMode CFSTR("equality")
static CFRunLoopRef loop;
static CFRunLoopSourceRef bystander;
static bool uses_loop, ends_thread;
static int releases;

static Boolean equal(const void *info, const void *other) {
    if (uses_loop) {
        CFRunLoopContainsSource(loop, bystander, kMode);
        CFRunLoopAddSource(loop, bystander, CFSTR("another"));
    }
    if (ends_thread)
        pthread_exit(NULL);
    return info == other;
}

static const void *count_retain(const void *info) {
    return info;
}

static void count_release(const void *info) {
    (void)info;
    __atomic_fetch_add(&releases, 1, __ATOMIC_SEQ_CST);
}

static CFHashCode hash(const void *info) {
    (void)info;
    return 1;
}

static CFRunLoopSourceRef make(const void *info) {
    CFRunLoopSourceContext context = {.info = (void *)(uintptr_t)info,
                                      .retain = count_retain,
                                      .release = count_release,
                                      .equal = equal,
                                      .hash = hash};
    return CFRunLoopSourceCreate(NULL, 0, &context);
}

static void release_after(CFRunLoopSourceRef source) {
    CFRunLoopSourceInvalidate(source);
    CFRelease(source);
}

static void uses_the_loop(void) {
    CFRunLoopSourceContext context = {.info = NULL};
    bystander = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopSourceRef a = make("a"), b = make("b");
    uses_loop = true;
    CFRunLoopAddSource(loop, a, kMode);
    CFRunLoopAddSource(loop, b, kMode);
    uses_loop = false;
    printf("an equal that uses the loop: %d\n", CFRunLoopContainsSource(loop, bystander, CFSTR("another")));
    release_after(a);
    release_after(b);
    release_after(bystander);
}

static CFRunLoopSourceRef leaving;
static int operation;

static void *leave(void *unused) {
    if (operation == 0)
        CFRunLoopAddSource(loop, leaving, kMode);
    else if (operation == 1)
        CFRunLoopRemoveSource(loop, leaving, kMode);
    else
        CFRunLoopAddSource(loop, leaving, kCFRunLoopCommonModes);
    printf("the thread goes on\n");
    return unused;
}

static void ends_its_thread(void) {
    for (operation = 0; operation < 3; operation++) {
        releases = 0;
        CFRunLoopSourceRef member = make("member");
        leaving = make("leaving");
        CFRunLoopAddSource(loop, member, operation == 2 ? kCFRunLoopCommonModes : kMode);
        ends_thread = true;
        pthread_t thread;
        pthread_create(&thread, NULL, leave, NULL);
        pthread_join(thread, NULL);
        ends_thread = false;
        // Nothing is locked, and nothing is left in the list of additions.
        CFRunLoopAddSource(loop, leaving, kMode);
        bool works = CFRunLoopContainsSource(loop, leaving, kMode);
        release_after(member);
        release_after(leaving);
        printf("a thread that ends in equal, operation %d: works %d, %d released\n", operation, works, releases);
    }
}

enum { THREADS = 4, ROUNDS = 2000 };
static CFRunLoopSourceRef rivals[THREADS];
static pthread_barrier_t barrier;
static int members;

static void *add(void *number) {
    CFRunLoopSourceRef mine = rivals[(intptr_t)number];
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        CFRunLoopAddSource(loop, mine, kMode);
        pthread_barrier_wait(&barrier);
        if (number == 0) {
            // A removal takes away one member that equals the source.
            while (CFRunLoopContainsSource(loop, mine, kMode)) {
                members++;
                CFRunLoopRemoveSource(loop, mine, kMode);
            }
        }
    }
    return NULL;
}

static void in_several_threads(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        rivals[i] = make("rival");
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d times four threads add equal sources to a mode: %d members\n", ROUNDS, members);
    for (int i = 0; i < THREADS; i++)
        release_after(rivals[i]);
}

int main(void) {
    loop = CFRunLoopGetCurrent();
    uses_the_loop();
    ends_its_thread();
    in_several_threads();
    return 0;
}
