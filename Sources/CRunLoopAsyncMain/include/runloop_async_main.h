// runloop_async_main.h — who runs the initial thread of a program whose `main` is async.
#ifndef RUNLOOP_ASYNC_MAIN_H
#define RUNLOOP_ASYNC_MAIN_H

#include <stdbool.h>

#if defined(__clang__)
#define RUNLOOP_ASYNC_MAIN_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define RUNLOOP_ASYNC_MAIN_SENDABLE
#endif

/// Has the Swift runtime call `serve` when it would give the initial thread away for ever, on that thread. `serve` never
/// returns. false, and nothing happens, when there is no Swift runtime or it has no such hook. Before the first `await`.
bool runloop_async_main_take_over(void (*RUNLOOP_ASYNC_MAIN_SENDABLE serve)(void));

#endif // RUNLOOP_ASYNC_MAIN_H
