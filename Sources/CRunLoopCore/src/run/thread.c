// thread.c — which thread has which loop: made at the first question, torn down when the thread ends, left behind at fork.
//
// A thread's loop goes in the third pass of thread-specific destructors (R7), so that other libraries' destructors still find it
// working in the first two.

#ifdef __linux__
#include <pthread.h>

#include "run/run.h"

enum { PASS_OF_TEARDOWN = 3 };

static _Atomic(runloop *) main_loop;
static struct process_lock main_lock, key_lock;
static pthread_key_t key;
static bool has_key;

static void thread_ends(void *loop) {
    if (loop != runloop__this_thread.loop || is_from_parent_process(loop))
        return;
    // Until its teardown the loop works as outside of any run.
    if (runloop__this_thread.passes == 0)
        runloop__abandon_callouts(loop);
    if (++runloop__this_thread.passes < PASS_OF_TEARDOWN && pthread_setspecific(key, loop) == 0)
        return;
    runloop__teardown(loop);
    runloop__this_thread = (struct runloop__this_thread){.has_ended = true};
    runloop_release(loop);
}

int runloop_end_current(void) {
    struct runloop__this_thread *thread = &runloop__this_thread;
    runloop *loop = thread->loop;
    if (!loop || is_from_parent_process(loop))
        return 0;
    if (loop->is_main)
        return -EPERM;
    if (loop->run || thread->source_callouts > 0 || atomic_load(&loop->is_finished))
        return -EBUSY;
    runloop__teardown(loop);
    // Only now: a call-out that ends the thread leaves the rest to its destructor.
    pthread_setspecific(key, NULL);
    *thread = (struct runloop__this_thread){0};
    runloop_release(loop);
    return 0;
}

/// The key is made when it is first needed: keys that others made before have their destructors called before ours in each pass.
static int set_key(runloop *loop) {
    process_lock(&key_lock);
    if (!has_key)
        has_key = pthread_key_create(&key, thread_ends) == 0;
    process_unlock(&key_lock);
    return has_key ? pthread_setspecific(key, loop) : EAGAIN;
}

runloop *runloop_main(void) {
    runloop *loop = atomic_load_explicit(&main_loop, memory_order_acquire);
    if (loop && !is_from_parent_process(loop))
        return loop;
    process_lock(&main_lock);
    loop = atomic_load_explicit(&main_loop, memory_order_relaxed);
    if (!loop || is_from_parent_process(loop)) {
        // Its first reference stays here: the main loop is never freed, so no pointer to it can dangle.
        runloop__this_thread.error = runloop__loop_create(true, &loop);
        atomic_store_explicit(&main_loop, loop, memory_order_release);
    }
    process_unlock(&main_lock);
    return loop;
}

/// The first question of this thread.
static runloop *make_current(void) {
    struct runloop__this_thread *thread = &runloop__this_thread;
    if (thread->has_ended) {
        thread->error = -ESHUTDOWN;
        return NULL;
    }
    runloop *loop = NULL;
    if (is_initial_thread())
        loop = runloop_retain(runloop_main());
    else
        thread->error = runloop__loop_create(false, &loop);
    if (!loop)
        return NULL;
    if (set_key(loop)) {
        thread->error = -ENOMEM;
        // Nobody else has it, but for the main loop, which is kept.
        if (!loop->is_main)
            atomic_store(&loop->is_finished, true);
        runloop_release(loop);
        return NULL;
    }
    thread->loop = loop;
    return loop;
}

runloop *runloop_current(void) {
    runloop *loop = runloop__this_thread.loop;
    if (loop && !is_from_parent_process(loop))
        return loop;
    if (loop)
        runloop__this_thread = (struct runloop__this_thread){0};
    return make_current();
}
#endif // __linux__
