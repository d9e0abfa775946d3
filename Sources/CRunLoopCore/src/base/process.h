// process.h — the process, and which of its forks this one is (process.c).
#ifndef RUNLOOP_PROCESS_H
#define RUNLOOP_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/// Counts forks, from 1. Lies in a page that the kernel wipes in a forked child, so that 0 means "a child that has not noticed yet".
extern _Atomic uint32_t *runloop__generation_word;
uint32_t runloop__begin_generation(void);

static inline uint32_t runloop__generation(void) {
    uint32_t generation = atomic_load_explicit(runloop__generation_word, memory_order_relaxed);
    return __builtin_expect(generation != 0, 1) ? generation : runloop__begin_generation();
}

#endif // RUNLOOP_PROCESS_H
