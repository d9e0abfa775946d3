// curl.c — libcurl reports which descriptors and which timeout it waits for whenever that changes. So it needs no foreign source: each
// descriptor is a source, and the timeout a timer.
#include "curl.h"

#include <stdlib.h>

static void act(struct curl_guest *guest, curl_socket_t descriptor, int events) {
    int running, left;
    curl_multi_socket_action(guest->multi, descriptor, events, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(guest->multi, &left));)
        if (message->msg == CURLMSG_DONE)
            guest->done(guest, message->easy_handle, message->data.result);
}

static void ready(runloop_source *source, runloop_readiness events, void *info) {
    act(info, runloop_source_get_descriptor(source),
        (events & RUNLOOP_READABLE ? CURL_CSELECT_IN : 0) | (events & RUNLOOP_WRITABLE ? CURL_CSELECT_OUT : 0) |
            (events & (RUNLOOP_ERROR | RUNLOOP_HANG_UP) ? CURL_CSELECT_ERR : 0));
}

static void fire(runloop_timer *timer, void *info) {
    (void)timer;
    act(info, CURL_SOCKET_TIMEOUT, 0);
}

/// `source` is that of the descriptor, NULL at first.
static int socket_changed(CURL *easy, curl_socket_t descriptor, int wanted, void *info, void *source) {
    (void)easy;
    struct curl_guest *guest = info;
    if (wanted == CURL_POLL_REMOVE) {
        runloop_source_invalidate(source);
        runloop_source_release(source);
        return 0;
    }
    runloop_readiness events =
        (wanted & CURL_POLL_IN ? RUNLOOP_READABLE : 0) | (wanted & CURL_POLL_OUT ? RUNLOOP_WRITABLE : 0);
    if (source)
        return runloop_source_set_events(source, events) ? -1 : 0;
    runloop_descriptor_config config = {
        .context.info = guest, .descriptor = descriptor, .events = events, .ready = ready};
    runloop_source *created;
    if (runloop_descriptor_source_create(&config, &created))
        return -1;
    curl_multi_assign(guest->multi, descriptor, created);
    return runloop_add_source(runloop_current(), created, guest->mode) ? -1 : 0;
}

static int timeout_changed(CURLM *multi, long timeout_ms, void *info) {
    (void)multi;
    int64_t date = timeout_ms < 0 ? RUNLOOP_NEVER : runloop_now_ns() + timeout_ms * INT64_C(1000000);
    return runloop_timer_set_fire_date(((struct curl_guest *)info)->timer, date) ? -1 : 0;
}

struct curl_guest *curl_guest_create(const char *mode, void (*done)(struct curl_guest *, CURL *, CURLcode),
                                     void *info) {
    struct curl_guest *guest = calloc(1, sizeof *guest);
    // It repeats, but never by itself, so that it can be set again after it has fired.
    runloop_timer_config config = {.context = {.info = guest, .release = free},
                                   .fire_ns = RUNLOOP_NEVER,
                                   .interval_ns = RUNLOOP_FOREVER,
                                   .fire = fire};
    if (!guest || runloop_timer_create(&config, &guest->timer)) {
        free(guest);
        return NULL;
    }
    guest->multi = curl_multi_init();
    guest->mode = runloop_mode_name(mode);
    guest->done = done;
    guest->info = info;
    if (!guest->multi || !guest->mode || runloop_add_timer(runloop_current(), guest->timer, mode)) {
        curl_guest_destroy(guest);
        return NULL;
    }
    curl_multi_setopt(guest->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
    curl_multi_setopt(guest->multi, CURLMOPT_SOCKETDATA, guest);
    curl_multi_setopt(guest->multi, CURLMOPT_TIMERFUNCTION, timeout_changed);
    curl_multi_setopt(guest->multi, CURLMOPT_TIMERDATA, guest);
    return guest;
}

void curl_guest_destroy(struct curl_guest *guest) {
    runloop_timer *timer = guest->timer;
    curl_multi_cleanup(guest->multi); // closes connections that it keeps, and reports them
    runloop_timer_invalidate(timer);  // frees the guest
    runloop_timer_release(timer);
}
