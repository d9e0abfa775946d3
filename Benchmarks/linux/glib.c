// glib.c — W14 on GLib, with GIO's monitors of files.

#include <gio/gio.h>
#include <glib-unix.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>

#include "events.h"

extern char **environ;
static GMainLoop *loop;

void events_open(void) {
    loop = g_main_loop_new(NULL, FALSE);
}

static gboolean signalled(gpointer told) {
    ((void (*)(void))told)();
    return G_SOURCE_CONTINUE;
}

void events_watch_signal(void (*told)(void)) {
    // GLib takes this signal among a few.
    g_unix_signal_add(SIGUSR1, signalled, (gpointer)told);
}

static void changed(GFileMonitor *monitor, GFile *file, GFile *other, GFileMonitorEvent event, gpointer told) {
    (void)monitor, (void)file, (void)other;
    if (event == G_FILE_MONITOR_EVENT_CHANGED)
        ((void (*)(void))told)();
}

void events_watch_file(const char *path, void (*told)(void)) {
    GFile *file = g_file_new_for_path(path);
    GFileMonitor *monitor = g_file_monitor_file(file, G_FILE_MONITOR_NONE, NULL, NULL);
    if (!monitor)
        abort();
    // Without it, changes are reported once in 800 ms.
    g_file_monitor_set_rate_limit(monitor, 0);
    g_signal_connect(monitor, "changed", G_CALLBACK(changed), (gpointer)told);
    g_object_unref(file);
}

static void exited(GPid pid, gint status, gpointer told) {
    (void)status;
    g_spawn_close_pid(pid);
    ((void (*)(void))told)();
}

void events_watch_child(const char *program, const char *argument, void (*told)(void)) {
    char *arguments[] = {(char *)program, (char *)argument, NULL};
    pid_t pid;
    if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0)
        abort();
    g_child_watch_add(pid, exited, (gpointer)told);
}

void events_run(void) {
    g_main_loop_run(loop);
}

void events_stop(void) {
    g_main_loop_quit(loop);
}
