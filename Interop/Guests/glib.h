// glib.h — GLib in a run loop: what GIO, libsoup, GStreamer and GTK attach to a main context is served by ours. Copy glib.h and glib.c.
#ifndef GUESTS_GLIB_H
#define GUESTS_GLIB_H

#include <glib.h>
#include <runloop_foreign.h>

/// Serves `context` (NULL: the default one) in `mode` of the calling thread's loop. The thread owns the context from here on. The source
/// belongs to the caller; NULL if another thread owns the context, or on a lack of memory or descriptors.
runloop_foreign_source *glib_guest_attach(GMainContext *context, const char *mode);

/// Ends that, on the same thread.
void glib_guest_detach(runloop_foreign_source *source);

#endif // GUESTS_GLIB_H
