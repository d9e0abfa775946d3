// runloop_experimental.h — what RunLoopKitExperimental asks of the Swift runtime in C: the hook of an async `main`, and code that runs
// when the program is loaded.
#ifndef RUNLOOP_EXPERIMENTAL_H
#define RUNLOOP_EXPERIMENTAL_H

#include <stdbool.h>

#if defined(__clang__)
#define RUNLOOP_EXPERIMENTAL_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define RUNLOOP_EXPERIMENTAL_SENDABLE
#endif

/// Has the Swift runtime call `serve` when it would give the initial thread away for ever, on that thread. `serve` never
/// returns. false, and nothing happens, when there is no Swift runtime or it has no such hook. Before the first `await`.
bool runloop_async_main_take_over(void (*RUNLOOP_EXPERIMENTAL_SENDABLE serve)(void));

#endif // RUNLOOP_EXPERIMENTAL_H
