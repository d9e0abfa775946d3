// runtime_hooks.c — the hook of the Swift runtime through which an async `main` waits, and the main executor that is installed
// before `main`. One file, so that a linker which takes the first from an archive takes the second, too.

#include "runloop_experimental.h"

#include <stddef.h>
#include <stdlib.h>

//===-- the hook ---------------------------------------------------------------------------------------------------===//

typedef void (*drain_function)(void);
typedef void (*drain_hook)(drain_function original, drain_function override);

/// Exported by the runtime but not documented, hence weak.
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

//===-- the main executor at load ------------------------------------------------------------------------------------===//

/// Defined by a program that asks for it, and never called.
extern void runloop_main_executor_at_load(void) __attribute__((weak));

/// MainLoopExecutor.swift
extern void runloop_install_main_executor(void);

/// The runtime takes a main executor only before it has chosen one, which an async `main` makes it do before its first statement.
__attribute__((constructor)) static void install_main_executor(void) {
    if (runloop_main_executor_at_load)
        runloop_install_main_executor();
}
