// frames.h — a run loop under a loop of frames: SDL, GLFW, raylib, a game engine. Copy it into a program.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_FRAMES_H
#define RUNLOOP_FRAMES_H

#include <poll.h>
#include <runloop.h>

/// Once per frame, on the thread that began the hosted run (runloop_hosted_begin): serves what is ready, for at most `budget_ns` and the
/// rest of the call-out that runs then. What is left comes in the next frame. A frame with nothing to do costs one system call.
/// Returns what runloop_hosted_iterate does: 0, -EAGAIN if there is more, a runloop_result when the run has ended, or a negative errno.
static inline int runloop_serve_frame(int64_t budget_ns) {
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    return poll(&waited, 1, 0) == 1 ? runloop_hosted_iterate(budget_ns) : 0;
}

#endif // RUNLOOP_FRAMES_H
