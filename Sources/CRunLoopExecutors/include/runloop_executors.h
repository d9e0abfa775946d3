// runloop_executors.h — what RunLoopKitMainActor and RunLoopKitSingleThread need in C: code that runs when the program is loaded, and the
// hook of an async `main`.
#ifndef RUNLOOP_EXECUTORS_H
#define RUNLOOP_EXECUTORS_H

#include <stdbool.h>

#if defined(__clang__)
#define RUNLOOP_EXECUTORS_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define RUNLOOP_EXECUTORS_SENDABLE
#endif

/// Has the Swift runtime call `serve` when it would give the initial thread away for ever, on that thread. `serve` never
/// returns. false, and nothing happens, when there is no Swift runtime or it has no such hook. Before the first `await`.
bool runloop_take_over_async_main(void (*RUNLOOP_EXECUTORS_SENDABLE serve)(void));

#endif // RUNLOOP_EXECUTORS_H
