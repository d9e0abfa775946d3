// glib.c — GLib's main loop, on the thread's own context; every handle is a GSource.

#include <glib-unix.h>
#include <glib.h>

#include "../bench.h"

static const char *version(void) {
    static char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", glib_major_version, glib_minor_version, glib_micro_version);
    return text;
}

const struct peer_traits peer_traits = {
    .name = "glib",
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_REPEATS,
};

struct peer_loop {
    GMainContext *context;
    GMainLoop *main;
};

struct peer_loop *peer_open(void) {
    struct peer_loop *loop = malloc(sizeof *loop);
    loop->context = g_main_context_new();
    loop->main = g_main_loop_new(loop->context, FALSE);
    return loop;
}

void peer_close(struct peer_loop *loop) {
    g_main_loop_unref(loop->main);
    g_main_context_unref(loop->context);
    free(loop);
}

void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)limit_ns;
    g_main_loop_run(loop->main);
}

void peer_stop(struct peer_loop *loop) {
    g_main_loop_quit(loop->main);
}

void peer_poll(struct peer_loop *loop) {
    g_main_context_iteration(loop->context, FALSE);
}

//===-- a permanent source that becomes ready at its time ------------------------------------------------------------===//

static gboolean dispatch(GSource *source, GSourceFunc function, gpointer info) {
    g_source_set_ready_time(source, -1);
    return function(info);
}

static GSourceFuncs functions = {.dispatch = dispatch};

static GSource *add(struct peer_loop *loop, GSource *source, GSourceFunc function, void *info) {
    g_source_set_callback(source, function, info, NULL);
    g_source_attach(source, loop->context);
    return source;
}

static gboolean woken(gpointer info) {
    peer_calls.on_wake(info);
    return G_SOURCE_CONTINUE;
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    return (struct peer_wake *)add(loop, g_source_new(&functions, sizeof(GSource)), woken, info);
}

void peer_wake_send(struct peer_wake *wake) {
    g_source_set_ready_time((GSource *)wake, 0);
}

static gboolean signalled(gpointer info) {
    peer_calls.on_signal(info);
    return G_SOURCE_CONTINUE;
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    return (struct peer_signal *)add(loop, g_source_new(&functions, sizeof(GSource)), signalled, info);
}

void peer_signal_send(struct peer_signal *signal) {
    g_source_set_ready_time((GSource *)signal, 0);
}

struct submission {
    void (*function)(void *info);
    void *info;
};

static gboolean perform(gpointer info) {
    struct submission *submission = info;
    submission->function(submission->info);
    free(submission);
    return G_SOURCE_REMOVE;
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    struct submission *submission = malloc(sizeof *submission);
    *submission = (struct submission){function, info};
    GSource *source = g_idle_source_new();
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_unref(add(loop, source, perform, submission));
}

static gboolean ready(gint descriptor, GIOCondition condition, gpointer info) {
    (void)descriptor, (void)condition;
    peer_calls.on_ready(info);
    return G_SOURCE_CONTINUE;
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    GSource *source = g_unix_fd_source_new(descriptor, G_IO_IN);
    return (struct peer_watch *)add(loop, source, G_SOURCE_FUNC(ready), info);
}

static gboolean fired(gpointer info) {
    peer_calls.on_timer(info);
    return peer_calls.interval_ns ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/// GLib's timers have a resolution of a millisecond; rounded up, so that none fires early.
struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    GSource *source = g_timeout_source_new((guint)((delay_ns + 999999) / 1000000));
    return (struct peer_timer *)add(loop, source, fired, info);
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    g_source_set_ready_time((GSource *)timer, g_get_monotonic_time() + delay_ns / 1000);
}

void peer_timer_cancel(struct peer_timer *timer) {
    g_source_destroy((GSource *)timer);
    g_source_unref((GSource *)timer);
}
