// runloop_executors.h — what the products that run and list tasks need in C: the hook of an async `main`, memory
// that may be gone, Foundation's loop. And code that runs when the program is loaded, which has nothing to declare.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_EXECUTORS_H
#define RUNLOOP_EXECUTORS_H
#ifdef __linux__

#include <stdbool.h>
#include <stdint.h>

#if defined(__clang__)
#define RUNLOOP_EXECUTORS_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define RUNLOOP_EXECUTORS_SENDABLE
#endif

/// Has the Swift runtime call `serve` when it would give the initial thread away for ever, on that thread. `serve` never
/// returns. false, and nothing happens, when there is no Swift runtime or it has no such hook. Before the first `await`.
bool runloop_take_over_async_main(void (*RUNLOOP_EXECUTORS_SENDABLE serve)(void));

/// Reads two words at an address, whatever is there now. False, and nothing is written, if it is no memory or the process may not ask.
bool runloop_read_words(uintptr_t address, uintptr_t *first, uintptr_t *second);

/// Has Foundation's loop of the initial thread call `perform` there whenever it runs in a common mode and `descriptor` is readable, also
/// in a run that is nested in such a call. Until runloop_foundation_end_watch. NULL without Foundation, or if memory or
/// descriptors ran out.
void *runloop_foundation_watch(int descriptor, void (*RUNLOOP_EXECUTORS_SENDABLE perform)(void));
void runloop_foundation_end_watch(void *watch);

/// Has `begun` and `ends` called on the initial thread at the beginning and the end of each run of Foundation's loop there, in common modes. For
/// ever; once in a program. Does nothing without Foundation.
void runloop_foundation_observe(void (*RUNLOOP_EXECUTORS_SENDABLE begun)(void),
                                void (*RUNLOOP_EXECUTORS_SENDABLE ends)(void));

#endif // __linux__
#endif // RUNLOOP_EXECUTORS_H
