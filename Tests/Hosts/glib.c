// glib.c — every scene of host_scenes.h under GLib's main context, by Hosts/runloop-glib.c.
#include "../../Hosts/runloop-glib.h"

#include "items.h"

#define HOST_NESTS 1
static __thread GMainContext *context;
static __thread GSource *source;

static void ended(int result, void *info) {
    (void)result, (void)info;
    source = NULL;
}

static void host_attach(const char *mode) {
    int error;
    if (!context)
        context = g_main_context_new();
    source = runloop_glib_attach(context, mode, ended, NULL, &error);
    EXPECT_EQ(error, 0);
}

static void host_detach(void) {
    if (source)
        runloop_glib_detach(source);
    source = NULL;
}

static gboolean limit_is_over(gpointer is_over) {
    *(bool *)is_over = true;
    return G_SOURCE_REMOVE;
}

static void host_iterate(int64_t limit_ns) {
    bool is_over = false;
    GSource *limit = g_timeout_source_new((guint)((limit_ns + MS - 1) / MS));
    g_source_set_callback(limit, limit_is_over, &is_over, NULL);
    g_source_attach(limit, context);
    g_main_context_iteration(context, TRUE);
    g_source_destroy(limit);
    g_source_unref(limit);
}

#include "host_scenes.h"
