// wayland.c — a Wayland client in the loop, by Interop/Guests/wayland.h: with a display that another thread serves over a socket pair, and with a
// real compositor, that of WAYLAND_DISPLAY.
#include "../../Guests/wayland.h"

#include <sys/socket.h>
#include <wayland-server.h>

#include "items.h"

//===-- a display of our own -----------------------------------------------------------------------------------------===//

static pthread_t server_thread;
static struct wl_display *server;
static struct wl_client *server_client;
static int server_stop;

static int stop_server(int descriptor, uint32_t mask, void *info) {
    (void)descriptor, (void)mask, (void)info;
    wl_display_terminate(server);
    return 0;
}

static void *run_server(void *info) {
    (void)info;
    wl_display_run(server);
    wl_display_destroy_clients(server);
    wl_display_destroy(server);
    return NULL;
}

static struct wl_display *display;
static runloop_foreign_source *guest;
static int syncs;

static void begin(void) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    REQUIRE((server = wl_display_create()) && (server_client = wl_client_create(server, ends[0])));
    server_stop = make_eventfd(0);
    REQUIRE(wl_event_loop_add_fd(wl_display_get_event_loop(server), server_stop, WL_EVENT_READABLE, stop_server, NULL));
    REQUIRE(pthread_create(&server_thread, NULL, run_server, NULL) == 0);
    REQUIRE((display = wl_display_connect_to_fd(ends[1])));
    REQUIRE(wayland_guest_attach(display, MODE, &guest) == 0);
}

static void end_server(void) {
    bump(server_stop);
    REQUIRE(pthread_join(server_thread, NULL) == 0);
}

static void end_client(void) {
    runloop_foreign_source_invalidate(guest);
    runloop_foreign_source_release(guest);
    wl_display_disconnect(display);
}

//===-- its events ---------------------------------------------------------------------------------------------------===//

static void synced(void *info, struct wl_callback *callback, uint32_t serial) {
    (void)info, (void)serial;
    wl_callback_destroy(callback);
    syncs++;
}

static const struct wl_callback_listener sync_listener = {.done = synced};

static void ask_for_sync(void) {
    wl_callback_add_listener(wl_display_sync(display), &sync_listener, NULL);
}

static void ask_in_task(void *info) {
    (void)info;
    ask_for_sync();
}

TEST("requests are sent before the sleep, and events are served") {
    begin();
    for (int i = 1; i <= 10; i++) {
        ask_for_sync();
        while (syncs < i)
            EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    }
    REQUIRE(runloop_perform(runloop_current(), MODE, ask_in_task, NULL, NULL) == 0);
    while (syncs < 11)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    end_client();
    end_server();
}

static void round_trip(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    EXPECT(wl_display_roundtrip(display) >= 0);
    runloop_stop(runloop_current());
}

TEST("a callback may wait for the display itself: it isn't prepared then") {
    begin();
    ask_for_sync();
    while (syncs < 1)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    // After a sleep, in which it was; and in a run of another mode.
    add_timer(MODE, runloop_now_ns() + 5 * MS, 0, round_trip, NULL);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    add_timer(OTHER_MODE, runloop_now_ns() + 5 * MS, 0, round_trip, NULL);
    EXPECT_EQ(run_for(OTHER_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    end_client();
    end_server();
}

static pthread_t reader;
static bool has_read;

static void *read_once(void *info) {
    struct wl_event_queue *queue = wl_display_create_queue(display);
    (void)info;
    EXPECT(wl_display_roundtrip_queue(display, queue) >= 0);
    __atomic_store_n(&has_read, true, __ATOMIC_RELEASE);
    wl_event_queue_destroy(queue);
    return NULL;
}

static void read_before_sleep(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    REQUIRE(pthread_create(&reader, NULL, read_once, NULL) == 0);
    int64_t end_ns = runloop_now_ns() + 50 * MS;
    while (!__atomic_load_n(&has_read, __ATOMIC_ACQUIRE) && runloop_now_ns() < end_ns)
        usleep(200);
}

TEST("another thread can't read our events away between our look and our sleep") {
    begin();
    runloop_observer_config config = {
        .order = INT32_MAX, .activities = RUNLOOP_ACTIVITY_BEFORE_WAITING, .observe = read_before_sleep};
    runloop_observer *observer;
    REQUIRE(runloop_observer_create(&config, &observer) == 0);
    REQUIRE(runloop_add_observer(runloop_current(), observer, MODE) == 0);
    runloop_observer_release(observer);
    ask_for_sync();
    while (syncs < 1)
        EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    REQUIRE(pthread_join(reader, NULL) == 0);
    end_client();
    end_server();
}

static void *read_too(void *info) {
    struct wl_event_queue *queue = wl_display_create_queue(display);
    (void)info;
    // As the libraries of graphics drivers do: it reads events for every queue.
    for (int i = 0; i < 300; i++)
        EXPECT(wl_display_roundtrip_queue(display, queue) >= 0);
    wl_event_queue_destroy(queue);
    return NULL;
}

TEST("other threads read events for us and wait for us, and nobody waits for ever") {
    pthread_t thread;
    begin();
    REQUIRE(pthread_create(&thread, NULL, read_too, NULL) == 0);
    for (int i = 1; i <= 300; i++) {
        ask_for_sync();
        while (syncs < i)
            EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    }
    // Now only the other thread waits for events, for which ours wakes up.
    struct timespec now;
    do {
        run_for(MODE, 5 * MS);
        clock_gettime(CLOCK_REALTIME, &now);
    } while (pthread_timedjoin_np(thread, NULL, &now) != 0);
    end_client();
    end_server();
}

TEST("the source becomes invalid with the connection") {
    begin();
    end_server();
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT(!runloop_foreign_source_is_valid(guest));
    EXPECT(wl_display_get_error(display) != 0);
    end_client();
}

//===-- a real compositor --------------------------------------------------------------------------------------------===//

static struct wl_compositor *compositor;
static struct wl_shm *shm;
static int formats;

static void global(void *info, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version) {
    (void)info, (void)version;
    if (strcmp(interface, wl_compositor_interface.name) == 0)
        compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 1);
    if (strcmp(interface, wl_shm_interface.name) == 0)
        shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
}

static void global_remove(void *info, struct wl_registry *registry, uint32_t name) {
    (void)info, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {.global = global, .global_remove = global_remove};

static void format(void *info, struct wl_shm *unused, uint32_t of) {
    (void)info, (void)unused, (void)of;
    formats++;
}

static const struct wl_shm_listener shm_listener = {.format = format};

TEST("a client of a real compositor") {
    REQUIRE((display = wl_display_connect(NULL)));
    REQUIRE(wayland_guest_attach(display, MODE, &guest) == 0);
    struct wl_registry *registry = wl_display_get_registry(display);
    wl_registry_add_listener(registry, &registry_listener, NULL);
    while (!compositor || !shm)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    wl_shm_add_listener(shm, &shm_listener, NULL);
    struct wl_surface *surface = wl_compositor_create_surface(compositor);
    while (formats == 0)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(wl_display_get_error(display), 0);
    wl_surface_destroy(surface);
    wl_shm_destroy(shm);
    wl_compositor_destroy(compositor);
    wl_registry_destroy(registry);
    end_client();
}
