// glib.c — a main context's own four steps, each where the foreign source has it. GPollFD is struct pollfd.
#include "glib.h"

struct glib_guest {
    GMainContext *context;
    gint priority; ///< Of what is ready, from `prepare` to `check`.
};

static int prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity, int64_t *deadline_ns,
                   void *info) {
    (void)source;
    struct glib_guest *guest = info;
    gint timeout_ms;
    g_main_context_prepare(guest->context, &guest->priority);
    int count = g_main_context_query(guest->context, guest->priority, &timeout_ms, (GPollFD *)descriptors, capacity);
    if (timeout_ms >= 0)
        *deadline_ns = timeout_ms > 0 ? runloop_get_now_ns(NULL) + timeout_ms * INT64_C(1000000) : 0;
    return count;
}

static bool check(runloop_foreign_source *source, struct pollfd *descriptors, int count, void *info) {
    (void)source;
    struct glib_guest *guest = info;
    return g_main_context_check(guest->context, guest->priority, (GPollFD *)descriptors, count);
}

static void dispatch(runloop_foreign_source *source, void *info) {
    (void)source;
    g_main_context_dispatch(((struct glib_guest *)info)->context);
}

static void release(void *info) {
    g_main_context_unref(((struct glib_guest *)info)->context);
    g_free(info);
}

runloop_foreign_source *glib_guest_attach(GMainContext *context, const char *mode) {
    if (!context)
        context = g_main_context_default();
    // For good: what other threads then give to the context wakes this one.
    if (!g_main_context_acquire(context))
        return NULL;
    struct glib_guest *guest = g_new0(struct glib_guest, 1);
    guest->context = g_main_context_ref(context);
    runloop_foreign_source_config config = {.context = {.info = guest, .release = release},
                                            .nests = true, // dialogs
                                            .prepare = prepare,
                                            .check = check,
                                            .dispatch = dispatch};
    runloop_foreign_source *source = NULL;
    if (runloop_foreign_source_create(&config, &source) != 0)
        release(guest);
    else if (runloop_add_foreign_source(runloop_current(), source, mode) == 0)
        return source;
    runloop_foreign_source_release(source);
    g_main_context_release(context);
    return NULL;
}

void glib_guest_detach(runloop_foreign_source *source) {
    struct glib_guest *guest = runloop_foreign_source_get_info(source);
    runloop_foreign_source_invalidate(source);
    g_main_context_release(guest->context);
    runloop_foreign_source_release(source);
}
