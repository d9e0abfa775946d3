// cares.c — host names from a name server in the same loop, by Interop/Guests/cares.h.
#include "../../Guests/cares.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include "items.h"

static int server, asked, found, failed;

/// Answers every query with 10.0.0.1, but leaves the first `left_out` without an answer.
static int left_out;

static void answer(runloop_source *source, runloop_readiness events, void *info) {
    (void)events, (void)info;
    unsigned char packet[512];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    ssize_t size =
        recvfrom(runloop_source_get_descriptor(source), packet, sizeof packet - 16, 0, (void *)&from, &length);
    if (size < 12 || ++asked <= left_out)
        return;
    static const unsigned char record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0, 1};
    packet[2] |= 0x80; // a response
    packet[3] = 0x80;
    packet[7] = 1; // with one answer
    packet[11] = 0;
    memcpy(packet + size, record, sizeof record);
    sendto(server, packet, (size_t)size + sizeof record, 0, (void *)&from, length);
}

static void resolved(void *info, int status, int timeouts, struct ares_addrinfo *host) {
    (void)info, (void)timeouts;
    if (status != ARES_SUCCESS) {
        failed++;
        return;
    }
    const struct sockaddr_in *address = (const void *)host->nodes->ai_addr;
    EXPECT_EQ(ntohl(address->sin_addr.s_addr), 0x0a000001u);
    ares_freeaddrinfo(host);
    found++;
}

static ares_channel channel;
static runloop_foreign_source *guest;

static void resolve(const char *name) {
    struct ares_addrinfo_hints hints = {.ai_family = AF_INET};
    ares_getaddrinfo(channel, name, NULL, &hints, resolved, NULL);
}

static void begin(int timeout_ms) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    server = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    REQUIRE(bind(server, (void *)&address, length) == 0 && getsockname(server, (void *)&address, &length) == 0);
    add_descriptor(MODE, server, RUNLOOP_READABLE, answer, NULL);
    char servers[32], lookups[] = "b";
    struct ares_options options = {.timeout = timeout_ms, .tries = 2, .lookups = lookups};
    REQUIRE(ares_library_init(ARES_LIB_INIT_ALL) == 0);
    int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS;
    REQUIRE(cares_guest_attach(&options, mask, MODE, &channel, &guest) == 0);
    snprintf(servers, sizeof servers, "127.0.0.1:%d", ntohs(address.sin_port));
    REQUIRE(ares_set_servers_ports_csv(channel, servers) == 0);
}

static void end(void) {
    runloop_foreign_source_invalidate(guest);
    runloop_foreign_source_release(guest);
}

TEST("names are resolved while the loop serves the name server") {
    begin(20000);
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "host%d.test.", i);
        resolve(name);
    }
    while (found < 20)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(failed, 0);
    // Its sockets may remain; it waits for nothing else.
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    end();
}

TEST("a query is repeated after its timeout, and fails after the last") {
    left_out = 1;
    begin(30);
    int64_t start_ns = runloop_now_ns();
    resolve("late.test.");
    while (found < 1)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(asked, 2);
    EXPECT(runloop_now_ns() - start_ns >= 29 * MS); // by its own clock, in microseconds
    left_out = 1000;
    resolve("never.test.");
    while (failed < 1)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    end();
}
