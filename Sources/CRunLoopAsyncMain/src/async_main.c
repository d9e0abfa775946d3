// async_main.c — the hook of the Swift runtime through which an async `main` waits. It is exported but not documented, so it is
// a weak reference, and in a library of its own.

#include "runloop_async_main.h"

#include <stddef.h>
#include <stdlib.h>

typedef void (*drain_function)(void);
typedef void (*drain_hook)(drain_function original, drain_function override);

extern drain_hook swift_task_asyncMainDrainQueue_hook __attribute__((weak));

/// Written before the first `await` of `main`, on the thread that reads it at that `await`.
static void (*serve_main_thread)(void);

static void drain(drain_function original, drain_function override) {
    (void)original;
    (void) override;
    serve_main_thread();
    // The runtime would do the same: there is nothing to return to.
    abort();
}

bool runloop_async_main_take_over(void (*serve)(void)) {
    if (!&swift_task_asyncMainDrainQueue_hook || !serve)
        return false;
    serve_main_thread = serve;
    swift_task_asyncMainDrainQueue_hook = drain;
    return true;
}
