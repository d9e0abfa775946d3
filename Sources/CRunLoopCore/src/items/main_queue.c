// main_queue.c — the main dispatch queue, served by the main loop in the common modes (R106–R110). libdispatch is asked for weakly: a
// program without it has no main queue, and needs no library for it. One that is loaded later is found at the next run.
//
// Its descriptor is an eventfd that belongs to libdispatch, which may close it for good (then it answers -1): so the number is never
// remembered, but asked for whenever it is used. Every queued block writes the eventfd. It is watched for edges, so that a run that
// doesn't serve the queue is not kept awake by it, and its counter is read when the queue is served.

#ifdef __linux__
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "items/items.h"

extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));
extern void _dispatch_main_queue_callback_4CF(void *unused) __attribute__((weak));
extern void *_CFGetTSD(uint32_t slot) __attribute__((weak));
/// The queue itself, of which programs know the address.
extern char _dispatch_main_q __attribute__((weak));
extern const char *dispatch_queue_get_label(void *queue) __attribute__((weak));

//===-- libdispatch --------------------------------------------------------------------------------------------------===//

/// Used by the main loop's thread. Both functions are set, or neither.
static struct {
    int (*descriptor)(void);
    void (*drain)(void *);
    const char *queue; ///< NULL if it is not known
    uint32_t asked;    ///< how often, since the symbols are not looked up each time
} libdispatch;

/// Looking for symbols costs microseconds where there are none.
enum { QUESTIONS_BETWEEN_LOOKS = 1024 };

bool runloop__main_queue_exists(void) {
    if (libdispatch.drain)
        return true;
    if (_dispatch_get_main_queue_handle_4CF && _dispatch_main_queue_callback_4CF) {
        libdispatch.descriptor = _dispatch_get_main_queue_handle_4CF;
        libdispatch.drain = _dispatch_main_queue_callback_4CF;
        libdispatch.queue = &_dispatch_main_q;
    } else if (libdispatch.asked++ % QUESTIONS_BETWEEN_LOOKS == 0) {
        uintptr_t descriptor = (uintptr_t)dlsym(RTLD_DEFAULT, "_dispatch_get_main_queue_handle_4CF");
        uintptr_t drain = (uintptr_t)dlsym(RTLD_DEFAULT, "_dispatch_main_queue_callback_4CF");
        if (descriptor && drain) {
            libdispatch.descriptor = (int (*)(void))descriptor;
            libdispatch.drain = (void (*)(void *))drain;
            libdispatch.queue = dlsym(RTLD_DEFAULT, "_dispatch_main_q");
        }
    }
    return libdispatch.drain;
}

static int descriptor(void) {
    return runloop__main_queue_exists() ? libdispatch.descriptor() : -1;
}

bool runloop__is_on_dispatch_thread(void) {
    // A thread without a queue is given the label of the queue that overcommits.
    const char *label = dispatch_queue_get_label ? dispatch_queue_get_label(NULL) : NULL;
    return label && strcmp(label, "com.apple.root.default-qos.overcommit") != 0 &&
           strcmp(label, "com.apple.main-thread") != 0;
}

//===-- drains -------------------------------------------------------------------------------------------------------===//

/// The initial thread: inside runloop_main_queue_serve.
static bool is_serving;

// libdispatch takes all that is queued as one batch, and then the queue looks empty, although what is behind the piece of work that it performs has
// yet to begin. How many pieces there are it has counted in the eventfd. Which of them is performed it does not say.

/// How many the drain under way was given, and those whose count was taken meanwhile. Written by the initial thread.
static _Atomic uint32_t batch;

uint32_t runloop_main_queue_batch(void) {
    return atomic_load_explicit(&batch, memory_order_relaxed);
}

/// libdispatch ignores a drain inside another, without an error. Foundation's loop needs to know as well, for itself, and notes it in this
/// slot of the thread's data.
bool runloop__foundation_drains_main_queue(void) {
    enum { SLOT = 4 };
    static void *(*get)(uint32_t slot);
    static uint32_t asked;
    if (!get) {
        get = _CFGetTSD;
        if (!get && asked++ % QUESTIONS_BETWEEN_LOOKS == 0)
            get = (void *(*)(uint32_t))(uintptr_t)dlsym(RTLD_DEFAULT, "_CFGetTSD");
    }
    return get && get(SLOT);
}

/// The initial thread.
static bool is_draining(const runloop *main) {
    return (main && main->main_queue.depth > 0) || is_serving || runloop__foundation_drains_main_queue();
}

bool runloop__main_queue_is_available(runloop *loop) {
    return loop->is_main && descriptor() >= 0 && !is_draining(loop);
}

bool runloop__main_queue_is_starved(const runloop *loop) {
    return runloop__main_queue_exists() && is_draining(loop) && runloop__diagnostic_is_due(RUNLOOP__MAIN_QUEUE_WAITS);
}

//===-- watching -----------------------------------------------------------------------------------------------------===//

/// Generation 0 is the main queue's.
HOLDS_LOCK static void watch(runloop *loop, int handle) {
    int error = runloop__poller_watch(&loop->poller, EPOLL_CTL_ADD, handle, (uint32_t)handle, EPOLLIN | EPOLLET);
    loop->main_queue.descriptor = handle;
    loop->main_queue.is_watched = !error || error == -EEXIST;
}

bool runloop__main_queue_watch(runloop *loop) {
    if (!runloop__main_queue_is_available(loop))
        return false;
    int now = descriptor();
    loop_lock(loop);
    if (!loop->main_queue.is_watched || loop->main_queue.descriptor != now)
        watch(loop, now);
    bool is_watched = loop->main_queue.is_watched;
    loop_unlock(loop);
    return is_watched;
}

void runloop__main_queue_unwatch(runloop *loop) {
    loop_lock(loop);
    struct main_queue *queue = &loop->main_queue;
    // Under another number the queue's eventfd was closed, and has left the set by itself.
    if (queue->is_watched && queue->descriptor == descriptor())
        runloop__poller_watch(&loop->poller, EPOLL_CTL_DEL, queue->descriptor, 0, 0);
    queue->is_watched = false;
    loop_unlock(loop);
}

//===-- has anything been queued since? ------------------------------------------------------------------------------===//

// Only the kernel knows whether the queue is ready, and a loop with much to do has to know before each event (R108). But whoever queues anything
// changes the queue, an object of libdispatch's: so while that is as it was before the kernel said that nothing was there, there is no need to
// ask again. Nothing is read out of it (0111).
//
// A thread that queues changes the object and then writes the eventfd, and the object is copied here before the kernel is asked. So what
// was queued after the copy shows in the object, and what was queued before it shows in the kernel's answer, or is on the way there, and
// then in the kernel's next report. A thread that learns of something that was queued, by whatever way, has a view of memory in which the
// object has changed.
//
// A libdispatch whose object does not show it is found out by the first report of the kernel's that comes while the object is unchanged, and from
// then on the kernel is asked each time; until a report comes with a change again, since a drain that takes more than was counted causes such a
// report as well.

/// The size of the object in every libdispatch for Linux, in which it is a public symbol.
enum { QUEUE_WORDS = 128 / sizeof(uintptr_t) };

/// Used by the main loop's thread.
static struct {
    uintptr_t words[QUEUE_WORDS];
    bool is_valid; ///< the kernel said that nothing was there, after these were copied
    bool is_refuted;
} seen;

/// Other threads write it, by atomic operations that this library does not know: each word is one that was there.
static uintptr_t word_of_queue(int index) {
    return __atomic_load_n((const uintptr_t *)(const void *)libdispatch.queue + index, __ATOMIC_ACQUIRE);
}

static bool is_as_seen(void) {
    uintptr_t difference = 0;
    for (int i = 0; i < QUEUE_WORDS; i++)
        difference |= word_of_queue(i) ^ seen.words[i];
    return difference == 0;
}

static bool has_work(void) {
    struct pollfd queue = {.fd = descriptor(), .events = POLLIN};
    return queue.fd >= 0 && poll(&queue, 1, 0) == 1;
}

/// Is it known, without a question to the kernel, that there is none?
static bool has_surely_none(void) {
    return seen.is_valid && !seen.is_refuted && is_as_seen();
}

/// The kernel has said that something is there.
void runloop__main_queue_reported(void) {
    if (seen.is_valid)
        seen.is_refuted = is_as_seen();
    seen.is_valid = false;
}

/// The kernel's answer.
static bool ask(void) {
    uintptr_t words[QUEUE_WORDS] = {0};
    if (libdispatch.queue)
        for (int i = 0; i < QUEUE_WORDS; i++)
            words[i] = word_of_queue(i);
    if (has_work()) {
        runloop__main_queue_reported();
        return true;
    }
    memcpy(seen.words, words, sizeof words);
    seen.is_valid = libdispatch.queue;
    return false;
}

//===-- serving ------------------------------------------------------------------------------------------------------===//

/// Reads the counter: true if anything was queued since the last time.
static bool take_counter(void) {
    uint64_t count;
    int handle = descriptor();
    if (handle < 0 || syscall(SYS_read, handle, &count, sizeof count) != (long)sizeof count)
        return false;
    atomic_store_explicit(&batch, runloop_main_queue_batch() + (uint32_t)count, memory_order_relaxed);
    return true;
}

// Only this thread writes what is read here without the lock.
UNCHECKED bool runloop__main_queue_poll(const runloop *loop) {
    return loop->main_queue.news.reasons || (!has_surely_none() && ask());
}

/// A batch of the queue's work is over. That it was long is the only sign of somebody else's loop that was run in it (a dialog's), since such a
/// loop calls nobody here. What is in the queue now came during the batch.
static COLD void note_long_batch(int64_t duration_ns) {
    enum { LONG_NS = 1000000000 };
    if (duration_ns < LONG_NS || !has_work())
        return;
    char text[512];
    snprintf(
        text, sizeof text,
        "Work for the main dispatch queue or the main actor has kept the queue for %lld ms, in which no other such "
        "work could go on, and there is more by now. A loop that is run inside such work, whether this one, GLib's "
        "or another, can't serve the queue, which goes on only when that work has returned: return and await instead.",
        (long long)(duration_ns / 1000000));
    runloop__diagnostic_write(RUNLOOP__MAIN_QUEUE_WAITS, text);
}

static void drain(void) {
    int64_t begin_ns = runloop__diagnostic_is_due(RUNLOOP__MAIN_QUEUE_WAITS) ? monotonic_ns() : RUNLOOP_NEVER;
    TRACED(RUNLOOP_TRACE_MAIN_QUEUE, NULL, 0, runloop__IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(libdispatch.drain));
    atomic_store_explicit(&batch, 0, memory_order_relaxed);
    if (begin_ns != RUNLOOP_NEVER)
        note_long_batch(monotonic_ns() - begin_ns);
}

bool runloop__main_queue_dispatch(runloop *loop, const struct selection *selection) {
    struct main_queue *queue = &loop->main_queue;
    loop_lock(loop);
    bool is_ready = queue->news.reasons && !is_later(&queue->news, selection);
    if (is_ready)
        ready_remove(loop, &queue->news);
    loop_unlock(loop);
    // If the counter is zero, another loop has drained the queue since it was reported.
    if (!is_ready || !take_counter())
        return false;
    loop->timers_served_last = false;
    queue->depth++;
    drain();
    queue->depth--;
    queue->waiting_since_ns = 0;
    return true;
}

//===-- without a loop -----------------------------------------------------------------------------------------------===//

int runloop_main_queue_descriptor(void) {
    int handle = descriptor();
    return handle < 0 ? -ENOSYS : handle;
}

int runloop_main_queue_serve(void) {
    if (descriptor() < 0)
        return -ENOSYS;
    if (!is_initial_thread())
        return -EPERM;
    if (is_draining(runloop__thread_loop())) {
        // The drain under way writes it again if anything is left. Until then no host may spin.
        take_counter();
        return -EBUSY;
    }
    if (!take_counter())
        return 0;
    is_serving = true;
    drain();
    is_serving = false;
    return 1;
}

//===-- work that waits for a nested run to end (R109) ---------------------------------------------------------------===//

/// Longer than anything on the initial thread should take.
#define PATIENCE_NS INT64_C(250000000)

/// If none is known to wait, several pieces of work were taken together, and which of them has begun the run nobody knows.
static COLD void write_diagnostic(bool is_known) {
    static const char known[] = "Work for the main dispatch queue or the main actor has been waiting";
    static const char behind[] =
        "Several pieces of work were queued for the main dispatch queue or the main actor, and "
        "whatever is behind the one under way has been waiting";
    char text[512];
    snprintf(text, sizeof text,
             "%s for 250 ms, because the main loop is run from inside such work, and the queue goes on only when that "
             "has returned. Nest the run in a timer, a source or a task instead, or return and await.",
             is_known ? known : behind);
    runloop__diagnostic_write(RUNLOOP__MAIN_QUEUE_WAITS, text);
}

int64_t runloop__main_queue_limit_wait(runloop *loop, int64_t timeout_ns) {
    struct main_queue *queue = &loop->main_queue;
    bool has_more = has_work();
    // Not known since before this batch, if another loop has drained the queue meanwhile.
    if (!has_more && runloop_main_queue_batch() < 2)
        queue->waiting_since_ns = 0;
    // Kept over several short runs: the work waits until the batch that they are nested in has ended.
    else if (queue->waiting_since_ns == 0)
        queue->waiting_since_ns = monotonic_ns();
    if (queue->waiting_since_ns == 0)
        return timeout_ns;
    int64_t left_ns = queue->waiting_since_ns + PATIENCE_NS - monotonic_ns();
    if (left_ns > 0)
        return left_ns < timeout_ns ? left_ns : timeout_ns;
    write_diagnostic(has_more);
    return timeout_ns;
}
#endif // __linux__
