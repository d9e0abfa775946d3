// tasks.c — what a thread of a simulation does to tasks, of which the Swift runtime says nothing otherwise: it makes them, cancels them, and throws.
//
// A program calls these functions of the runtime's. In a program that has the runtime in itself, the runtime's own are used.

#ifdef __linux__
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "joined.h"

#if __has_attribute(swiftcall)
#define SWIFT_CALL __attribute__((swiftcall))
#else
#define SWIFT_CALL
#endif

//===-- made ---------------------------------------------------------------------------------------------------------===//

struct task_and_context {
    void *task, *context;
};

SWIFT_CALL struct task_and_context swift_task_create(size_t flags, void *options, const void *type, void *function,
                                                     void *closure);

__attribute__((weak)) SWIFT_CALL struct task_and_context swift_task_create(size_t flags, void *options,
                                                                           const void *type, void *function,
                                                                           void *closure) {
    struct task_and_context made = REAL(swift_task_create)(flags, options, type, function, closure);
    struct joined *joined = &runloop_simulation__joined;
    if (is_simulated() && joined->world->created)
        joined->world->created(joined->simulation, made.task);
    return made;
}

//===-- cancelled ----------------------------------------------------------------------------------------------------===//

static void say(void *task) {
    struct joined *joined = &runloop_simulation__joined;
    if (is_simulated() && joined->world->cancels)
        joined->world->cancels(joined->simulation, task);
}

/// Each is given a task or a group, and passes it on to the runtime, as these do.
#define CANCEL(function, symbol, task)                                                                                 \
    void function(void *) __asm__(symbol);                                                                             \
    __attribute__((weak)) void function(void *object) {                                                                \
        static _Atomic(void *) found;                                                                                  \
        say(task);                                                                                                     \
        ((void (*)(void *))runloop_simulation__find(&found, symbol))(object);                                          \
    }

// Task.cancel, UnsafeCurrentTask.cancel, and cancelAll of the four kinds of groups.
CANCEL(runloop_simulation__cancel_task, "$sScT6cancelyyF", object)
CANCEL(runloop_simulation__cancel_current, "$sSct6cancelyyF", object)
CANCEL(runloop_simulation__cancel_group, "$sScG9cancelAllyyF", NULL)
CANCEL(runloop_simulation__cancel_throwing, "$sScg9cancelAllyyF", NULL)
CANCEL(runloop_simulation__cancel_discarding, "$ss19DiscardingTaskGroupV9cancelAllyyF", NULL)
CANCEL(runloop_simulation__cancel_both, "$ss27ThrowingDiscardingTaskGroupV9cancelAllyyF", NULL)

//===-- thrown -------------------------------------------------------------------------------------------------------===//

typedef void throw_handler(void *error);
typedef void typed_throw_handler(void *value, const void *type, const void *witnesses);

static throw_handler *_Atomic former;
static typed_throw_handler *_Atomic former_typed;

static void note(void *error, const void *type) {
    struct joined *joined = &runloop_simulation__joined;
    if (is_simulated() && joined->world->thrown && (error || type))
        joined->world->thrown(joined->simulation, error, type);
}

static void note_throw(void *error) {
    note(error, NULL);
    throw_handler *next = former;
    if (next)
        next(error);
}

static void note_typed_throw(void *value, const void *type, const void *witnesses) {
    note(NULL, type);
    typed_throw_handler *next = former_typed;
    if (next)
        next(value, type, witnesses);
}

/// The runtime has a variable for each, NULL or what it calls.
static void follow(void) {
    _Atomic(throw_handler *) *handler = dlsym(RTLD_DEFAULT, "_swift_willThrow");
    _Atomic(typed_throw_handler *) *typed_handler = dlsym(RTLD_DEFAULT, "_swift_willThrowTypedImpl");
    if (handler) {
        former = atomic_load(handler);
        atomic_store(handler, note_throw);
    }
    // Without one, the runtime makes an error of the value, and calls the other one.
    if (typed_handler && atomic_load(typed_handler)) {
        former_typed = atomic_load(typed_handler);
        atomic_store(typed_handler, note_typed_throw);
    }
}

void runloop_simulation_follow_throws(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, follow);
}
#endif // __linux__
