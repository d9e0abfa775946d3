// runloop-glib.h — a run loop under GLib's main loop: GTK, GStreamer, GIO. Copy it and runloop-glib.c into a program, or link
// librunloop-glib.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_GLIB_H
#define RUNLOOP_GLIB_H

#include <glib.h>
#include <runloop.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The priority of the source, which is that of GTK's redrawing: a loop that always has work and a window that always has to be drawn take
/// turns. GLib calls no source while one of higher priority (a smaller number) is ready, so a higher one here keeps GTK from drawing, and a
/// lower one, such as G_PRIORITY_DEFAULT_IDLE, has every frame drawn first, even if drawing leaves no time for anything else.
/// g_source_set_priority gives the source another one at any time.
#define RUNLOOP_GLIB_PRIORITY (G_PRIORITY_HIGH_IDLE + 20)

/// Called when the run has ended by itself, with a runloop_result or a negative errno.
typedef void (*runloop_glib_ended)(int result, void *info);

/// Serves the calling thread's run loop in `mode` under a context of GLib's (NULL: the default one), which that thread iterates, whenever
/// that has nothing of higher priority than RUNLOOP_GLIB_PRIORITY to do, for about a millisecond at a time. `ended` may be NULL. O(1).
/// Returns: a source that is attached and owned by the context; or NULL with the reason in `*error` (may be NULL): a runloop_result if
/// there is nothing to serve, or an error.
/// Errors: those of runloop_hosted_begin.
GSource *runloop_glib_attach(GMainContext *context, const char *mode, runloop_glib_ended ended, void *info, int *error);

/// Ends the run, on its thread. Not after it has ended by itself, and not in a callback of the run loop, where runloop_stop ends it.
void runloop_glib_detach(GSource *source);

#ifdef __cplusplus
}
#endif

#endif // RUNLOOP_GLIB_H
