// runloop_reaper.h — the first process of a container reaps orphans. Part of runloop_linux.h, whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_REAPER_H
#define RUNLOOP_REAPER_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Has orphans reaped, processes whose parents ended before them and that the kernel gives to the first process of a container (PID 1). Without this
/// they remain there as zombies. It is for the first lines of `main`, in a program that is PID 1: `if (getpid() == 1)`. Another one becomes
/// the reaper of the orphans among its own descendants.
///
/// The program is executed once more, with the same arguments and environment, as a child of this process, which does nothing from then on but
/// reap, and pass on the signals that other processes send to it. In the new process the call returns 0 at once; what the program did before
/// is done twice. So a status that somebody in the program waits for (Foundation's Process, Subprocess, this library) is never taken: the
/// program's own children are not those of the reaper. When the program ends, the reaper ends as that did, in a container with all that is
/// left there; when the reaper is killed, so is the program.
///
/// In a shell's job both belong to the foreground, and what the terminal sends reaches both. That it was hung up is sent to the leader of its session
/// alone, which passes that on. SIGCHLD may be ignored: in the new process it is again. LISTEN_PID, if it names the process, names the new one.
/// Any further call has no effect. After an error the program goes on as it is. O(descriptors), once.
/// Errors: -EBUSY: there are other threads already, such as that of a thread sanitizer with which this library was not built (built with it, it
/// counts none); -EAGAIN: too many processes; -EMFILE, -ENFILE; -ENOMEM; -ENOENT: there is no /proc; -EACCES:
/// /proc/self/exe may not be executed.
RUNLOOP_EXPORT int runloop_reap_orphans(void);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_REAPER_H
