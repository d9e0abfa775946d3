// listeners_limits.c — addresses to the byte, what a listen that fails leaves, and what a forked child leaves to its parent.
#include <stddef.h>
#include <sys/un.h>

#include "children.h"

enum { SPACE = sizeof((struct sockaddr_un *)0)->sun_path };

static char path[SPACE + 1];

/// Of so many bytes.
static void make_path(size_t length) {
    memset(path, 'p', sizeof path);
    int used = snprintf(path, sizeof path, "/tmp/runloop-test-%d-", (int)getpid());
    path[used] = 'p';
    path[length] = 0;
    REQUIRE(strlen(path) == length);
}

static void note_outcome(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect, (void)descriptor, (void)error, (void)info;
}

TEST("a path that has no space for its null is too long, to listen and to connect") {
    runloop_connect *connect = NULL;
    make_path(SPACE);
    const runloop_connect_config config = {.path = path, .connected = note_outcome};
    EXPECT_EQ(runloop_listen_unix(path, 0, 1), -ENAMETOOLONG);
    EXPECT_EQ(runloop_connect_create(&config, &connect), -ENAMETOOLONG);
    make_path(SPACE - 1);
    int listening = runloop_listen_unix(path, 0, 1);
    EXPECT(listening >= 0);
    close(connect_to(listening));
    close(listening);
    unlink(path);
}

TEST("an abstract name ends with its last byte, as for other programs") {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(own_name());
    memcpy(address.sun_path + 1, own_name(), length);
    int listening = runloop_listen_abstract(own_name(), 1), client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(listening >= 0 && client >= 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    EXPECT_EQ(connect(client, (struct sockaddr *)&address, size), 0);
    close(client);
    close(listening);
}

static void listen_in_sandbox(void) {
    refuse(SYS_listen, EPERM);
    EXPECT_EQ(runloop_listen_unix(path, 0, 1), -EPERM);
}

TEST("a listen that fails when its path is there already removes the path") {
    need_socket_calls();
    make_path(60);
    EXPECT_EQ(status_of_child(listen_in_sandbox), 0);
    EXPECT(access(path, F_OK) == -1 && errno == ENOENT);
}

TEST("a peer whose process can't be named for want of a descriptor is an error, not one without a process") {
    int ends[2];
    runloop_peer peer = {.pidfd = -1};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    REQUIRE(runloop_socket_get_peer(ends[0], &peer) == 0);
    if (peer.pidfd < 0)
        LEAVE_OUT("The kernel gives no pidfd of a peer.");
    close(peer.pidfd);
    use_up_descriptors(0);
    EXPECT_EQ(runloop_socket_get_peer(ends[0], &peer), -EMFILE);
    give_back_descriptors();
}

//===-- forks --------------------------------------------------------------------------------------------------------===//

static void close_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
}

static runloop_listener *inherited;

static void end_inherited(void) {
    // The loop's reference, too, whose thread is not here.
    runloop_source_release(inherited);
    runloop_source_release(inherited);
}

TEST("a forked child that frees a listener leaves the path to its parent") {
    make_path(60);
    int listening = runloop_listen_unix(path, 0, 1);
    REQUIRE(listening >= 0);
    inherited = add_listener(&(runloop_listener_config){
        .descriptor = listening, .owns = true, .removes_path = true, .accepted = close_accepted});
    EXPECT_EQ(status_of_child(end_inherited), 0);
    EXPECT_EQ(access(path, F_OK), 0);
    end_source(inherited);
    EXPECT(access(path, F_OK) == -1 && errno == ENOENT);
}

static int accepted;
static bool is_in_child;

static void fork_in_call(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
    pid_t child = accepted++ == 0 ? fork() : -1;
    is_in_child = child == 0;
    int status = -1;
    if (child > 0) {
        REQUIRE(waitpid(child, &status, 0) == child);
        EXPECT_EQ(status, 0);
    }
}

TEST("R123 a child that is forked in the call for a connection takes none of those that its parent has in its queue") {
    inherited = add_listener(&(runloop_listener_config){
        .descriptor = runloop_listen_tcp("127.0.0.1", 0, 0), .owns = true, .accepted = fork_in_call});
    int clients[2];
    for (int i = 0; i < 2; i++)
        clients[i] = connect_to(runloop_source_get_descriptor(inherited));
    int result = 0;
    while (accepted < 2 && result >= 0 && !is_in_child)
        result = runloop_run_in_mode(MODE, 10 * SECOND, true);
    if (is_in_child)
        _exit(accepted == 1 && result == -ECHILD ? 0 : 1);
    EXPECT_EQ(accepted, 2);
    for (int i = 0; i < 2; i++)
        close(clients[i]);
    end_source(inherited);
}
