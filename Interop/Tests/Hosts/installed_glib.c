// installed_glib.c — a program that uses the installed librunloop-glib, in C and in C++: Tests/bin/packages builds it.
#include <runloop-glib.h>

static GMainLoop *host;
static int ticks, timeouts;

static void tick(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    if (++ticks == 3)
        runloop_stop(runloop_current());
}

static gboolean count_timeout(gpointer info) {
    (void)info;
    timeouts++;
    return G_SOURCE_CONTINUE;
}

static void ended(int result, void *info) {
    *(int *)info = result;
    g_main_loop_quit(host);
}

int main(void) {
    int error = 0, result = 0;
    struct runloop_timer_config config = {};
    config.fire_ns = runloop_now_ns();
    config.interval_ns = 20000000;
    config.fire = tick;
    runloop_timer *timer;
    if (runloop_glib_attach(NULL, "empty", ended, &result, &error) || error != RUNLOOP_RESULT_FINISHED)
        return 1;
    if (runloop_timer_create(&config, &timer) || runloop_add_timer(runloop_current(), timer, RUNLOOP_DEFAULT_MODE))
        return 1;
    runloop_timer_release(timer);
    g_timeout_add(1, count_timeout, NULL);
    host = g_main_loop_new(NULL, FALSE);
    if (!runloop_glib_attach(NULL, RUNLOOP_DEFAULT_MODE, ended, &result, &error) || error)
        return 1;
    g_main_loop_run(host);
    if (result != RUNLOOP_RESULT_STOPPED || ticks != 3 || timeouts == 0)
        return 1;
    GSource *source = runloop_glib_attach(NULL, RUNLOOP_DEFAULT_MODE, NULL, NULL, NULL);
    if (!source || !runloop_current_mode(runloop_current()))
        return 1;
    runloop_glib_detach(source);
    g_main_loop_unref(host);
    return runloop_current_mode(runloop_current()) != NULL;
}
