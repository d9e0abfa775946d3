// loop.c — loops as objects: each loop of the core has one, the same as long as its thread lives. Running, stopping, waking.
//
// The thread owns a reference to its loop's object: a task that is enqueued for no mode holds it. The core discards this task when the
// thread ends, after the `cancel` of every source. The table owns no reference; it only serves to find the object.

#include "loop/loop.h"
#include "strings/strings.h"

#include <pthread.h>

/// Guards the table of loops.
static struct process_lock table_lock;

struct __CFRunLoop {
    struct cf_object object;
    runloop *core; ///< constant; one reference
    struct __CFRunLoop *next GUARDED_BY(table_lock);
    bool has_thread; ///< constant, set before others find it: the thread owns a reference until it ends
    _Atomic bool thread_ended;
};

enum { BUCKETS = 64 };

static struct __CFRunLoop *buckets[BUCKETS] GUARDED_BY(table_lock);
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t ended_key;
static _Thread_local FAST_TLS CFRunLoopRef current;
static _Atomic(CFRunLoopRef) main_object; ///< owns a reference, which is never released

CFTypeID CFRunLoopGetTypeID(void) {
    return CF_TYPE_LOOP;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static struct __CFRunLoop **bucket_of(const runloop *core) HOLDS(table_lock) {
    return &buckets[((uintptr_t)core >> 6) % BUCKETS];
}

static void finalize(CFTypeRef object) {
    struct __CFRunLoop *loop = (struct __CFRunLoop *)(uintptr_t)object;
    if (loop->has_thread && !atomic_load(&loop->thread_ended))
        cf__misuse("CFRelease", "a run loop was released more often than retained while its thread lives.");
    process_lock(&table_lock);
    struct __CFRunLoop **link = bucket_of(loop->core);
    while (*link != loop)
        link = &(*link)->next;
    *link = loop->next;
    process_unlock(&table_lock);
    runloop_release(loop->core);
    free(loop);
}

static CFStringRef describe(CFTypeRef object) {
    char *text = runloop_copy_description(((CFRunLoopRef)(uintptr_t)object)->core);
    CFStringRef description = text ? cf__string_from_utf8(text) : NULL;
    free(text);
    return description;
}

static const struct cf_class class = {.type = CF_TYPE_LOOP, .finalize = finalize, .describe = describe};

static void do_nothing(void *loop) {
    (void)loop;
}

static void release_object(void *object) {
    if (current == object)
        current = NULL;
    CFRelease(object);
}

/// Called by a destructor of the core when the thread ends. The object is released by a later destructor of this file, so that it is still
/// the current loop while the blocks that were never performed are released.
static void thread_ends(void *object) {
    atomic_store(&((CFRunLoopRef)object)->thread_ended, true);
    if (pthread_setspecific(ended_key, object))
        release_object(object);
}

static void set_up(void) {
    pthread_key_create(&ended_key, release_object);
}

static struct __CFRunLoop *make(runloop *core) HOLDS(table_lock) {
    ASSERT_HOLDS(&table_lock);
    struct __CFRunLoop *loop = cf__new(&class, sizeof *loop);
    if (!loop)
        return NULL;
    loop->core = runloop_retain(core);
    CFRetain(loop);
    loop->has_thread = runloop_perform_in_modes(core, NULL, 0, do_nothing, loop, thread_ends) == 0;
    if (!loop->has_thread)
        atomic_fetch_sub(&loop->object.references, 1);
    loop->next = *bucket_of(core);
    *bucket_of(core) = loop;
    return loop;
}

CFRunLoopRef cf__copy_loop(runloop *core) {
    pthread_once(&once, set_up);
    process_lock(&table_lock);
    struct __CFRunLoop *loop = *bucket_of(core);
    while (loop && (loop->core != core || !cf__retain_if_referenced(loop)))
        loop = loop->next;
    if (!loop)
        loop = make(core);
    process_unlock(&table_lock);
    return loop;
}

runloop *cf__core_of_loop(CFRunLoopRef loop) {
    return CF_IS(loop, CF_TYPE_LOOP) ? loop->core : NULL;
}

CFRunLoopRef CFRunLoopGetCurrent(void) {
    runloop *core = runloop_current();
    if (current && current->core == core)
        return current;
    CFRunLoopRef loop = core ? cf__copy_loop(core) : NULL;
    if (!loop)
        return NULL;
    // The caller gets no reference, since the thread owns one. It owns none if memory ran out or if the thread is ending.
    bool has_thread = loop->has_thread;
    CFRelease(loop);
    return current = has_thread ? loop : NULL;
}

CFRunLoopRef CFRunLoopGetMain(void) {
    runloop *core = runloop_main();
    CFRunLoopRef known = atomic_load_explicit(&main_object, memory_order_acquire);
    if (!core || (known && known->core == core))
        return core ? known : NULL;
    CFRunLoopRef loop = cf__copy_loop(core);
    if (loop && !atomic_compare_exchange_strong(&main_object, &known, loop))
        CFRelease(loop); // another thread was faster, and stored the same object
    return loop;
}

//===-- modes --------------------------------------------------------------------------------------------------------===//

CFRunLoopMode CFRunLoopCopyCurrentMode(CFRunLoopRef rl) {
    runloop *core = cf__core_of_loop(rl);
    CFStringRef mode = core ? cf__mode_string(runloop_current_mode(core)) : NULL;
    return mode ? CFRetain(mode) : NULL;
}

CFArrayRef CFRunLoopCopyAllModes(CFRunLoopRef rl) {
    runloop *core = cf__core_of_loop(rl);
    if (!core)
        return NULL;
    // Modes may be added between the two calls, but are never removed.
    size_t capacity = runloop_get_modes(core, NULL, 0) + 8;
    const char **names = malloc(capacity * sizeof *names);
    size_t count = names ? runloop_get_modes(core, names, capacity) : 0;
    count = count < capacity ? count : capacity;
    CFMutableArrayRef modes = names ? CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks) : NULL;
    for (size_t i = 0; modes && i < count; i++) {
        CFStringRef mode = cf__mode_string(names[i]);
        if (mode)
            CFArrayAppendValue(modes, mode);
    }
    free(names);
    if ((size_t)CFArrayGetCount(modes) == count)
        return modes;
    // Memory ran out.
    CFRelease(modes);
    return NULL;
}

void CFRunLoopAddCommonMode(CFRunLoopRef rl, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    if (core)
        runloop_add_common_mode(core, cf__mode_name(mode));
}

//===-- running ------------------------------------------------------------------------------------------------------===//

static int64_t limit_of(CFTimeInterval seconds) {
    // The comparison is false for NaN, too.
    return seconds <= CF_GREATEST_DELAY ? cf__nanoseconds(seconds) : RUNLOOP_FOREVER;
}

void CFRunLoopRun(void) {
    runloop_run();
}

CFRunLoopRunResult CFRunLoopRunInMode(CFRunLoopMode mode, CFTimeInterval seconds, Boolean returnAfterSourceHandled) {
    int result = runloop_run_in_mode(cf__mode_text(mode), limit_of(seconds), returnAfterSourceHandled);
    return result > 0 ? result : kCFRunLoopRunFinished;
}

SInt32 CFRunLoopRunSpecific(CFRunLoopRef rl, CFStringRef modeName, CFTimeInterval seconds,
                            Boolean returnAfterSourceHandled) {
    return _CFRunLoopIsCurrent(rl) ? CFRunLoopRunInMode(modeName, seconds, returnAfterSourceHandled)
                                   : kCFRunLoopRunFinished;
}

Boolean CFRunLoopIsWaiting(CFRunLoopRef rl) {
    return runloop_is_waiting(cf__core_of_loop(rl));
}

void CFRunLoopWakeUp(CFRunLoopRef rl) {
    runloop_wake_up(cf__core_of_loop(rl));
}

void CFRunLoopStop(CFRunLoopRef rl) {
    runloop_stop(cf__core_of_loop(rl));
}

void _CFRunLoopStopMode(CFRunLoopRef rl, CFStringRef modeName) {
    runloop *core = cf__core_of_loop(rl);
    if (core)
        runloop_stop_mode(core, cf__mode_name(modeName));
}

Boolean _CFRunLoopIsCurrent(CFRunLoopRef rl) {
    return runloop_is_current(cf__core_of_loop(rl));
}

Boolean _CFRunLoopFinished(CFRunLoopRef rl, CFStringRef mode) {
    return runloop_mode_is_empty(cf__core_of_loop(rl), cf__mode_text(mode));
}
