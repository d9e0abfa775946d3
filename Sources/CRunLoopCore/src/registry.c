// registry.c — which thread has which loop: made at the first question, torn down when the thread ends, left behind at fork.
//
// A thread's loop goes in the third pass of thread-specific destructors (R7), so that other libraries' destructors still find it
// working in the first two.

#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

enum { PASS_OF_TEARDOWN = 3 };

_Thread_local FAST_TLS struct runloop__this_thread runloop__this_thread;

_Atomic uint32_t runloop__fork_generation;
static _Atomic(runloop *) main_loop;
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *loop) {
    if (++runloop__this_thread.passes < PASS_OF_TEARDOWN && pthread_setspecific(key, loop) == 0)
        return;
    runloop__finish(loop);
    runloop__this_thread.loop = NULL;
    runloop__this_thread.has_ended = true;
    runloop_release(loop);
}

/// The child has one thread and none of the loops: what it inherited is another process's.
static void in_forked_child(void) {
    atomic_fetch_add(&runloop__fork_generation, 1);
    runloop__this_thread.loop = NULL;
    runloop__this_thread.passes = 0;
    runloop__this_thread.has_ended = false;
    atomic_store(&main_loop, NULL);
    pthread_mutex_init(&registry_lock, NULL);
    runloop__names_after_fork();
    pthread_setspecific(key, NULL);
}

static void set_up(void) {
    pthread_key_create(&key, thread_ends);
    pthread_atfork(NULL, NULL, in_forked_child);
}

uint32_t runloop_fork_generation(void) {
    return atomic_load_explicit(&runloop__fork_generation, memory_order_relaxed);
}

int runloop__thread_error(void) {
    return runloop__this_thread.has_ended ? -ESHUTDOWN : runloop__this_thread.error;
}

void runloop__registry_lock(void) {
    pthread_mutex_lock(&registry_lock);
}

void runloop__registry_unlock(void) {
    pthread_mutex_unlock(&registry_lock);
}

runloop *runloop_main(void) {
    runloop *loop = atomic_load_explicit(&main_loop, memory_order_acquire);
    if (loop)
        return loop;
    pthread_once(&once, set_up);
    pthread_mutex_lock(&registry_lock);
    loop = atomic_load_explicit(&main_loop, memory_order_relaxed);
    if (!loop) {
        // Its first reference stays with this table: the main loop is never freed, so no pointer to it can dangle.
        runloop__this_thread.error = runloop__create(true, &loop);
        atomic_store_explicit(&main_loop, loop, memory_order_release);
    }
    pthread_mutex_unlock(&registry_lock);
    return loop;
}

static bool is_initial_thread(void) {
    return syscall(SYS_gettid) == getpid();
}

/// The first question of this thread.
static runloop *make_current(void) {
    if (runloop__this_thread.has_ended)
        return NULL;
    pthread_once(&once, set_up);
    runloop *loop = NULL;
    if (is_initial_thread())
        loop = runloop_retain(runloop_main());
    else
        runloop__this_thread.error = runloop__create(false, &loop);
    if (!loop)
        return NULL;
    if (pthread_setspecific(key, loop)) {
        runloop__this_thread.error = -ENOMEM;
        runloop_release(loop);
        return NULL;
    }
    runloop__this_thread.loop = loop;
    return loop;
}

runloop *runloop_current(void) {
    runloop *loop = runloop__this_thread.loop;
    return loop ? loop : make_current();
}

bool runloop_is_current(runloop *loop) {
    if (!loop || runloop__is_inherited(loop))
        return false;
    // The initial thread may not have asked for its loop yet, which others got from runloop_main.
    return loop == runloop__this_thread.loop ||
           (loop->is_main && !runloop__this_thread.loop && !runloop__this_thread.has_ended && is_initial_thread());
}
