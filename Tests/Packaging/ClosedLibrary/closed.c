// closed.c — loads the library as a plugin would, uses the loop of a thread, and closes the library before that thread ends, which runs the
// library's code. The argument is the path of the shared library. Tests/bin/packages and Tests/bin/ports run it.
#include <dlfcn.h>
#include <pthread.h>
#include <runloop.h>
#include <stdio.h>

static __typeof__(&runloop_current) current;
static __typeof__(&runloop_post) post;
static __typeof__(&runloop_run_in_mode) run_in_mode;
static pthread_barrier_t used, closed;
static int performed, discarded;

static void count(void *number) {
    ++*(int *)number;
}

static void *use(void *unused) {
    runloop *loop = current();
    int error = loop ? post(loop, RUNLOOP_DEFAULT_MODE, count, &performed, NULL) : -1;
    if (!error && run_in_mode(RUNLOOP_DEFAULT_MODE, 0, false) != RUNLOOP_RESULT_TIMED_OUT)
        error = -1;
    // The end of the thread discards this one.
    if (!error)
        error = post(loop, RUNLOOP_DEFAULT_MODE, count, &discarded, count);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return error ? &performed : unused;
}

int main(int argument_count, char **arguments) {
    void *library = argument_count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL, *failed = NULL;
    if (!library) {
        puts(argument_count > 1 ? dlerror() : "closed LIBRARY");
        return 1;
    }
    *(void **)&current = dlsym(library, "runloop_current");
    *(void **)&post = dlsym(library, "runloop_post");
    *(void **)&run_in_mode = dlsym(library, "runloop_run_in_mode");
    if (!current || !post || !run_in_mode)
        return 1;
    pthread_t thread;
    pthread_barrier_init(&used, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    if (pthread_create(&thread, NULL, use, NULL))
        return 1;
    pthread_barrier_wait(&used);
    dlclose(library);
    pthread_barrier_wait(&closed);
    pthread_join(thread, &failed);
    return failed || performed != 1 || discarded != 1;
}
