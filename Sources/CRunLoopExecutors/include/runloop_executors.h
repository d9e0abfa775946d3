// runloop_executors.h — what the products that run and list tasks need in C: the hook of an async `main`, the names and lines of code,
// memory that may be gone, Foundation's loop. And code that runs when the program is loaded, which has nothing to declare.
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

/// The name of the function that `code` is in, as it is written in Swift; or, if the program was stripped of such names, the
/// file and the address there, for a symbolizer. From malloc; NULL for what is no code, or if memory ran out.
char *runloop_copy_code_name(const void *code);

/// The line of the program's sources that `code` is from, and its file, for ever. 0 for what is no code, or was stripped of its lines. For a
/// function's return address, ask for the byte before. The first call for a library or the program reads all of its lines.
unsigned runloop_find_code_line(const void *code, const char **directory, const char **file);

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
