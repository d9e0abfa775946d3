// publish.c — the reports on loops, for who connects to the process's socket.
#include <poll.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../Core/forks.h"
#include "runloop_diagnostics.h"

static char folder[64], path[96];

static void make_path(void) {
    snprintf(folder, sizeof folder, "/tmp/runloop-publish-XXXXXX");
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
}

static void remove_path(void) {
    runloop_unpublish();
    EXPECT(access(path, F_OK) != 0);
    EXPECT_EQ(rmdir(folder), 0);
}

static int make_client(void) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int connect_client(int client, const char *place) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    return connect(client, (struct sockaddr *)&address, sizeof address);
}

static int connect_to(const char *place) {
    int descriptor = make_client();
    if (connect_client(descriptor, place) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/// All that comes until the end of the stream, from malloc. Closes the descriptor.
static char *read_all(int descriptor) {
    size_t size = 0;
    char *text = calloc(1, 4 << 20);
    for (ssize_t got; (got = read(descriptor, text + size, (4 << 20) - 1 - size)) > 0;)
        size += (size_t)got;
    close(descriptor);
    return text;
}

/// How often the word is in the answer; -1 if the answer is no array.
static int ask_for(const char *place, const char *word) {
    int descriptor = connect_to(place);
    REQUIRE(descriptor >= 0);
    char *text = read_all(descriptor);
    size_t length = strlen(text);
    int found = length > 3 && text[0] == '[' && strcmp(text + length - 2, "]\n") == 0 ? 0 : -1;
    for (const char *at = text; found >= 0 && (at = strstr(at, word)); at++)
        found++;
    free(text);
    return found;
}

static runloop_timer *add_far_timer(const char *name) {
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, trace_fire, "");
    runloop_timer_set_name(timer, name, 0);
    return timer;
}

TEST("a publication at a relative path is withdrawn though the process has another working directory") {
    make_path();
    REQUIRE(chdir(folder) == 0);
    EXPECT_EQ(runloop_publish("socket"), 0);
    EXPECT_EQ(access(path, F_OK), 0);
    REQUIRE(chdir("/") == 0);
    remove_path();
}

TEST("what can't be published at says why, and leaves nothing") {
    make_path();
    char long_path[200];
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = 0;
    EXPECT_EQ(runloop_publish(""), -EINVAL);
    EXPECT_EQ(runloop_publish(long_path), -ENAMETOOLONG);
    EXPECT_EQ(runloop_publish("/nowhere/at/all"), -ENOENT);
    FILE *file = fopen(path, "w");
    fclose(file);
    EXPECT_EQ(runloop_publish(path), -EADDRINUSE);
    EXPECT_EQ(access(path, F_OK), 0);
    unlink(path);
    EXPECT(!runloop_get_tracer().trace);
    runloop_unpublish();
    EXPECT_EQ(runloop_publish(path), 0);
    remove_path();
}

static atomic_bool is_asked;

static void *follow_until_asked(void *context) {
    (void)context;
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_timer *timer = add_far_timer("of thread");
    atomic_store(&is_asked, false);
    WAIT_UNTIL(atomic_load(&is_asked));
    runloop_timer_invalidate(timer);
    return NULL;
}

TEST("who connects gets the reports of the publisher's loop and of all that are followed, though none of them runs") {
    make_path();
    atomic_store(&is_asked, true);
    runloop_timer *timer = add_far_timer("of main");
    EXPECT_EQ(runloop_publish(path), 0);
    struct stat file;
    EXPECT(stat(path, &file) == 0 && S_ISSOCK(file.st_mode) && (file.st_mode & 0777) == 0600);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    pthread_t thread;
    pthread_create(&thread, NULL, follow_until_asked, NULL);
    WAIT_UNTIL(!atomic_load(&is_asked));
    EXPECT_EQ(ask_for(path, "\"loop\":"), 2);
    EXPECT_EQ(ask_for(path, "\"of main\""), 1);
    EXPECT_EQ(ask_for(path, "\"of thread\""), 1);
    atomic_store(&is_asked, true);
    pthread_join(thread, NULL);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    runloop_timer_invalidate(timer);
    remove_path();
}

static _Atomic bool is_over;

static void *follow_for_a_moment(void *unused) {
    EXPECT_EQ(runloop_statistics_start(), 0);
    return unused;
}

static void *begin_and_end_loops(void *unused) {
    while (!is_over)
        on_new_thread(follow_for_a_moment, NULL);
    return unused;
}

TEST("a loop is in each answer once, whichever others begin and end meanwhile") {
    make_path();
    add_far_timer("lighthouse");
    EXPECT_EQ(runloop_publish(path), 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, begin_and_end_loops, NULL) == 0);
    for (int i = 0; i < (UNDER_SANITIZER ? 200 : 1000); i++)
        EXPECT_EQ(ask_for(path, "\"lighthouse\""), 1);
    is_over = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    remove_path();
}

TEST("a process is published once at a time, and again when it has ended that") {
    make_path();
    EXPECT_EQ(runloop_publish(path), 0);
    EXPECT_EQ(runloop_publish(path), -EBUSY);
    EXPECT_EQ(runloop_publish(NULL), -EBUSY);
    for (int i = 0; i < 100; i++) {
        runloop_unpublish();
        EXPECT(connect_to(path) < 0);
        EXPECT_EQ(runloop_publish(path), 0);
    }
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    runloop_unpublish();
    remove_path();
}

TEST("what an ended process left is replaced, what another one has is not, nor removed") {
    make_path();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(left, (struct sockaddr *)&address, sizeof address) == 0 && listen(left, 1) == 0);
    EXPECT_EQ(runloop_publish(path), -EADDRINUSE);
    close(left);
    EXPECT_EQ(runloop_publish(path), 0);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    // Somebody else's file, which came instead.
    unlink(path);
    FILE *file = fopen(path, "w");
    fclose(file);
    runloop_unpublish();
    EXPECT_EQ(access(path, F_OK), 0);
    unlink(path);
    remove_path();
}

TEST("what a process left is replaced, though its child lives and has the socket") {
    make_path();
    int left[2], held[2];
    char byte;
    REQUIRE(pipe(left) == 0 && pipe(held) == 0);
    pid_t process = fork();
    if (process == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        int listener = socket(AF_UNIX, SOCK_STREAM, 0);
        bool listens = bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 8) == 0;
        if (fork() == 0) {
            close(held[1]);
            _exit((int)read(held[0], &byte, 1));
        }
        _exit(listens ? 0 : 1);
    }
    int status;
    EXPECT(waitpid(process, &status, 0) == process && status == 0);
    close(held[0]);
    EXPECT_EQ(runloop_publish(path), 0);
    close(held[1]);
    remove_path();
}

TEST("who ends its publication listens no more, though a child of it lives") {
    make_path();
    int held[2];
    char byte;
    REQUIRE(pipe(held) == 0);
    EXPECT_EQ(runloop_publish(path), 0);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    char other[112];
    snprintf(other, sizeof other, "%s-other", path);
    REQUIRE(link(path, other) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(held[1]);
        _exit((int)read(held[0], &byte, 1));
    }
    runloop_unpublish();
    EXPECT_EQ(connect_to(other), -1);
    EXPECT_EQ(errno, ECONNREFUSED);
    close(held[1]);
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    unlink(other);
    remove_path();
}

static bool is_secure;

/// In the place of the C library's.
char *secure_getenv(const char *name) {
    return is_secure ? NULL : getenv(name);
}

static void expect_publication_in_tmp(void) {
    snprintf(path, sizeof path, "/tmp/runloop-%u/runloop-%d.sock", (unsigned)geteuid(), (int)getpid());
    EXPECT_EQ(runloop_publish(NULL), 0);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    runloop_unpublish();
    EXPECT(access(path, F_OK) != 0);
}

TEST("the default path has the process's id, in the user's folder") {
    make_path();
    setenv("XDG_RUNTIME_DIR", folder, 1);
    EXPECT_EQ(runloop_publish(NULL), 0);
    snprintf(path, sizeof path, "%s/runloop-%d.sock", folder, (int)getpid());
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    remove_path();
    // Neither relative paths count, nor those of who has fewer rights.
    setenv("XDG_RUNTIME_DIR", "here", 1);
    expect_publication_in_tmp();
    setenv("XDG_RUNTIME_DIR", "/tmp", 1);
    is_secure = true;
    expect_publication_in_tmp();
}

TEST("clients that send garbage, hang up or never read leave the others their answers") {
    make_path();
    enum { TIMERS = 4000, CLIENTS = 24 };
    runloop_timer *timers[TIMERS];
    // More than a socket takes.
    for (int i = 0; i < TIMERS; i++)
        timers[i] = add_far_timer("a name which makes an answer long");
    EXPECT_EQ(runloop_publish(path), 0);
    int clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(path);
        REQUIRE(clients[i] >= 0);
        if (i % 3 == 0)
            (void)!send(clients[i], "\0{[garbage", 10, MSG_NOSIGNAL);
        if (i % 3 == 1)
            shutdown(clients[i], SHUT_RDWR);
        if (i % 8 == 7)
            EXPECT_EQ(ask_for(path, "makes an answer long"), TIMERS);
    }
    EXPECT_EQ(ask_for(path, "makes an answer long"), TIMERS);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    for (int i = 0; i < TIMERS; i++)
        runloop_timer_invalidate(timers[i]);
    remove_path();
}

static void connect_as_nobody(void) {
    REQUIRE(setgid(65534) == 0 && setuid(65534) == 0);
    int descriptor = connect_to(path);
    char byte;
    // The end of the stream, unless the kernel refuses already.
    EXPECT(descriptor >= 0 && read(descriptor, &byte, 1) == 0);
}

TEST("another user is sent nothing, even if the file's mode lets it in") {
    if (geteuid() != 0)
        LEAVE_OUT("Only the superuser can be another user.");
    make_path();
    EXPECT_EQ(runloop_publish(path), 0);
    chmod(folder, 0755);
    chmod(path, 0666);
    expect_in_child(fork, connect_as_nobody);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    remove_path();
}

static void publish_in_child(void) {
    runloop_unpublish();
    EXPECT_EQ(runloop_publish(path), -EADDRINUSE);
    char own[112];
    snprintf(own, sizeof own, "%s-own", path);
    EXPECT_EQ(runloop_publish(own), 0);
    EXPECT_EQ(ask_for(own, "\"loop\":"), 1);
    runloop_unpublish();
    EXPECT(access(own, F_OK) != 0);
}

TEST("a forked child isn't published, leaves its parent's socket, and may have its own") {
    need_no_emulator("The emulator fails where a forked child makes threads.");
    if (UNDER_THREAD_SANITIZER)
        LEAVE_OUT("The sanitizer allows a forked child no threads.");
    make_path();
    EXPECT_EQ(runloop_publish(path), 0);
    expect_in_child(fork, publish_in_child);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    remove_path();
}

/// Publishes, and connects while the process may have as many descriptors as it has, or none at all: the server can't accept.
static int connect_without_descriptors(bool none_at_all, struct rlimit *before) {
    make_path();
    EXPECT_EQ(runloop_publish(path), 0);
    EXPECT_EQ(ask_for(path, "\"loop\":"), 1);
    int client = make_client();
    getrlimit(RLIMIT_NOFILE, before);
    // A new descriptor is the lowest that is free.
    const struct rlimit limit = {.rlim_cur = none_at_all ? 0 : (rlim_t)client + 1, .rlim_max = before->rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_EQ(connect_client(client, path), 0);
    return client;
}

static void expect_answer(int client, const struct rlimit *limit) {
    setrlimit(RLIMIT_NOFILE, limit);
    char *text = read_all(client);
    EXPECT(strstr(text, "\"loop\":"));
    free(text);
    remove_path();
}

static _Atomic int connected_count;

static void *connect_and_wait_for_end(void *client) {
    char byte;
    // Refused, or taken and ended.
    if (connect_client((int)(intptr_t)client, path) == 0) {
        connected_count++;
        while (read((int)(intptr_t)client, &byte, 1) > 0)
            ;
    }
    return NULL;
}

TEST("who waits to be accepted is refused when the publication ends, though a child has the socket") {
    enum { QUEUE = 8, CLIENTS = QUEUE + 6 };
    int held[2], clients[CLIENTS];
    pthread_t threads[CLIENTS];
    char byte;
    REQUIRE(pipe(held) == 0);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = make_client();
    struct rlimit before;
    int first = connect_without_descriptors(true, &before);
    pid_t child = fork();
    if (child == 0) {
        close(held[1]);
        _exit((int)read(held[0], &byte, 1));
    }
    for (int i = 0; i < CLIENTS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, connect_and_wait_for_end, (void *)(intptr_t)clients[i]) == 0);
    // The others wait, since nobody is accepted, or are about to.
    while (connected_count < QUEUE)
        sched_yield();
    setrlimit(RLIMIT_NOFILE, &before);
    runloop_unpublish();
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        close(clients[i]);
    }
    while (read(first, &byte, 1) > 0)
        ;
    close(first);
    close(held[1]);
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    remove_path();
}

static int64_t cpu_time_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static void expect_rest(void) {
    int64_t used_ns = cpu_time_ns(), since_ns = runloop_now_ns();
    pass_time(300 * MS);
    EXPECT(cpu_time_ns() - used_ns < (runloop_now_ns() - since_ns) / 8);
}

TEST("a lack of descriptors is waited for, not spun on") {
    struct rlimit before;
    int client = connect_without_descriptors(false, &before);
    struct pollfd answer = {.fd = client, .events = POLLIN};
    expect_rest();
    // Nobody can be let in, so nothing comes.
    EXPECT_EQ(poll(&answer, 1, 0), 0);
    expect_answer(client, &before);
}

TEST("a limit that is lower than the descriptors that are waited for is waited for, not spun on") {
    struct rlimit before;
    // The connection ends a poll that began before.
    int client = connect_without_descriptors(true, &before);
    expect_rest();
    expect_answer(client, &before);
}
