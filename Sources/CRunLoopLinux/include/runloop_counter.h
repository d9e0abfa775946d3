// runloop_counter.h — a number that anybody adds to, and that the loop takes. Part of runloop_linux.h, whose general rules hold.
//
// An eventfd: the way to reach a loop from a signal handler with more than a mark, from another process that has the descriptor, and from
// libraries and kernel interfaces that take an eventfd (io_uring, KVM, aio). Within a process runloop_source_signal costs less.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_COUNTER_H
#define RUNLOOP_COUNTER_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A number that anybody adds to, and that a loop takes.
/// If it is in several loops, one of them takes the sum. After its end, additions have no effect.
typedef runloop_source runloop_counter;

/// The configuration of a counter, which is copied.
typedef struct runloop_counter_config {
    runloop_context context;
    /// On the loop's thread, in the modes of the source: once for all that was added since the last call, with the sum, at least 1. May be NULL.
    void (*RUNLOOP_SENDABLE counted)(runloop_counter *counter, uint64_t sum, void *info);
} runloop_counter_config;

/// Makes a counter, which is 0. Its eventfd, which does not block, is runloop_source_get_descriptor, for interfaces that take a descriptor; to write
/// eight bytes there is to add. O(1).
/// Errors: -EMFILE, -ENFILE: it needs a descriptor; -ENOMEM; -EINVAL.
RUNLOOP_EXPORT int runloop_counter_create(const runloop_counter_config *config, runloop_counter **out);

/// Adds to the counter, and wakes the loop if it sleeps in a mode of the source. Additions wait while the source is in no such mode. Any
/// thread, signal handlers, forked children included (which wakes the parent). O(1), one system call.
/// Errors: -EAGAIN: the sum would exceed 2^64 - 2, and nothing was added; -EINVAL: the value is 0, or one that the kernel can't add, 2^64 -
/// 1.
RUNLOOP_EXPORT int runloop_counter_add(runloop_counter *counter, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_COUNTER_H
