// runloop-glib.c — a GSource that waits for the descriptor of a hosted run.
#include "runloop-glib.h"

#include <errno.h>

/// After so much the context's other sources of this priority, and of higher ones, have their turn.
#define BUDGET_NS 1000000

struct hosted_source {
    GSource source;
    gpointer tag; ///< of the descriptor, in the source
    runloop_glib_ended ended;
    void *info;
};

static gboolean check(GSource *source) {
    return g_source_query_unix_fd(source, ((struct hosted_source *)source)->tag) != 0;
}

static gboolean dispatch(GSource *source, GSourceFunc unused, gpointer unused_too) {
    (void)unused, (void)unused_too;
    struct hosted_source *hosted = (struct hosted_source *)source;
    int result = runloop_hosted_iterate(BUDGET_NS);
    if (result == 0 || result == -EAGAIN)
        return G_SOURCE_CONTINUE;
    if (hosted->ended)
        hosted->ended(result, hosted->info);
    return G_SOURCE_REMOVE;
}

static GSourceFuncs functions = {.check = check, .dispatch = dispatch};

GSource *runloop_glib_attach(GMainContext *context, const char *mode, runloop_glib_ended ended, void *info,
                             int *error) {
    int result = runloop_hosted_begin(mode);
    if (error)
        *error = result;
    if (result != 0)
        return NULL;
    struct hosted_source *hosted = (struct hosted_source *)g_source_new(&functions, sizeof *hosted);
    hosted->ended = ended;
    hosted->info = info;
    hosted->tag = g_source_add_unix_fd(&hosted->source, runloop_hosted_descriptor(), G_IO_IN);
    g_source_set_name(&hosted->source, "run loop");
    g_source_set_priority(&hosted->source, RUNLOOP_GLIB_PRIORITY);
    g_source_set_can_recurse(&hosted->source, TRUE); // a dialog in a callback of ours iterates the context
    g_source_attach(&hosted->source, context);
    g_source_unref(&hosted->source);
    return &hosted->source;
}

void runloop_glib_detach(GSource *source) {
    g_source_destroy(source);
    runloop_hosted_end();
}
