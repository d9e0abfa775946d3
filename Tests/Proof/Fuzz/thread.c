// thread.c — performs the program on a thread that is not the initial one: the loop of that ends with the process alone.
//
// Linked with --wrap=main, so that it stands before the main of libFuzzer, and before that of replay.c.
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

extern bool fuzz_makes_threads;
bool fuzz_makes_threads;

int __real_main(int count, char **arguments);
int __wrap_main(int count, char **arguments);

static struct {
    int count;
    char **arguments;
    int status;
} program;

static void *perform(void *unused) {
    program.status = __real_main(program.count, program.arguments);
    return unused;
}

int __wrap_main(int count, char **arguments) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    program.count = count;
    program.arguments = arguments;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 8 << 20);
    if (pthread_create(&thread, &attributes, perform, NULL) != 0)
        return 1;
    // libFuzzer's alarm is for its thread.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_join(thread, NULL);
    return program.status;
}
