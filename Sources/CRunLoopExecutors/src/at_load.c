// at_load.c — the executors are installed when the program is loaded, because an async `main` has the runtime choose its executors before
// the first statement. And the hook of the Swift runtime through which an async `main` waits.

#include "runloop_executors.h"

#include <stddef.h>
#include <stdlib.h>

//===-- at load ------------------------------------------------------------------------------------------------------===//

// Of the products that are linked.

/// RunLoopKitMainActor
extern void runloop_install_main_actor(void) __attribute__((weak));
/// RunLoopKitSingleThread
extern void runloop_install_single_thread(void) __attribute__((weak));
/// RunLoopKitSimulation, whose executors pass on what no simulation owns to those before them
extern void runloop_install_simulation(void) __attribute__((weak));

__attribute__((constructor)) static void install_executors(void) {
    if (runloop_install_single_thread)
        runloop_install_single_thread();
    else if (runloop_install_main_actor)
        runloop_install_main_actor();
    if (runloop_install_simulation)
        runloop_install_simulation();
}

//===-- the hook -----------------------------------------------------------------------------------------------------===//

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

bool runloop_take_over_async_main(void (*serve)(void)) {
    if (!&swift_task_asyncMainDrainQueue_hook || !serve)
        return false;
    serve_main_thread = serve;
    swift_task_asyncMainDrainQueue_hook = drain;
    return true;
}
