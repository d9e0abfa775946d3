// glib.c — every scene of host_scenes.h under GLib's main context, by Interop/Hosts/runloop-glib.c.
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

// The priority of GTK's redrawing.
#define REDRAW (G_PRIORITY_HIGH_IDLE + 20)
#define HOST_TURNS 2
static GSource *repeated[HOST_TURNS];

static gboolean count_turn(gpointer count) {
    ++*(int *)count;
    return G_SOURCE_CONTINUE;
}

static void host_begin_turns(int turns[HOST_TURNS]) {
    repeated[0] = g_timeout_source_new(1);
    repeated[1] = g_idle_source_new();
    for (int i = 0; i < HOST_TURNS; i++) {
        g_source_set_priority(repeated[i], REDRAW);
        g_source_set_callback(repeated[i], count_turn, &turns[i], NULL);
        g_source_attach(repeated[i], context);
    }
}

static void host_end_turns(void) {
    for (int i = 0; i < HOST_TURNS; i++) {
        g_source_destroy(repeated[i]);
        g_source_unref(repeated[i]);
    }
}

#include "host_turns.h"

TEST(
    "R104 hosted: at a lower priority than GTK's redrawing everything is drawn first, and then the loop has its turn") {
    int drawn = 0;
    begin_quietly();
    g_source_set_priority(source, G_PRIORITY_DEFAULT_IDLE);
    GSource *redraw = g_idle_source_new();
    g_source_set_priority(redraw, REDRAW);
    g_source_set_callback(redraw, count_turn, &drawn, NULL);
    g_source_attach(redraw, context);
    EXPECT_EQ(runloop_post(loop, MODE, count_task, &counts[0], NULL), 0);
    for (int i = 0; i < 100; i++)
        host_iterate(100 * MS);
    EXPECT_EQ(drawn, 100);
    EXPECT_EQ(counts[0], 0);
    g_source_destroy(redraw);
    g_source_unref(redraw);
    HOST_UNTIL(counts[0] == 1);
    host_detach();
}
