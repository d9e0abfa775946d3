// glib.c — the servers on GLib's main context: a custom source per descriptor, as GLib recommends for many descriptors.

#include <glib-unix.h>
#include <unistd.h>

#include "loop.h"

struct loop_watch {
    GSource source;
    gpointer tag;
    loop_ready ready;
    void *info;
    int descriptor;
};

static GMainLoop *loop;

void loop_open(void) {
    loop = g_main_loop_new(NULL, FALSE);
}

static gboolean check(GSource *source) {
    return g_source_query_unix_fd(source, ((struct loop_watch *)source)->tag) != 0;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer info) {
    (void)callback, (void)info;
    const struct loop_watch *watch = (struct loop_watch *)source;
    watch->ready(watch->info);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs functions = {.check = check, .dispatch = dispatch};

struct loop_watch *loop_watch_start(int descriptor, loop_ready ready, void *info) {
    struct loop_watch *watch = (struct loop_watch *)g_source_new(&functions, sizeof *watch);
    watch->ready = ready;
    watch->info = info;
    watch->descriptor = descriptor;
    watch->tag = g_source_add_unix_fd(&watch->source, descriptor, G_IO_IN);
    g_source_attach(&watch->source, NULL);
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    g_source_modify_unix_fd(&watch->source, watch->tag, direction == LOOP_READING ? G_IO_IN : G_IO_OUT);
}

void loop_watch_end(struct loop_watch *watch) {
    close(watch->descriptor);
    g_source_destroy(&watch->source);
    g_source_unref(&watch->source);
}

void loop_run(void) {
    g_main_loop_run(loop);
}

void loop_stop(void) {
    g_main_loop_quit(loop);
}
