// sd_bus.c — two ends of a D-Bus connection in one loop, by Interop/Guests/sd_bus.h. There is no daemon.
#include "../../Guests/sd_bus.h"

#include <sys/socket.h>

#include "items.h"

static sd_bus *server, *client;
static runloop_foreign_source *server_source, *client_source;
static int requests, replies, timeouts;

static int serve(sd_bus_message *message, void *info, sd_bus_error *error) {
    (void)info, (void)error;
    int number;
    if (sd_bus_message_is_method_call(message, "test.Loop", "Double") <= 0)
        return 0;
    requests++;
    REQUIRE(sd_bus_message_read(message, "i", &number) >= 0);
    // It leaves one without an answer.
    return number < 0 ? 1 : sd_bus_reply_method_return(message, "i", 2 * number);
}

static int answered(sd_bus_message *message, void *info, sd_bus_error *error) {
    (void)error;
    int number = 0;
    if (sd_bus_message_is_method_error(message, SD_BUS_ERROR_NO_REPLY)) {
        timeouts++;
        return 0;
    }
    EXPECT(sd_bus_message_read(message, "i", &number) > 0);
    EXPECT_EQ(number, 2 * (intptr_t)info);
    replies++;
    return 0;
}

static void call(int number, uint64_t timeout_us) {
    sd_bus_message *message;
    REQUIRE(sd_bus_message_new_method_call(client, &message, NULL, "/", "test.Loop", "Double") >= 0);
    REQUIRE(sd_bus_message_append(message, "i", number) >= 0);
    REQUIRE(sd_bus_call_async(client, NULL, message, answered, (void *)(intptr_t)number, timeout_us) >= 0);
    sd_bus_message_unref(message);
}

static void begin(void) {
    int ends[2];
    sd_id128_t id = SD_ID128_MAKE(1, 2, 3, 4, 5, 6, 7, 8, 9, a, b, c, d, e, f, 0);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    REQUIRE(sd_bus_new(&server) >= 0 && sd_bus_new(&client) >= 0);
    REQUIRE(sd_bus_set_fd(server, ends[0], ends[0]) >= 0 && sd_bus_set_fd(client, ends[1], ends[1]) >= 0);
    REQUIRE(sd_bus_set_server(server, 1, id) >= 0 && sd_bus_set_anonymous(server, 1) >= 0 &&
            sd_bus_set_anonymous(client, 1) >= 0);
    REQUIRE(sd_bus_start(server) >= 0 && sd_bus_start(client) >= 0);
    REQUIRE(sd_bus_add_filter(server, NULL, serve, NULL) >= 0);
    REQUIRE(sd_bus_guest_attach(server, MODE, &server_source) == 0);
    REQUIRE(sd_bus_guest_attach(client, MODE, &client_source) == 0);
}

static void end(void) {
    runloop_foreign_source_invalidate(client_source);
    runloop_foreign_source_invalidate(server_source);
    runloop_foreign_source_release(client_source);
    runloop_foreign_source_release(server_source);
    sd_bus_close_unref(client);
    sd_bus_close_unref(server);
}

TEST("calls and replies pass between two buses of one loop") {
    begin();
    for (int i = 0; i < 300; i++)
        call(i, 0);
    while (replies < 300)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(requests, 300);
    // Idle then.
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!runloop_has_work(MODE));
    end();
}

TEST("a call without a reply times out, never early") {
    begin();
    int64_t start_ns = runloop_now_ns();
    call(-1, 30000);
    while (timeouts == 0)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(runloop_now_ns() - start_ns >= 30 * MS);
    end();
}

TEST("the source becomes invalid with the connection") {
    begin();
    call(1, 0);
    while (replies == 0)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    sd_bus_close(server);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT(!runloop_foreign_source_is_valid(client_source));
    EXPECT(!runloop_foreign_source_is_valid(server_source));
    end();
}
