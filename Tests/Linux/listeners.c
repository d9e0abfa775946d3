// listeners.c — sockets that listen and their connections: addresses, paths, inherited sockets, no descriptors left; counters.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "linux_items.h"

struct arrivals {
    _Atomic int count, refused, pauses, resumptions;
    int last, last_error;
    int kept[64];
    bool invalidates;
};

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    struct arrivals *arrivals = info;
    EXPECT(fcntl(descriptor, F_GETFL) & O_NONBLOCK);
    EXPECT(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
    arrivals->kept[arrivals->count % 64] = descriptor;
    arrivals->last = descriptor;
    arrivals->count++;
    if (arrivals->invalidates)
        runloop_source_invalidate(listener);
}

static void note_refused(runloop_listener *listener, int descriptor, void *info) {
    (void)listener;
    EXPECT_EQ(send(descriptor, "full", 4, MSG_NOSIGNAL), 4);
    ((struct arrivals *)info)->refused++;
}

static void note_paused(runloop_listener *listener, int error, void *info) {
    (void)listener;
    struct arrivals *arrivals = info;
    arrivals->last_error = error ? error : arrivals->last_error;
    error ? arrivals->pauses++ : arrivals->resumptions++;
}

static runloop_listener *add_listener_with(runloop_listener_config config, struct arrivals *arrivals) {
    config.context.info = arrivals;
    config.accepted = note_accepted;
    config.paused = note_paused;
    return add_listener(&config);
}

static runloop_listener *add_listener_on(int descriptor, struct arrivals *arrivals) {
    return add_listener_with((runloop_listener_config){.descriptor = descriptor, .owns = true}, arrivals);
}

/// A path in a new directory.
static const char *new_path(void) {
    static char path[64];
    char folder[] = "/tmp/runloop-listener-XXXXXX";
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    return path;
}

static void remove_folder_of(const char *path) {
    char folder[64];
    unlink(path);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    EXPECT_EQ(rmdir(folder), 0);
}

static bool sends_without_delay(int descriptor) {
    int value = 0;
    socklen_t size = sizeof value;
    REQUIRE(getsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &value, &size) == 0);
    return value != 0;
}

TEST("connections of TCP send without delay, whoever made the socket, and had it queue them before") {
    struct arrivals arrivals = {0};
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(listening, (struct sockaddr *)&any, sizeof any) == 0 && listen(listening, 5) == 0);
    int clients[] = {connect_to(listening), -1};
    runloop_listener *listener = add_listener_on(listening, &arrivals);
    clients[1] = connect_to(listening);
    RUN_UNTIL(MODE, arrivals.count == 2);
    for (int i = 0; i < 2; i++) {
        EXPECT(!sends_without_delay(clients[i]));
        EXPECT(sends_without_delay(arrivals.kept[i]));
        close(clients[i]);
        close(arrivals.kept[i]);
    }
    end_source(listener);
}

TEST("connections of IPv4, IPv6 and Unix are accepted, non-blocking and closed on exec, with their addresses") {
    const char *path = new_path();
    char text[128], expected[128];
    const int sockets[] = {runloop_listen_tcp("127.0.0.1", 0, 0), runloop_listen_tcp("::1", 0, 5),
                           runloop_listen_unix(path, 0, 0), runloop_listen_abstract(own_name(), 0)};
    for (int i = 0; i < 4; i++) {
        if (sockets[i] == -EADDRNOTAVAIL || sockets[i] == -EAFNOSUPPORT)
            continue; // a machine without IPv6
        struct arrivals arrivals = {0};
        runloop_listener *listener = add_listener_on(sockets[i], &arrivals);
        EXPECT_EQ(runloop_source_get_descriptor(listener), sockets[i]);
        int client = connect_to(sockets[i]), port = runloop_socket_get_port(sockets[i], false);
        RUN_UNTIL(MODE, arrivals.count == 1);
        EXPECT_EQ(runloop_socket_get_port(client, true), port);
        EXPECT_EQ(i < 2 ? port > 0 : port == -EAFNOSUPPORT, true);
        int length = runloop_socket_get_address(client, true, text, sizeof text);
        EXPECT_EQ(length, strlen(text));
        if (i < 2)
            snprintf(expected, sizeof expected, i == 0 ? "127.0.0.1:%d" : "[::1]:%d", port);
        else
            snprintf(expected, sizeof expected, i == 2 ? "%s" : "@%s", i == 2 ? path : own_name());
        EXPECT_TEXT(text, expected);
        EXPECT_EQ(runloop_socket_get_address(client, true, text, (size_t)length), -ENOBUFS);
        close(client);
        close(arrivals.last);
        end_source(listener);
        EXPECT_EQ(fcntl(sockets[i], F_GETFD), -1);
    }
    remove_folder_of(path);
}

TEST("the peer of a Unix socket is known by its user and its process, and of no other socket") {
    int ends[2], others[2], ip = runloop_listen_tcp("127.0.0.1", 0, 0);
    runloop_peer peer;
    for (int i = 0; i < 3; i++) {
        const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
        REQUIRE(socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, ends) == 0);
        EXPECT_EQ(runloop_socket_get_peer(ends[0], &peer), 0);
        EXPECT(peer.pid == getpid() && peer.uid == geteuid() && peer.gid == getegid());
        // Of a kernel that is new enough.
        EXPECT(peer.pidfd < 0 || (fcntl(peer.pidfd, F_GETFD) & FD_CLOEXEC));
        if (peer.pidfd >= 0)
            close(peer.pidfd);
        close(ends[0]), close(ends[1]);
    }
    make_pipe(others);
    EXPECT_EQ(runloop_socket_get_peer(ip, &peer), -EAFNOSUPPORT);
    EXPECT_EQ(runloop_socket_get_peer(others[0], &peer), -ENOTSOCK);
    EXPECT_EQ(runloop_socket_get_peer(-1, &peer), -EBADF);
    EXPECT_EQ(runloop_socket_get_peer(ip, NULL), -EINVAL);
    int unconnected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(runloop_socket_get_peer(unconnected, &peer), -ENOTCONN);
    close(unconnected), close(ip), close(others[0]), close(others[1]);
}

TEST("only numbers are addresses, and what can't be bound says why") {
    EXPECT_EQ(runloop_listen_tcp("localhost", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_listen_tcp("", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_listen_tcp(NULL, 0, 0), -EINVAL);
    EXPECT_EQ(runloop_listen_tcp("::1%nowhere", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_listen_tcp("1.2.3.4.5", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_listen_tcp("0000:0000:0000:0000:0000:0000:0000:0000:0000:0001", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_listen_tcp("fe80::1%0", 0, 0), -EINVAL);
    // An interface by its number, as some programs write it; this address is on none.
    EXPECT_EQ(runloop_listen_tcp("fe80::fffe%1", 0, 0), -EADDRNOTAVAIL);
    EXPECT_EQ(runloop_listen_tcp("192.0.2.1", 0, 0), -EADDRNOTAVAIL);
    EXPECT_EQ(runloop_listen_unix("", 0, 0), -EINVAL);
    EXPECT_EQ(runloop_listen_unix("/nowhere/at/all", 0, 0), -ENOENT);
    EXPECT_EQ(runloop_listen_unix("/tmp/x", 010000, 0), -EINVAL);
    char longer[200];
    memset(longer, 'x', sizeof longer);
    longer[199] = 0;
    EXPECT_EQ(runloop_listen_unix(longer, 0, 0), -ENAMETOOLONG);
    EXPECT_EQ(runloop_listen_abstract(longer, 0), -ENAMETOOLONG);
    int first = runloop_listen_tcp("127.0.0.1", 0, 0);
    REQUIRE(first >= 0);
    EXPECT_EQ(runloop_listen_tcp("127.0.0.1", (uint16_t)runloop_socket_get_port(first, false), 0), -EADDRINUSE);
    int ends[2], other = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    char text[128];
    make_pipe(ends);
    EXPECT_EQ(runloop_socket_get_port(ends[0], false), -ENOTSOCK);
    EXPECT(other >= 0);
    EXPECT_EQ(runloop_socket_get_port(other, false), -EAFNOSUPPORT);
    EXPECT_EQ(runloop_socket_get_address(other, false, text, sizeof text), -EAFNOSUPPORT);
    EXPECT_EQ(runloop_socket_get_address(first, false, NULL, 0), -EINVAL);
    EXPECT_EQ(runloop_socket_get_address(first, false, text, 5), -ENOBUFS);
    EXPECT_EQ(runloop_socket_get_port(first, true), -ENOTCONN);
}

TEST("a Unix path has exactly its permissions, is replaced only if nobody listens, and is removed only if it is ours") {
    const char *path = new_path();
    struct stat status;
    umask(0);
    int first = runloop_listen_unix(path, 0, 0);
    REQUIRE(first >= 0 && stat(path, &status) == 0);
    EXPECT_EQ(status.st_mode & 07777, 0600);
    EXPECT_EQ(runloop_listen_unix(path, 0, 0), -EADDRINUSE);
    close(first); // as a program that is killed does
    umask(077);
    int second = runloop_listen_unix(path, 0666, 0);
    REQUIRE(second >= 0 && stat(path, &status) == 0);
    EXPECT_EQ(status.st_mode & 07777, 0666);
    struct arrivals arrivals = {0};
    runloop_listener *listener = add_listener_with(
        (runloop_listener_config){.descriptor = second, .owns = true, .removes_path = true}, &arrivals);
    REQUIRE(unlink(path) == 0);
    int third = runloop_listen_unix(path, 0, 0);
    end_source(listener);
    EXPECT_EQ(stat(path, &status), 0);
    listener = add_listener_with((runloop_listener_config){.descriptor = third, .owns = true, .removes_path = true},
                                 &arrivals);
    end_source(listener);
    EXPECT_EQ(stat(path, &status), -1);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    EXPECT_EQ(runloop_listen_unix(path, 0, 0), -EADDRINUSE);
    close(file);
    remove_folder_of(path);
}

TEST("a path that was relative is removed though the process has another working directory") {
    const char *path = new_path();
    char folder[64];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    struct arrivals arrivals = {0};
    REQUIRE(chdir(folder) == 0);
    int socket = runloop_listen_unix("./socket", 0, 0);
    runloop_listener_config config = {
        .descriptor = socket, .owns = true, .removes_path = true, .accepted = note_accepted};
    REQUIRE(socket >= 0 && chdir("/") == 0);
    runloop_listener *listener = NULL;
    EXPECT_EQ(runloop_listener_create(&config, &listener), -ENOENT); // by now it is another path
    REQUIRE(!listener && chdir(folder) == 0);
    listener = add_listener_with(config, &arrivals);
    REQUIRE(chdir("/") == 0 && access(path, F_OK) == 0);
    end_source(listener);
    EXPECT(access(path, F_OK) < 0);
    remove_folder_of(path);
}

/// Who finds out whether a path was left behind leaves no trace at a program that uses it.
TEST("a path with a socket of any kind is taken, and its listener sees no connection of who has asked") {
    static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
    const char *path = new_path();
    for (int i = 0; i < 3; i++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        memcpy(address.sun_path, path, strlen(path) + 1);
        int other = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        REQUIRE(bind(other, (struct sockaddr *)&address, sizeof address) == 0);
        EXPECT_EQ(runloop_listen_unix(path, 0, 0), -EADDRINUSE); // it is going to listen
        if (types[i] != SOCK_DGRAM)
            REQUIRE(listen(other, 1) == 0);
        EXPECT_EQ(runloop_listen_unix(path, 0, 0), -EADDRINUSE);
        EXPECT_EQ(runloop_channel_listen(path, 0, 0), -EADDRINUSE);
        struct pollfd query = {.fd = other, .events = POLLIN};
        EXPECT_EQ(poll(&query, 1, 0), 0);
        close(other);
        int mine = runloop_listen_unix(path, 0, 0);
        EXPECT(mine >= 0);
        close(mine);
        REQUIRE(unlink(path) == 0);
    }
    remove_folder_of(path);
}

/// Another program that starts at the same time.
static void *listen_on(void *path) {
    return (void *)(intptr_t)runloop_listen_unix(path, 0, 0);
}

TEST("of two programs that replace a path at the same time one gets it, and the other gets an error") {
    const char *path = new_path();
    for (int turn = 0; turn < 1000; turn++) {
        close(runloop_listen_unix(path, 0, 0));
        pthread_t other;
        void *result;
        REQUIRE(pthread_create(&other, NULL, listen_on, (void *)path) == 0);
        int mine = runloop_listen_unix(path, 0, 0);
        pthread_join(other, &result);
        int theirs = (int)(intptr_t)result;
        EXPECT((mine >= 0 && theirs == -EADDRINUSE) || (theirs >= 0 && mine == -EADDRINUSE));
        int winner = mine >= 0 ? mine : theirs;
        close(connect_to(winner));
        close(winner);
    }
    remove_folder_of(path);
}

TEST("without descriptors the listener pauses, reports it once, does not spin, and takes the connections up again") {
    struct arrivals arrivals = {0};
    runloop_listener *listener = add_listener_on(runloop_listen_tcp("127.0.0.1", 0, 0), &arrivals);
    for (int i = 0; i < 5; i++)
        connect_to(runloop_source_get_descriptor(listener));
    use_up_descriptors(2);
    RUN_UNTIL(MODE, arrivals.pauses == 1);
    EXPECT_EQ(arrivals.count, 2);
    EXPECT_EQ(arrivals.last_error, -EMFILE);
    int sleeps = 0;
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, count_activity, &sleeps);
    EXPECT_EQ(run_for(MODE, 300 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(sleeps < 20);
    EXPECT_EQ(arrivals.pauses, 1);
    EXPECT_EQ(arrivals.resumptions, 0);
    give_back_descriptors();
    RUN_UNTIL(MODE, arrivals.count == 5);
    EXPECT_EQ(arrivals.resumptions, 1);
    EXPECT_EQ(arrivals.pauses, 1);
    end_source(listener);
}

TEST("with a word for those who are refused, connections without a descriptor are accepted for it, and closed") {
    struct arrivals arrivals = {0};
    runloop_listener *listener = add_listener_with(
        (runloop_listener_config){
            .descriptor = runloop_listen_tcp("127.0.0.1", 0, 0), .owns = true, .refused = note_refused},
        &arrivals);
    int clients[5];
    for (int i = 0; i < 5; i++)
        clients[i] = connect_to(runloop_source_get_descriptor(listener));
    use_up_descriptors(2);
    RUN_UNTIL(MODE, arrivals.count + arrivals.refused == 5);
    EXPECT_EQ(arrivals.refused, 3);
    EXPECT_EQ(arrivals.pauses, 1);
    EXPECT_EQ(arrivals.last_error, -EMFILE);
    char bytes[8];
    EXPECT_EQ(recv(clients[4], bytes, sizeof bytes, 0), 4);
    EXPECT_EQ(recv(clients[4], bytes, sizeof bytes, 0), 0);
    close(arrivals.last);
    int late = connect_to(runloop_source_get_descriptor(listener));
    (void)late;
    RUN_UNTIL(MODE, arrivals.count + arrivals.refused == 6);
    give_back_descriptors();
    end_source(listener);
}

TEST("a flood of connections leaves other sources their turn, and the budget is kept") {
    struct arrivals arrivals = {0};
    runloop_listener *listener = add_listener_with(
        (runloop_listener_config){.descriptor = runloop_listen_tcp("127.0.0.1", 0, 0), .owns = true, .budget = 3},
        &arrivals);
    for (int i = 0; i < 10; i++)
        connect_to(runloop_source_get_descriptor(listener));
    for (int i = 1; i <= 4; i++) {
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(arrivals.count, i < 4 ? 3 * i : 10);
    }
    end_source(listener);
}

TEST("a listener may be ended in its own call-out, and the rest of its connections is reset") {
    struct arrivals arrivals = {.invalidates = true};
    runloop_listener *listener = add_listener_on(runloop_listen_tcp("127.0.0.1", 0, 0), &arrivals);
    int first = connect_to(runloop_source_get_descriptor(listener));
    int second = connect_to(runloop_source_get_descriptor(listener));
    RUN_UNTIL(MODE, arrivals.count == 1);
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
    char byte;
    EXPECT_EQ(recv(second, &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
    close(arrivals.last);
    EXPECT_EQ(recv(first, &byte, 1, 0), 0);
    end_source(listener);
}

TEST("a socket that others shut down is reported as a final error, without a spin") {
    struct arrivals arrivals = {0};
    int descriptor = runloop_listen_tcp("127.0.0.1", 0, 0);
    runloop_listener *listener = add_listener_on(descriptor, &arrivals);
    REQUIRE(shutdown(descriptor, SHUT_RDWR) == 0);
    RUN_UNTIL(MODE, arrivals.pauses == 1);
    EXPECT_EQ(arrivals.last_error, -EINVAL);
    EXPECT_EQ(run_for(MODE, 30 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(arrivals.pauses, 1);
    end_source(listener);
}

TEST("what is no listening socket is refused, and remains the caller's") {
    struct arrivals arrivals = {0};
    int ends[2], descriptor = runloop_listen_abstract(own_name(), 0);
    runloop_listener *listener = NULL;
    make_pipe(ends);
    runloop_listener_config config = {.descriptor = ends[0], .owns = true, .accepted = note_accepted};
    EXPECT_EQ(runloop_listener_create(&config, &listener), -ENOTSOCK);
    config.descriptor = connect_to(descriptor);
    EXPECT_EQ(runloop_listener_create(&config, &listener), -EINVAL);
    config.descriptor = -1;
    EXPECT_EQ(runloop_listener_create(&config, &listener), -EBADF);
    config.descriptor = descriptor, config.removes_path = true;
    EXPECT_EQ(runloop_listener_create(&config, &listener), -EINVAL);
    config.removes_path = false, config.accepted = NULL;
    EXPECT_EQ(runloop_listener_create(&config, &listener), -EINVAL);
    config.accepted = note_accepted, config.refused = note_refused;
    use_up_descriptors(0);
    EXPECT_EQ(runloop_listener_create(&config, &listener), -EMFILE);
    give_back_descriptors();
    EXPECT(!listener && fcntl(descriptor, F_GETFD) >= 0);
    (void)arrivals;
}

static runloop_listener *inherited;

static void use_inherited(void) {
    poll_mode(MODE);
    end_source(inherited);
}

TEST("a forked child that ends its copy takes nothing from its parent") {
    const char *path = new_path();
    struct arrivals arrivals = {0};
    inherited = add_listener_with(
        (runloop_listener_config){.descriptor = runloop_listen_unix(path, 0, 0), .owns = true, .removes_path = true},
        &arrivals);
    EXPECT_EQ(status_of_child(use_inherited), 0);
    close(connect_to(runloop_source_get_descriptor(inherited)));
    RUN_UNTIL(MODE, arrivals.count == 1);
    end_source(inherited);
    remove_folder_of(path);
}

static void set_number(const char *name, int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

/// In a child, where descriptors 3 and 4 are what the service manager hands over.
static void take_inherited(void) {
    runloop_inherited_socket sockets[4];
    int first = runloop_listen_tcp("127.0.0.1", 0, 0), second = runloop_listen_abstract(own_name(), 0);
    first = fcntl(first, F_DUPFD, 10), second = fcntl(second, F_DUPFD, 10);
    REQUIRE(dup2(first, 3) == 3 && dup2(second, 4) == 4);
    setenv("LISTEN_FDS", "2", 1);
    setenv("LISTEN_FDNAMES", "web:", 1);
    set_number("LISTEN_PID", getppid());
    EXPECT_EQ(runloop_take_inherited_sockets(sockets, 4), 0);
    set_number("LISTEN_PID", getpid());
    EXPECT_EQ(runloop_take_inherited_sockets(sockets, 1), -E2BIG);
    EXPECT_EQ(runloop_take_inherited_sockets(NULL, 4), -EINVAL);
    // Whoever runs the tests may have left it open.
    close(5);
    setenv("LISTEN_FDS", "3", 1);
    EXPECT_EQ(runloop_take_inherited_sockets(sockets, 4), -EBADF);
    setenv("LISTEN_FDS", "2", 1);
    EXPECT(getenv("LISTEN_FDS"));
    EXPECT_EQ(runloop_take_inherited_sockets(sockets, 4), 2);
    EXPECT(!getenv("LISTEN_FDS") && !getenv("LISTEN_PID") && !getenv("LISTEN_FDNAMES"));
    EXPECT_EQ(sockets[0].descriptor, 3);
    EXPECT_EQ(sockets[1].descriptor, 4);
    EXPECT_TEXT(sockets[0].name, "web");
    EXPECT_TEXT(sockets[1].name, "unknown");
    EXPECT(fcntl(4, F_GETFD) & FD_CLOEXEC);
    EXPECT(fcntl(3, F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(runloop_take_inherited_sockets(sockets, 4), 0);
    struct arrivals arrivals = {0};
    runloop_listener *listener = add_listener_on(sockets[0].descriptor, &arrivals);
    connect_to(3);
    RUN_UNTIL(MODE, arrivals.count == 1);
    end_source(listener);
    REQUIRE(dup2(4, 3) == 3);
    set_number("LISTEN_PID", getpid());
    setenv("LISTEN_FDS", "1", 1);
    char name[301];
    memset(name, 'n', 300);
    name[300] = 0;
    setenv("LISTEN_FDNAMES", name, 1);
    EXPECT_EQ(runloop_take_inherited_sockets(sockets, 4), 1);
    EXPECT_EQ(strlen(sockets[0].name), 255); // what is longer than systemd allows is cut
    set_number("LISTEN_PID", getpid());
    setenv("LISTEN_FDS", "many", 1);
    EXPECT_EQ(runloop_take_inherited_sockets(sockets, 4), -EINVAL);
}

TEST("the sockets of a service manager are taken once, by the process that they are for") {
    EXPECT_EQ(status_of_child(take_inherited), 0);
}

//===-- counters -----------------------------------------------------------------------------------------------------===//

struct sums {
    _Atomic uint64_t calls, sum;
};

static void note_sum(runloop_counter *counter, uint64_t sum, void *info) {
    struct sums *sums = info;
    (void)counter;
    sums->calls++;
    sums->sum += sum;
}

static void *add_many(void *counter) {
    for (int i = 0; i < 1000; i++)
        EXPECT_EQ(runloop_counter_add(counter, 2), 0);
    return NULL;
}

static runloop_counter *shared_counter;

static void add_in_child(void) {
    EXPECT_EQ(runloop_counter_add(shared_counter, 5), 0);
    runloop_source_release(shared_counter);
}

TEST("a counter's additions are reported as their sum, from threads and forked children too") {
    struct sums sums = {0};
    runloop_counter_config config = {.context.info = &sums, .counted = note_sum};
    runloop_counter *counter;
    REQUIRE(runloop_counter_create(&config, &counter) == 0);
    REQUIRE(runloop_add_source(runloop_current(), counter, MODE) == 0);
    for (int i = 1; i <= 4; i++)
        EXPECT_EQ(runloop_counter_add(counter, (uint64_t)i), 0);
    run_for(MODE, 0);
    EXPECT_EQ(sums.calls, 1);
    EXPECT_EQ(sums.sum, 10);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, add_many, counter) == 0);
    RUN_UNTIL(MODE, sums.sum == 2010);
    pthread_join(thread, NULL);
    shared_counter = counter;
    EXPECT_EQ(status_of_child(add_in_child), 0);
    RUN_UNTIL(MODE, sums.sum == 2015);
    EXPECT_EQ(runloop_counter_add(counter, 0), -EINVAL);
    EXPECT_EQ(runloop_counter_add(counter, UINT64_MAX), -EINVAL);
    EXPECT_EQ(runloop_counter_add(counter, UINT64_MAX - 1), 0);
    EXPECT_EQ(runloop_counter_add(counter, 1), -EAGAIN);
    runloop_source_invalidate(counter);
    runloop_source_invalidate(counter);
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
    runloop_source_release(counter);
    EXPECT_EQ(runloop_counter_create(NULL, &counter), -EINVAL);
    use_up_descriptors(0);
    EXPECT_EQ(runloop_counter_create(&config, &counter), -EMFILE);
    give_back_descriptors();
}
