// instrumented.c — what the compiler makes the core and the scenes call: with -fsanitize=thread it puts a call before each plain access to
// memory, and in place of each atomic operation. These are the functions, in place of those of the thread sanitizer.

#include <string.h>

#include "internal.h"

#define CODE __builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) {
    (void)caller;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

//===-- plain accesses -----------------------------------------------------------------------------------------------===//

#define PLAIN(size)                                                                                                    \
    void __tsan_read##size(void *address);                                                                             \
    void __tsan_read##size(void *address) {                                                                            \
        memory_read(address, size, CODE);                                                                              \
    }                                                                                                                  \
    void __tsan_write##size(void *address);                                                                            \
    void __tsan_write##size(void *address) {                                                                           \
        memory_write(address, size, CODE);                                                                             \
    }                                                                                                                  \
    void __tsan_unaligned_read##size(void *address);                                                                   \
    void __tsan_unaligned_read##size(void *address) {                                                                  \
        memory_read(address, size, CODE);                                                                              \
    }                                                                                                                  \
    void __tsan_unaligned_write##size(void *address);                                                                  \
    void __tsan_unaligned_write##size(void *address) {                                                                 \
        memory_write(address, size, CODE);                                                                             \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, uintptr_t size);
void __tsan_read_range(void *address, uintptr_t size) {
    memory_read(address, size, CODE);
}
void __tsan_write_range(void *address, uintptr_t size);
void __tsan_write_range(void *address, uintptr_t size) {
    memory_write(address, size, CODE);
}

void *__tsan_memset(void *address, int byte, uintptr_t size);
void *__tsan_memset(void *address, int byte, uintptr_t size) {
    memory_write(address, size, CODE);
    return memset(address, byte, size);
}
void *__tsan_memcpy(void *to, const void *from, uintptr_t size);
void *__tsan_memcpy(void *to, const void *from, uintptr_t size) {
    memory_read(from, size, CODE);
    memory_write(to, size, CODE);
    return memcpy(to, from, size);
}

//===-- atomic operations --------------------------------------------------------------------------------------------===//

#define CHANGE(bits, type, name, change)                                                                               \
    type __tsan_atomic##bits##_##name(volatile type *address, type operand, int order);                                \
    type __tsan_atomic##bits##_##name(volatile type *address, type operand, int order) {                               \
        return (type)atomics_change(address, sizeof(type), change, operand, order, CODE);                              \
    }

#define COMPARE_EXCHANGE(bits, type, name, weak)                                                                       \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *address, type *expected, type value, int success, \
                                                      int failure);                                                    \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *address, type *expected, type value, int success, \
                                                      int failure) {                                                   \
        uint64_t found = *expected;                                                                                    \
        struct orders orders = {.success = success, .failure = failure, .is_weak = weak};                              \
        bool done = atomics_compare_exchange(address, sizeof(type), &found, value, orders, CODE);                      \
        if (!done)                                                                                                     \
            *expected = (type)found;                                                                                   \
        return done;                                                                                                   \
    }

/// As clang makes it of either: what was found.
#define COMPARE_EXCHANGE_VALUE(bits, type)                                                                             \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int success,    \
                                                    int failure);                                                      \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int success,    \
                                                    int failure) {                                                     \
        uint64_t found = expected;                                                                                     \
        struct orders orders = {.success = success, .failure = failure};                                               \
        atomics_compare_exchange(address, sizeof(type), &found, value, orders, CODE);                                  \
        return (type)found;                                                                                            \
    }

#define ATOMIC(bits, type)                                                                                             \
    type __tsan_atomic##bits##_load(const volatile type *address, int order);                                          \
    type __tsan_atomic##bits##_load(const volatile type *address, int order) {                                         \
        return (type)atomics_load(address, sizeof(type), order, CODE);                                                 \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile type *address, type value, int order);                                   \
    void __tsan_atomic##bits##_store(volatile type *address, type value, int order) {                                  \
        atomics_store(address, sizeof(type), value, order, CODE);                                                      \
    }                                                                                                                  \
    CHANGE(bits, type, exchange, EXCHANGE)                                                                             \
    CHANGE(bits, type, fetch_add, ADD)                                                                                 \
    CHANGE(bits, type, fetch_sub, SUB)                                                                                 \
    CHANGE(bits, type, fetch_and, AND)                                                                                 \
    CHANGE(bits, type, fetch_or, OR)                                                                                   \
    CHANGE(bits, type, fetch_xor, XOR)                                                                                 \
    COMPARE_EXCHANGE(bits, type, strong, false)                                                                        \
    COMPARE_EXCHANGE(bits, type, weak, true)                                                                           \
    COMPARE_EXCHANGE_VALUE(bits, type)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
    atomics_fence(order);
}
/// A fence for the compiler: executions here are in the order of the program.
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) {
    (void)order;
}
