// runloop_publish.h — a process that lets itself be looked at while it runs, by runloop-top and others. Part of runloop_diagnostics.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_PUBLISH_H
#define RUNLOOP_PUBLISH_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Publishes the reports on the process's loops, as a Unix stream socket at `path`. Each connection is a request: a client that connects is
/// sent a JSON array of runloop_copy_report's objects, and the end of the stream; what it sends is not read. The reports are on the loop of
/// the calling thread, which is followed from then on as with statistics, and on all with statistics, a recorder or a watchdog. Processes
/// of other users are sent nothing. A thread of the process serves the socket, so it answers when loops hang; it waits for no client, and
/// when a ninth comes, it drops the one that has taken longest. NULL stands for `runloop-PID.sock` in $XDG_RUNTIME_DIR or else in
/// `/tmp/runloop-UID`, a folder that is the user's alone. A socket that a process left there when it ended is replaced. A forked child
/// isn't published, and may publish itself. Any thread. O(1).
/// Errors: -EBUSY: the process is published already; -EADDRINUSE: there is a file, or another process's socket; -EINVAL: an empty path;
/// -ENAMETOOLONG: more than 107 bytes; -EPERM: the folder in /tmp is another user's, or open to others; -ENOENT, -EACCES: the directory is
/// none, or may not be written to, or what else bind(2) says; -EAGAIN: no thread can be made; -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: there is
/// none left for it, or the thread has no loop yet, and none can be made; -ESHUTDOWN.
RUNLOOP_EXPORT int runloop_publish(const char *path);
/// Ends the publication of the process's loops, and removes the socket, if it is still the one at its path. A process that ends without
/// this leaves it there. Does nothing if the process isn't published; in a forked child, it leaves its parent's alone. Any thread. O(1).
RUNLOOP_EXPORT void runloop_unpublish(void);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_PUBLISH_H
