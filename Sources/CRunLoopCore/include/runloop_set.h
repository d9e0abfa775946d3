// runloop_set.h — how sets of flags are declared. Part of runloop.h, which includes it. A set has 32 bits everywhere. For clang in C, and so
// for Swift and Rust, it is an enumeration, and its flags have its type. Elsewhere it is a number, because in C++ OR-ing two enumerators does not
// yield an enumerator, and GCC 12 does not know that they are flags.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_SET_H
#define RUNLOOP_SET_H
#ifdef __linux__
#include <stdint.h>

#if defined(__clang__) && !defined(__cplusplus)
/// Behind `enum`, before the flags of a set.
#define RUNLOOP_FLAGS(name) __attribute__((flag_enum, enum_extensibility(open))) name
/// Behind the flags: the type of the set.
#define RUNLOOP_SET(name) typedef enum name name
#else
#define RUNLOOP_FLAGS(name)
#define RUNLOOP_SET(name) typedef uint32_t name
#endif

#endif // __linux__
#endif // RUNLOOP_SET_H
