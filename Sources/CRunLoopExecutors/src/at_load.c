// at_load.c — the executors are installed when the program is loaded, because an async `main` has the runtime choose its executors before
// the first statement. The order of sets and dictionaries. And the hook of the Swift runtime through which an async `main` waits.

#ifdef __linux__
#include "runloop_executors.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

//===-- at load ------------------------------------------------------------------------------------------------------===//

// Of the products that are linked.

/// RunLoopKitMainActor
extern void runloop_install_main_actor(void) __attribute__((weak));
/// RunLoopKitSingleThread
extern void runloop_install_single_thread(void) __attribute__((weak));
/// RunLoopKitSimulation, whose executors pass on what no simulation owns to those before them
extern void runloop_install_simulation(void) __attribute__((weak));

/// What the runtime hashes with: drawn for each process, and mixed with the address of each table, unless it is deterministic.
extern struct {
    uint64_t seeds[2];
    bool is_deterministic;
} _swift_stdlib_Hashing_parameters __attribute__((weak));

/// So that a simulated program goes the same way in each process. As SWIFT_DETERMINISTIC_HASHING in the environment has it, which is read
/// before. No table has been made yet.
static void fix_hashing(void) {
    if (!&_swift_stdlib_Hashing_parameters)
        return;
    _swift_stdlib_Hashing_parameters.seeds[0] = 0;
    _swift_stdlib_Hashing_parameters.seeds[1] = 0;
    _swift_stdlib_Hashing_parameters.is_deterministic = true;
}

__attribute__((constructor)) static void install_executors(void) {
    if (runloop_install_simulation)
        fix_hashing();
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
#endif // __linux__
