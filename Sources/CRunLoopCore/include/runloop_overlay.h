//===----------------------------------------------------------------------===//
// runloop_overlay.h — what the Swift overlay shares with the core beside runloop.h, and nobody else: it is built with the core, in
// one package. Not installed, not exported from the shared library, and free to change.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_OVERLAY_H
#define RUNLOOP_OVERLAY_H

#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a thread knows of its own loop; nobody else reads or writes it. `registry.c`
struct runloop__this_thread {
    /// NULL before it asks for one, and after its end.
    runloop *loop;
    /// Of its destructors.
    unsigned passes;
    /// Why there is no loop.
    int error;
    /// Its loop has been torn down, and there will be no other.
    bool has_ended;
};
#if defined(__GNUC__) && !defined(RUNLOOP_DYNAMIC_TLS)
__attribute__((tls_model("initial-exec")))
#endif
/// That of the calling thread.
extern __thread struct runloop__this_thread runloop__this_thread;

/// A load; unlike runloop_current, which knows that the initial thread may not have asked for its loop yet.
static inline runloop *runloop__thread_loop(void) {
    return runloop__this_thread.loop;
}
/// A load and a comparison; unlike runloop_is_current, which knows that as well.
static inline bool runloop__is_thread_loop(const runloop *loop) {
    return runloop__this_thread.loop == loop;
}

/// The interned names of two modes: constants, so who runs in them looks nothing up.
extern const char runloop__default_mode[], runloop__common_modes[];
/// The name of the default mode.
static inline const char *runloop__name_of_default_mode(void) {
    return runloop__default_mode;
}
/// The name that stands for all common modes.
static inline const char *runloop__name_of_common_modes(void) {
    return runloop__common_modes;
}

/// Posts a function whose `info` is two words long, as a closure is: in the mode named `mode` or, if that is NULL, in several. The
/// words are copied; the function, or `discard`, is given the address of a copy, which lasts until it returns. After an error the
/// words are still the caller's.
int runloop__post_pair(runloop *loop, const char *mode, const char *const *modes, size_t count,
                       runloop_function function, const void *pair, runloop_function discard);

/// How the objects of the overlay are kept, the same for all: to be told before the first of them is made. None makes a
/// call of this library, except that the `release` which ends an object releases its timer or observer. `retain` may be called
/// under locks. `end_timer` is the release of the context of every timer that is part of an object. `call_closure` calls a closure
/// that lies at an address, and leaves it there.
void runloop__set_object_hooks(void (*RUNLOOP_SENDABLE retain)(void *object),
                               void (*RUNLOOP_SENDABLE release)(void *object),
                               void (*RUNLOOP_SENDABLE end_timer)(void *object), runloop_function call_closure);

/// Makes a timer or an observer, which nobody else has yet and which has no info, part of an object that owns the one reference to
/// it. From now on the object is the info. For as long as there are more references, those of loops, the object is retained once:
/// it lives while anybody has the item, and call-outs may borrow it.
void runloop__timer_join_object(runloop_timer *timer, void *object);
void runloop__observer_join_object(runloop_observer *observer, void *object);

/// A closure of Swift, as it lies in memory: a function, which has a convention of its own, and an object (or NULL) that keeps what it
/// captured.
struct runloop__closure {
    /// Is called with `captured`, as Swift calls.
    uintptr_t function;
    /// A reference to what keeps the captures, or NULL.
    void *captured;
};

/// Makes a timer that fires once, in no loop, and calls a closure then. That is all there is of it: no object, and one block, unless
/// it has a tolerance. The two words are copied; the reference to `captured` is the timer's, which releases it as its context. It is
/// added to one loop, and the end of that loop's thread invalidates it. Order 0. One reference, which is the caller's. NULL when
/// memory ran out, or if nobody has said yet how objects are kept: the words are still the caller's.
runloop_timer *runloop__timer_new_closure(const struct runloop__closure *closure, int64_t fire_ns,
                                          int64_t tolerance_ns);

#ifdef __cplusplus
}
#endif

#endif // RUNLOOP_OVERLAY_H
