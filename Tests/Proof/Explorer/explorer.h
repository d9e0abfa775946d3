// explorer.h — for scenes: small programs of a few threads on the shipped core, of which every order of events is tried (README.md).
#ifndef RUNLOOP_EXPLORER_H
#define RUNLOOP_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCENE_THREADS = 4 };

/// Each thread prepares what is its own, calls `meet` once, and then does what is to be tried; all variables of the program have their first
/// values whenever a scene begins. `at_rest` runs when all threads have ended, and sees what they wrote.
struct scene {
    const char *name, *sentence;
    void (*threads[SCENE_THREADS])(void);
    void (*at_rest)(void);
    unsigned variant;  ///< What `scene_variant` gives, for scenes that differ in it alone.
    bool is_wrong;     ///< The explorer must find a fault in it.
    unsigned at_least; ///< Deviations, even if fewer are asked for.
};

/// SCENE(name, "What holds.", .threads = {…}, …);
#define SCENE(identifier, says, ...)                                                                                   \
    static const struct scene scene_##identifier = {.name = #identifier, .sentence = says, __VA_ARGS__};               \
    __attribute__((section("scenes"), used)) static const struct scene *const listed_##identifier = &scene_##identifier

/// Waits for all other threads of the scene. What comes before it is done in one order only.
void meet(void);
/// What the thread does from now on is done in one order only, as far as it is concerned.
void part(void);
/// One thread tells others that it has come so far, and they wait for it.
void tell(unsigned event);
void await(unsigned event);
unsigned scene_variant(void);
/// The scene fails if the condition does not hold.
#define EXPECT(condition) ((condition) ? (void)0 : expectation_failed(#condition, __FILE__, __LINE__))
_Noreturn void expectation_failed(const char *condition, const char *file, int line);

#endif // RUNLOOP_EXPLORER_H
