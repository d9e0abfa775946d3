// glib.c — GLib's main context in our loop, by Interop/Guests/glib.c; and between GLib above and GLib below, by Interop/Hosts/runloop-glib.c.
#include "../../Guests/glib.h"
#include "../../Hosts/runloop-glib.h"

#include <glib-unix.h>

#include "items.h"

static runloop_foreign_source *guest;
static GMainContext *context;

static void begin(void) {
    context = g_main_context_new();
    guest = glib_guest_attach(context, MODE);
    REQUIRE(guest);
}

static void end(void) {
    glib_guest_detach(guest);
    g_main_context_unref(context);
}

/// Attaches it to the guest, which then has the only reference.
static void give(GSource *source, GSourceFunc function, void *info) {
    g_source_set_callback(source, function, info, NULL);
    g_source_attach(source, context);
    g_source_unref(source);
}

static gboolean count(gpointer counter) {
    ++*(int *)counter;
    return G_SOURCE_REMOVE;
}

static gboolean count_on(gpointer counter) {
    ++*(int *)counter;
    return G_SOURCE_CONTINUE;
}

static gboolean count_and_read(gint descriptor, GIOCondition condition, gpointer counter) {
    (void)condition;
    take(descriptor);
    ++*(int *)counter;
    return G_SOURCE_CONTINUE;
}

static void count_fire(runloop_timer *timer, void *counter) {
    (void)timer;
    ++*(int *)counter;
}

static void stop(void *info) {
    (void)info;
    runloop_stop(runloop_current());
}

TEST("idle sources, timeouts and descriptors of GLib's are served, never early") {
    int idles = 0, timeouts = 0, reads = 0, descriptor = make_eventfd(0);
    begin();
    int64_t start_ns = runloop_now_ns();
    give(g_idle_source_new(), count, &idles);
    give(g_timeout_source_new(20), count, &timeouts);
    GSource *reader = g_unix_fd_source_new(descriptor, G_IO_IN);
    give(reader, (GSourceFunc)(void (*)(void))count_and_read, &reads);
    while (timeouts == 0)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(runloop_now_ns() - start_ns >= 20 * MS);
    EXPECT_EQ(idles, 1);
    bump(descriptor);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(reads, 1);
    // Now there is nothing to do.
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!runloop_has_work(MODE));
    give(g_idle_source_new(), count, &idles);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(idles, 2);
    end();
}

TEST("an idle source that stays starves no timer of ours") {
    int idles = 0, fires = 0;
    begin();
    GSource *idle = g_idle_source_new();
    g_source_ref(idle);
    give(idle, count_on, &idles);
    add_timer(MODE, 0, MS, count_fire, &fires);
    while (fires < 5)
        run_for(MODE, MS);
    EXPECT(idles > 5);
    g_source_destroy(idle);
    g_source_unref(idle);
    end();
}

static runloop *loop;
static int invoked;

static gboolean is_invoked(gpointer info) {
    (void)info;
    EXPECT(runloop_is_current(loop));
    if (++invoked == 100)
        runloop_stop(loop);
    return G_SOURCE_REMOVE;
}

static void *invoke(void *info) {
    (void)info;
    for (int i = 0; i < 100; i++) {
        g_main_context_invoke(context, is_invoked, NULL);
        if (i % 10 == 0)
            usleep(500);
    }
    return NULL;
}

TEST("what other threads give to the context wakes the loop") {
    loop = runloop_current();
    begin();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, invoke, NULL) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(invoked, 100);
    pthread_join(thread, NULL);
    end();
}

static gboolean run_nested(gpointer counter) {
    give(g_timeout_source_new(5), count, counter);
    while (*(int *)counter == 0)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    return G_SOURCE_REMOVE;
}

TEST("a run of ours in a callback of GLib's serves GLib") {
    int timeouts = 0;
    begin();
    give(g_idle_source_new(), run_nested, &timeouts);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(timeouts, 1);
    end();
}

TEST("GLib hosts our loop, which has another context as a guest") {
    int timeouts = 0, idles = 0;
    GMainContext *above = g_main_context_new();
    begin();
    GSource *host = runloop_glib_attach(above, MODE, NULL, NULL, NULL);
    REQUIRE(host);
    for (int i = 0; i < 5; i++)
        g_main_context_iteration(above, FALSE);
    give(g_timeout_source_new(10), count, &timeouts);
    runloop_wake_up(runloop_current()); // given on this thread, in the host's sleep
    while (timeouts == 0)
        g_main_context_iteration(above, TRUE);
    give(g_idle_source_new(), count, &idles);
    runloop_wake_up(runloop_current());
    while (idles == 0)
        g_main_context_iteration(above, TRUE);
    runloop_glib_detach(host);
    end();
    g_main_context_unref(above);
}

TEST("a context that another thread owns is not taken") {
    GMainContext *other = g_main_context_new();
    begin();
    g_main_context_acquire(other);
    EXPECT(glib_guest_attach(other, MODE)); // ours twice
    REQUIRE(runloop_post(runloop_current(), MODE, stop, NULL, NULL) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    end();
}
