// runloop_main_queue.h — the main dispatch queue, and with it Swift's main actor, in a program whose loop is GLib's: GTK, GIO. For programs
// that want nothing else of a run loop, with every Swift from 5.9 on; C11, usable from C++11. What runloop.h says of results holds here, too.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_MAIN_QUEUE_H
#define RUNLOOP_MAIN_QUEUE_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The priority of GTK's redrawing, so that a queue that always has work and a window that always has to be drawn take turns.
#define RUNLOOP_MAIN_QUEUE_PRIORITY 120

/// Has the main dispatch queue, and with it the main actor, served by GLib: whenever the initial thread iterates GLib's default
/// context, as in g_main_loop_run and g_application_run. GLib waits for the queue's descriptor; nothing is polled, and while there is
/// nothing to do nobody is woken. All that the queue has is performed at once. A loop of GLib's that is run inside a block of the
/// queue, or inside a job of the main actor, does not serve the queue, which does not nest: an `async` main is such a job.
///
/// GLib's functions are found in the process; to build this takes nothing of GLib. Called again, it adds a second source, and either
/// serves the queue. A source lasts until it is removed, until the program gives the queue away (dispatch_main), or until another thread
/// iterates the context. The initial thread only, inside callbacks as well. O(1).
///
/// `priority` is the queue's among GLib's sources, of which GLib calls those with smaller numbers first: RUNLOOP_MAIN_QUEUE_PRIORITY,
/// or 200, G_PRIORITY_DEFAULT_IDLE, at which every frame is drawn first. `source_id`, unless it is NULL, gets the source's number, for
/// g_source_remove.
/// Errors: -ENOSYS: there is no libdispatch; -ELIBACC: GLib is not in the process; -EPERM: another thread than the initial one.
RUNLOOP_EXPORT int runloop_main_queue_serve_under_glib(int priority, unsigned *source_id);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_MAIN_QUEUE_H
