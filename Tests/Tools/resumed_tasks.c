// resumed_tasks.c — tells the thread sanitizer what the Swift runtime does not: for LD_PRELOAD, x86-64 and aarch64.
//
// What is done before a continuation is resumed happens before its task goes on. The runtime says so to the sanitizer when the task is
// resumed while it waits, but not when it is resumed between its closure, in which another thread got hold of the continuation, and the
// wait, which then is none (swift_continuation_await, Swift 6.3). What the task is given then looks like a race, once in some thousand times.
//
// So each continuation gets another place to go on, from which the task goes to its own after the sanitizer was notified.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

/// The beginning of the runtime's ContinuationAsyncContext, which is part of its ABI.
struct continuation;
typedef __attribute__((swiftasynccall)) void (*going_on)(__attribute__((swift_async_context)) struct continuation *);
struct continuation {
    void *parent;
    going_on go_on;
    /// Of which the runtime uses and reads the lowest bits; the others take the address of the task's own place, of at most 48 bits.
    uintptr_t flags;
};
enum { OWN_PLACE_SHIFT = 16 };

/// A program without tasks or without the sanitizer has none.
__attribute__((swiftcall, weak)) void *swift_task_getCurrent(void);
__attribute__((weak)) void __tsan_acquire(void *released);

static __attribute__((swiftasynccall)) void announce_and_go_on(
    __attribute__((swift_async_context)) struct continuation *continuation) {
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return ((going_on)(continuation->flags >> OWN_PLACE_SHIFT))(continuation);
}

__attribute__((swiftcall)) void *swift_continuation_init(struct continuation *continuation, uintptr_t options) {
    static __attribute__((swiftcall)) void *(*next)(struct continuation *, uintptr_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "swift_continuation_init");
    if (!__tsan_acquire)
        return next(continuation, options);
    uintptr_t own_place = (uintptr_t)continuation->go_on;
    continuation->go_on = announce_and_go_on;
    void *task = next(continuation, options);
    continuation->flags |= own_place << OWN_PLACE_SHIFT;
    return task;
}
