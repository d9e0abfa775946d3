// runloop_linux.h — what a program on Linux waits for, as sources of a run loop: signals, children, changes of files, dates of
// the wall clock, messages, connections, input, space for output. The one header of librunloop-linux to include; C11, usable from C++11.
// The library is built on runloop.h and uses nothing else of the loop. The general rules of runloop.h hold here, and these:
//
//  - Objects. Each object is a source of the core with a name for its kind: runloop_add_source(loop, watch,
//    RUNLOOP_COMMON_MODES), runloop_source_retain, _release, _is_valid, _set_name, and what else runloop.h says of sources. Its info is the
//    library's. A function that is given a source of another kind answers as if that were NULL.
//  - End. runloop_source_invalidate ends an object for good; so does the release of the last reference. It is idempotent, and allowed on any
//    thread and in the object's own callback, which is not called again. It does not wait for a callback that runs on another thread.
//  - Loops. An object may be in the loops of several threads. Each event is delivered once, by one of them. Calls for two events may then be made
//    by two threads at the same time, and in either order; only those of an input come one at a time, in order.
//  - Descriptors. What an object opens is closed on exec and when the object is freed; the watches of a thread share one. The socket of a
//    listener, the pidfd of a child and the eventfd of a counter are those of the source (runloop_source_get_descriptor), for poll and the
//    like, and not to be closed. Creation gives -EMFILE or -ENFILE where no descriptors are left, and -ENOMEM; then nothing has changed. A
//    descriptor that the program gives to an object is closed by it only if `owns` says so.
//  - The border. What was cut off is not reported as complete, and a call that could not look does not answer "no". Where something else in the
//    process takes what an object relies on (the handler of a signal, the number of a descriptor, the status of a child), the object shares it, or
//    is ended, or a text on standard error says what has happened, once; so it does if an object waits for something that can't come.
//  - Forks. In the child, an inherited object is never called; releasing it changes nothing in the parent, and frees its memory and the
//    child's copies of its descriptors if it was in no mode (a loop of the parent's keeps what it has). A callback may fork: the child
//    returns from it, and from the run around it, which gives -ECHILD. New objects work.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_LINUX_H
#define RUNLOOP_LINUX_H
#ifdef __linux__
#include "runloop.h"
#include "runloop_alarm.h"
#include "runloop_channel.h"
#include "runloop_child.h"
#include "runloop_child_start.h"
#include "runloop_clock_watch.h"
#include "runloop_command.h"
#include "runloop_connect.h"
#include "runloop_counter.h"
#include "runloop_input.h"
#include "runloop_listener.h"
#include "runloop_output.h"
#include "runloop_reaper.h"
#include "runloop_shutdown.h"
#include "runloop_signal.h"
#include "runloop_watch.h"
#endif // __linux__
#endif // RUNLOOP_LINUX_H
