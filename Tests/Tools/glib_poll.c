// glib_poll.c — loaded into a program on GLib (LD_PRELOAD), it has each of GLib's main contexts wait in our run loop: a mode with a descriptor
// source for each descriptor, run until one is ready or the time is up. Tests/bin/glib-suite.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glib.h>
#include <poll.h>
#include <runloop.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic long waits; ///< in our loop

static void end_wait(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
}

static runloop_readiness events_of(const GPollFD *waited) {
    runloop_readiness events = 0;
    if (waited->events & (G_IO_IN | G_IO_PRI))
        events |= RUNLOOP_READABLE;
    if (waited->events & G_IO_OUT)
        events |= RUNLOOP_WRITABLE;
    return events ? events : RUNLOOP_READABLE;
}

/// NULL if the loop can't wait for it: a regular file, or none that is open.
static runloop_source *wait_for(const GPollFD *waited, const char *mode) {
    runloop_descriptor_config config = {.descriptor = waited->fd, .events = events_of(waited), .ready = end_wait};
    runloop_source *source;
    if (runloop_descriptor_source_create(&config, &source) != 0)
        return NULL;
    if (runloop_add_source(runloop_current(), source, mode) == 0)
        return source;
    runloop_source_release(source);
    return NULL;
}

static gint wait_in_our_loop(GPollFD *descriptors, guint count, gint timeout) {
    static _Thread_local int depth;
    struct pollfd *polled = (struct pollfd *)descriptors;
    int ready = poll(polled, count, 0);
    if (ready != 0 || timeout == 0 || !runloop_current())
        return ready;
    char mode[32];
    snprintf(mode, sizeof mode, "GLib %d", depth++);
    runloop_source **sources = calloc(count + 1, sizeof *sources);
    guint watched = 0;
    while (sources && watched < count && (sources[watched] = wait_for(&descriptors[watched], mode)))
        watched++;
    if (watched == count && count > 0) {
        waits++;
        runloop_run_in_mode(mode, timeout < 0 ? RUNLOOP_FOREVER : timeout * INT64_C(1000000), true);
        timeout = 0;
    }
    for (guint i = 0; i < watched; i++) {
        runloop_source_invalidate(sources[i]);
        runloop_source_release(sources[i]);
    }
    free(sources);
    depth--;
    return poll(polled, count, timeout);
}

static GMainContext *with_our_wait(GMainContext *context) {
    g_main_context_set_poll_func(context, wait_in_our_loop);
    return context;
}

GMainContext *g_main_context_new(void) {
    return with_our_wait(((GMainContext * (*)(void)) dlsym(RTLD_NEXT, "g_main_context_new"))());
}

__attribute__((constructor)) static void begin(void) {
    with_our_wait(g_main_context_default());
}

/// For who wants to know that the waits were ours.
__attribute__((destructor)) static void end(void) {
    const char *path = getenv("RUNLOOP_TEST_WAITS");
    FILE *file = path && waits > 0 ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%ld\n", waits);
    fclose(file);
}
