// native.c — Python's signals while its main thread sleeps in a loop, and whether anybody observes a mode.
//
// Python's handlers run between two instructions of Python's main thread, and its C handler only notes the signal and writes a
// byte to the wake-up descriptor. A source for that descriptor would keep modes from being empty, so a thread of ours reads it and
// wakes the loop; an observer then enters Python, where the handlers run. A byte is noted before the wake-up, and the observer
// looks before the loop falls asleep, so no signal is missed, whenever it comes.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "runloop_linux.h"

static void signals_pending(void);

static struct {
    int ends[2];                ///< What Python's C handler writes, our thread reads.
    runloop *loop;              ///< Of Python's main thread, retained.
    runloop_observer *observer; ///< In every mode that Python's main thread has run.
    uint32_t generation;        ///< The process in which all this was made.
    bool exists;
    atomic_bool pending;
    atomic_int forward_to; ///< The descriptor that had the bytes before, or -1.
} watch;

static void *read_signals(void *unused) {
    (void)unused;
    unsigned char bytes[64];
    for (;;) {
        ssize_t count = read(watch.ends[0], bytes, sizeof bytes);
        if (count <= 0)
            continue;
        atomic_store(&watch.pending, true);
        int forward_to = atomic_load(&watch.forward_to);
        if (forward_to >= 0 && write(forward_to, bytes, (size_t)count) < 0) {
            // It is full, so its reader will wake up in any case.
        }
        runloop_wake_up(watch.loop);
    }
    return NULL;
}

static void look_for_signals(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    if (atomic_exchange(&watch.pending, false))
        signals_pending();
}

/// The thread gets no signals itself.
static int start_thread(void) {
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, read_signals, NULL);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return error ? -error : pthread_detach(thread);
}

static int make_watch(void) {
    runloop_observer_config config = {.order = INT32_MIN,
                                      .activities = RUNLOOP_ACTIVITY_BEFORE_WAITING | RUNLOOP_ACTIVITY_AFTER_WAITING,
                                      .repeats = true,
                                      .observe = look_for_signals};
    runloop_observer *observer;
    int error = runloop_observer_create(&config, &observer);
    if (error)
        return error;
    if (pipe2(watch.ends, O_CLOEXEC)) {
        error = -errno;
        runloop_observer_release(observer);
        return error;
    }
    watch.loop = runloop_retain(runloop_current());
    watch.observer = observer;
    atomic_store(&watch.forward_to, -1);
    error = !watch.loop ? -ENOMEM : fcntl(watch.ends[1], F_SETFL, O_NONBLOCK) ? -errno : start_thread();
    if (error) {
        close(watch.ends[0]), close(watch.ends[1]);
        runloop_release(watch.loop), runloop_observer_release(observer);
        return error;
    }
    watch.generation = runloop_fork_generation();
    watch.exists = true;
    return 0;
}

/// On Python's main thread: from now on a run in `mode` notices signals whose bytes are written to the result. A negative errno.
static int signal_watch_in_mode(const char *mode) {
    if (watch.exists && watch.generation != runloop_fork_generation()) {
        close(watch.ends[0]), close(watch.ends[1]); // Our thread is the parent's.
        watch.exists = false;
    }
    int error = watch.exists ? 0 : make_watch();
    if (!error)
        error = runloop_add_observer(watch.loop, watch.observer, mode);
    return error == 0 || error == -EINVAL ? watch.ends[1] : error; // The pseudo-mode: the run finishes at once.
}

/// Where the bytes went before: there they go, too. -1: nowhere.
static void signal_watch_forward(int descriptor) {
    atomic_store(&watch.forward_to, descriptor);
}

static void look_at(void *is_observed, runloop_item_kind kind, void *item) {
    if (kind == RUNLOOP_ITEM_OBSERVER && item != watch.observer)
        *(bool *)is_observed = true;
}

/// Are there observers in the mode, besides the one above? Yes, if there is no memory to find out. O(items).
static bool mode_is_observed(runloop *loop, const char *mode) {
    bool is_observed = false;
    return runloop_visit_items(loop, mode, look_at, &is_observed) < 0 || is_observed;
}
