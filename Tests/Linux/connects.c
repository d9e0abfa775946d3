// connects.c — connecting: TCP, Unix, abstract; what is refused, full or silent; options, modes, cancellation, no descriptors left.
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <sys/ioctl.h>

#include "connects.h"
#include "shown_clock.h"

//===-- success ------------------------------------------------------------------------------------------------------===//

static void expect_connected(const char *host, bool is_needed) {
    int listening = runloop_listen_tcp(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, 0, 0);
    if (listening < 0 && !is_needed)
        LEAVE_OUT("This machine has no IPv6.");
    REQUIRE(listening >= 0);
    struct outcome outcome = outcome_of((runloop_connect_config){.host = host, .port = port_of(listening)});
    EXPECT_EQ(outcome.error, 0);
    EXPECT_EQ(runloop_socket_get_port(outcome.descriptor, true), port_of(listening));
    expect_talk(outcome.descriptor, listening);
    close(listening);
}

TEST("a connection of IPv4, non-blocking, closed on exec, and the callee's") {
    expect_connected("127.0.0.1", true);
}

TEST("a connection of IPv6") {
    expect_connected("::1", false);
}

TEST("a connection by a name, of whose addresses one accepts") {
    struct addrinfo *addresses;
    if (getaddrinfo("localhost", NULL, NULL, &addresses))
        LEAVE_OUT("This machine does not know the name localhost: it has no /etc/hosts.");
    freeaddrinfo(addresses);
    expect_connected("localhost", true);
}

TEST("connections of Unix sockets, with a path and without") {
    char folder[] = "/tmp/runloop-connect-XXXXXX", path[64];
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    int listening[] = {runloop_listen_unix(path, 0, 0), runloop_listen_abstract(own_name(), 0)};
    const runloop_connect_config configs[] = {{.path = path}, {.abstract_name = own_name()}};
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = outcome_of(configs[i]);
        EXPECT_EQ(outcome.error, 0);
        EXPECT_EQ(outcome.count, 0);
        expect_talk(outcome.descriptor, listening[i]);
        close(listening[i]);
    }
    unlink(path);
    rmdir(folder);
}

TEST("a success counts even if the deadline has passed") {
    int listening = runloop_listen_abstract(own_name(), 0);
    struct outcome outcome = outcome_of((runloop_connect_config){.abstract_name = own_name(), .deadline_ns = 1});
    EXPECT_EQ(outcome.error, 0);
    expect_talk(outcome.descriptor, listening);
    close(listening);
}

TEST("a loop that sleeps begins at once what another thread adds") {
    struct worker worker = {0};
    struct outcome outcome = {0};
    int listening = runloop_listen_abstract(own_name(), 0);
    const runloop_connect_config config = {
        .context.info = &outcome, .abstract_name = own_name(), .connected = note_outcome};
    runloop_connect *connect = NULL;
    REQUIRE(runloop_connect_create(&config, &connect) == 0);
    start_worker(&worker);
    wait_for_sleep(&worker);
    REQUIRE(runloop_add_source(worker.loop, connect, MODE) == 0);
    WAIT_UNTIL(outcome.calls == 1);
    stop_worker(&worker);
    EXPECT_EQ(outcome.error, 0);
    expect_talk(outcome.descriptor, listening);
    close(listening);
    runloop_source_release(connect);
}

//===-- failure ------------------------------------------------------------------------------------------------------===//

TEST("what is refused, and what is not there, says so with its address") {
    int reserved;
    uint16_t port = dead_port(&reserved);
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%d", port);
    struct outcome refused = outcome_of((runloop_connect_config){.host = "127.0.0.1", .port = port});
    EXPECT_EQ(refused.error, -ECONNREFUSED);
    EXPECT_EQ(refused.descriptor, -1);
    EXPECT_EQ(refused.count, 1);
    EXPECT_EQ(refused.failures[0].error, -ECONNREFUSED);
    EXPECT_TEXT(refused.failures[0].address, text);
    EXPECT(refused.name_error == NULL);
    struct outcome absent = outcome_of((runloop_connect_config){.path = "/nowhere/at/all"});
    EXPECT_EQ(absent.error, -ENOENT);
    EXPECT_TEXT(absent.failures[0].address, "/nowhere/at/all");
    struct outcome nobody = outcome_of((runloop_connect_config){.abstract_name = "runloop-test-nobody"});
    EXPECT_EQ(nobody.error, -ECONNREFUSED);
    EXPECT_TEXT(nobody.failures[0].address, "@runloop-test-nobody");
    close(reserved);
}

/// A network of this process's own, with one port for those who connect.
static bool make_network_with_port(const char *port) {
    struct ifreq loopback = {.ifr_name = "lo"};
    char range[32];
    int length = snprintf(range, sizeof range, "%s %s", port, port);
    if (unshare(CLONE_NEWNET) < 0)
        return false;
    int control = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int file = open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);
    loopback.ifr_flags = IFF_UP | IFF_RUNNING;
    bool is_made = control >= 0 && ioctl(control, SIOCSIFFLAGS, &loopback) == 0 && file >= 0 &&
                   write(file, range, (size_t)length) == length;
    close(control);
    close(file);
    return is_made;
}

TEST("a socket that the kernel has connected to itself, since it had no other port, was refused") {
    if (!make_network_with_port("40000"))
        LEAVE_OUT("Only root may have a network of its own here.");
    struct outcome outcome = outcome_of((runloop_connect_config){.host = "127.0.0.1", .port = 40000});
    EXPECT_EQ(outcome.error, -ECONNREFUSED);
    EXPECT_EQ(outcome.descriptor, -1);
}

TEST("bad configurations are refused, and leave the context alone") {
    const char *const long_path = "/12345678901234567890123456789012345678901234567890123456789012345678901234567890"
                                  "1234567890123456789012345678";
    const struct {
        int expected;
        runloop_connect_config config;
    } cases[] = {
        {-EINVAL, {.port = 1}},
        {-EINVAL, {.host = "127.0.0.1"}},
        {-EINVAL, {.host = "", .port = 1}},
        {-EINVAL, {.path = ""}},
        {-EINVAL, {.abstract_name = ""}},
        {-EINVAL, {.host = "127.0.0.1", .port = 1, .path = "/a"}},
        {-EINVAL, {.abstract_name = "a", .path = "/a"}},
        {-EINVAL, {.host = "a", .port = 1, .path = "/a", .abstract_name = "a"}},
        {-ENAMETOOLONG, {.path = long_path}},
        {-EINVAL, {.host = "::1", .port = 1, .local_address = "localhost"}},
        {-EAFNOSUPPORT, {.host = "::1", .port = 1, .local_address = "127.0.0.1"}},
        {-EINVAL, {.host = "::1", .port = 1, .interface = ""}},
        {-EINVAL, {.host = "::1", .port = 1, .interface = "0123456789abcdef"}},
        {-EINVAL, {.host = "::1", .port = 1, .keepalive_idle_ns = 32768 * SECOND}},
        {-EINVAL, {.host = "::1", .port = 1, .keepalive_interval_ns = -1}},
        {-EINVAL, {.host = "::1", .port = 1, .keepalive_count = 128}},
        {-EINVAL, {.host = "::1", .port = 1, .user_timeout_ns = INT64_MAX}},
    };
    struct outcome outcome = {0};
    runloop_connect *connect = NULL;
    runloop_current();
    int before = count_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        runloop_connect_config config = cases[i].config;
        config.context = (runloop_context){.info = &outcome, .retain = retain_outcome, .release = release_outcome};
        config.connected = note_outcome;
        EXPECT_EQ(runloop_connect_create(&config, &connect), cases[i].expected);
    }
    EXPECT_EQ(runloop_connect_create(&(runloop_connect_config){.path = "/a"}, &connect), -EINVAL);
    EXPECT_EQ(runloop_connect_create(NULL, &connect), -EINVAL);
    EXPECT_EQ(runloop_connect_create(&(runloop_connect_config){.path = "/a", .connected = note_outcome}, NULL),
              -EINVAL);
    EXPECT_EQ(outcome.contexts, 0);
    EXPECT(connect == NULL);
    EXPECT_EQ(count_descriptors(), before);
}

static int full_listener(int client[2]) {
    int listening = runloop_listen_abstract(own_name(), 1);
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = outcome_of((runloop_connect_config){.abstract_name = own_name()});
        REQUIRE((client[i] = outcome.descriptor) >= 0);
    }
    return listening;
}

TEST("a Unix socket whose queue is full is tried again until the deadline") {
    int clients[2], listening = full_listener(clients);
    int64_t deadline_ns = runloop_now_ns() + 100 * MS;
    struct outcome outcome =
        outcome_of((runloop_connect_config){.abstract_name = own_name(), .deadline_ns = deadline_ns});
    EXPECT_EQ(outcome.error, -ETIMEDOUT);
    EXPECT(outcome.at_ns >= deadline_ns);
    EXPECT_EQ(outcome.count, 1);
    EXPECT_EQ(outcome.failures[0].error, -EAGAIN);
    EXPECT(outcome.failures[0].address[0] == '@' && strcmp(outcome.failures[0].address + 1, own_name()) == 0);
    close(clients[0]);
    close(clients[1]);
    close(listening);
}

static void accept_one(runloop_timer *timer, void *info) {
    (void)timer;
    close(accept4(*(int *)info, NULL, NULL, SOCK_CLOEXEC));
}

TEST("a Unix socket whose queue is full is connected when somebody has accepted") {
    int clients[2], listening = full_listener(clients);
    int64_t accepted_ns = runloop_now_ns() + 50 * MS;
    runloop_timer *timer = add_timer(MODE, accepted_ns, 0, accept_one, &listening);
    EXPECT(runloop_timer_is_valid(timer));
    struct outcome outcome = outcome_of((runloop_connect_config){.abstract_name = own_name()});
    EXPECT_EQ(outcome.error, 0);
    EXPECT(outcome.at_ns >= accepted_ns);
    EXPECT_EQ(outcome.count, 0);
    close(outcome.descriptor);
    close(clients[0]);
    close(clients[1]);
    close(listening);
}

TEST("without a descriptor for the only attempt nothing is made") {
    runloop_connect_config config = {.host = "127.0.0.1", .port = 9, .connected = note_outcome};
    runloop_connect *connect = NULL;
    use_up_descriptors(0);
    EXPECT_EQ(runloop_connect_create(&config, &connect), -EMFILE);
    give_back_descriptors();
    EXPECT(connect == NULL);
}

//===-- options ------------------------------------------------------------------------------------------------------===//

static int option_of(int descriptor, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(descriptor, level, name, &value, &size), 0);
    return value;
}

TEST("without options small pieces are sent at once, and nothing else differs from the system's") {
    int listening = listen_on("127.0.0.1", 0);
    struct outcome outcome = outcome_of((runloop_connect_config){.host = "127.0.0.1", .port = port_of(listening)});
    EXPECT_EQ(option_of(outcome.descriptor, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option_of(outcome.descriptor, SOL_SOCKET, SO_KEEPALIVE), 0);
    EXPECT_EQ(option_of(outcome.descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
    close(outcome.descriptor);
    close(listening);
}

TEST("options: signs of life, their pauses rounded up, a user timeout, an address and an interface of this side") {
    int listening = listen_on("127.0.0.1", 0);
    char text[128];
    struct outcome outcome = outcome_of((runloop_connect_config){.host = "127.0.0.1",
                                                                 .port = port_of(listening),
                                                                 .local_address = "127.0.0.5",
                                                                 .interface = "lo",
                                                                 .keepalive_idle_ns = 10 * SECOND + 1,
                                                                 .keepalive_interval_ns = 3 * SECOND,
                                                                 .keepalive_count = 4,
                                                                 .user_timeout_ns = 5 * MS + 1,
                                                                 .delays = true});
    int descriptor = outcome.descriptor;
    if (outcome.error == -EPERM)
        LEAVE_OUT("An interface may be chosen here by nobody but root.");
    REQUIRE(descriptor >= 0);
    EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(option_of(descriptor, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_KEEPIDLE), 11);
    EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_KEEPINTVL), 3);
    EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_KEEPCNT), 4);
    EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT), 6);
    EXPECT(runloop_socket_get_address(descriptor, false, text, sizeof text) > 0);
    EXPECT(starts_with(text, "127.0.0.5:"));
    close(descriptor);
    close(listening);
}

TEST("an interface and an address that this machine does not have are errors of the attempt") {
    struct outcome outcome =
        outcome_of((runloop_connect_config){.host = "127.0.0.1", .port = 9, .local_address = "192.0.2.1"});
    EXPECT_EQ(outcome.error, -EADDRNOTAVAIL);
    outcome = outcome_of((runloop_connect_config){.host = "127.0.0.1", .port = 9, .interface = "nosuch0"});
    EXPECT(outcome.error == -ENODEV || outcome.error == -EPERM);
    EXPECT_EQ(outcome.failures[0].error, outcome.error);
}

TEST("a connection that resets drops what it has not sent") {
    for (int resets = 0; resets < 2; resets++) {
        int listening = listen_on("127.0.0.1", 0);
        struct outcome outcome =
            outcome_of((runloop_connect_config){.host = "127.0.0.1", .port = port_of(listening), .resets = resets});
        char byte;
        int peer = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        close(outcome.descriptor);
        EXPECT_EQ(recv(peer, &byte, 1, 0), resets ? -1 : 0);
        EXPECT(!resets || errno == ECONNRESET);
        close(peer);
        close(listening);
    }
}

//===-- modes and ends -----------------------------------------------------------------------------------------------===//

TEST("it may change its mode while it is under way") {
    struct outcome outcome = {0};
    struct black_hole hole = make_black_hole("127.0.0.1", 0);
    use_shown_clock();
    runloop_connect_config config = {.host = "127.0.0.1", .port = port_of(hole.listening), .deadline_ns = LIMIT};
    runloop_connect *connect = add_connect(config, &outcome);
    look_a_while(MODE);
    EXPECT_EQ(runloop_remove_source(runloop_current(), connect, MODE), 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), connect, OTHER_MODE), 0);
    shown_ns = LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(outcome.calls, 0);
    RUN_UNTIL(OTHER_MODE, outcome.calls == 1);
    EXPECT_EQ(outcome.error, -ETIMEDOUT);
    runloop_source_release(connect);
    end_black_hole(hole);
}

/// Whichever step it is at, nothing is called and nothing is left.
static void expect_end(runloop_connect_config config, int64_t run_ns, bool invalidates) {
    struct outcome outcome = {0};
    make_loop();
    int before = count_descriptors();
    runloop_connect *connect = add_connect(config, &outcome);
    if (run_ns)
        run_for(MODE, run_ns);
    EXPECT_EQ(outcome.calls, 0);
    EXPECT(count_descriptors() > before);
    if (invalidates) {
        runloop_source_invalidate(connect);
        EXPECT_EQ(count_descriptors(), before);
        EXPECT_EQ(runloop_connect_get_failures(connect, NULL, 0), 0);
    } else {
        EXPECT_EQ(runloop_remove_source(runloop_current(), connect, MODE), 0);
    }
    runloop_source_release(connect);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT_EQ(outcome.contexts, 0);
    run_for(MODE, 1);
    EXPECT_EQ(outcome.calls, 0);
}

TEST("its end leaves no descriptor, before it has begun and while it is under way") {
    struct black_hole hole = make_black_hole("127.0.0.1", 0);
    runloop_connect_config config = {.host = "127.0.0.1", .port = port_of(hole.listening)};
    for (int invalidates = 0; invalidates < 2; invalidates++) {
        expect_end(config, 0, invalidates);
        expect_end(config, 20 * MS, invalidates);
    }
    end_black_hole(hole);
}

/// The client's `cancel` is called when it is known who was connected, before that is reported.
static void end_thread_at_cancel(runloop_connect *connect, runloop *loop, const char *mode, void *info) {
    (void)connect, (void)loop, (void)mode, (void)info;
    if (runloop_current_mode(runloop_current()))
        pthread_exit(NULL);
}

static void *end_in_cancel(void *info) {
    runloop_connect_config config = {.abstract_name = own_name(), .cancel = end_thread_at_cancel};
    runloop_source_release(add_connect(config, info));
    run_for(MODE, 30 * SECOND);
    return NULL;
}

TEST("a thread that ends between the connection and its callback leaves no descriptor") {
    int listening = runloop_listen_abstract(own_name(), 0);
    struct outcome outcome = {0};
    on_new_thread(end_in_cancel, &outcome);
    int before = count_descriptors();
    on_new_thread(end_in_cancel, &outcome);
    EXPECT_EQ(outcome.calls, 0);
    EXPECT_EQ(outcome.contexts, 0);
    EXPECT_EQ(count_descriptors(), before);
    close(listening);
}

static struct outcome forked;
static runloop_connect *forking;

static void expect_nothing_inherited(void) {
    int before = count_descriptors();
    EXPECT_EQ(runloop_connect_get_failures(forking, NULL, 0), 0);
    EXPECT(runloop_connect_get_name_error(forking) == NULL);
    end_source(forking);
    runloop_source_release(forking); // the inherited loop's, whose thread is not here
    EXPECT_EQ(count_descriptors(), before - 1);
    EXPECT_EQ(forked.calls, 0);
    EXPECT_EQ(forked.contexts, 0);
}

TEST("R123 the child of a fork is never called, frees its copies, and changes nothing in the parent") {
    struct black_hole hole = make_black_hole("127.0.0.1", 0);
    forking = add_connect((runloop_connect_config){.host = "127.0.0.1", .port = port_of(hole.listening)}, &forked);
    run_for(MODE, 1);
    EXPECT_EQ(status_of_child(expect_nothing_inherited), 0);
    // The next SYN, after a second, finds space in the queue.
    close(accept4(hole.listening, NULL, NULL, SOCK_CLOEXEC));
    RUN_UNTIL(MODE, forked.calls == 1);
    EXPECT_EQ(forked.error, 0);
    close(forked.descriptor);
    runloop_source_release(forking);
    end_black_hole(hole);
}
