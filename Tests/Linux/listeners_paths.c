// listeners_paths.c — paths of sockets in directories of others: their locks, their permissions, and what they put there.
// Link with -Wl,--wrap=syscall.
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "linux_items.h"
#include "wrapped_syscall.h"

enum { NOBODY = 65534 };

static char folder[40], path[64], other[64];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/runloop-paths-XXXXXX");
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(other, sizeof other, "%s/other", folder);
}

static void remove_folder(void) {
    unlink(path);
    unlink(other);
    EXPECT_EQ(rmdir(folder), 0);
}

static int permissions_of(const char *file) {
    struct stat status;
    return lstat(file, &status) == 0 ? (int)(status.st_mode & 07777) : -1;
}

//===-- what happens between two steps of the library ----------------------------------------------------------------===//

static void (*after_listening)(void), (*after_opening)(void);
static bool is_secure;

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/// In the place of the C library's.
int listen(int descriptor, int backlog) {
    int result = (int)syscall(SYS_listen, descriptor, backlog);
    if (after_listening)
        after_listening();
    return result;
}

int open(const char *file, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, flags, mode);
    if ((flags & O_PATH) && after_opening)
        after_opening();
    return descriptor;
}

char *secure_getenv(const char *name) {
    return is_secure ? NULL : getenv(name);
}

//===-- locks and permissions of directories -------------------------------------------------------------------------===//

TEST("whoever holds the lock of a directory keeps nobody from listening there") {
    make_folder();
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(directory >= 0 && flock(directory, LOCK_SH) == 0);
    int first = runloop_listen_unix(path, 0, 0);
    EXPECT(first >= 0);
    close(first); // as a program that is killed does
    int second = runloop_channel_listen(path, 0, 0);
    EXPECT(second >= 0);
    EXPECT_EQ(runloop_listen_unix(path, 0, 0), -EADDRINUSE);
    close(second);
    close(directory);
    remove_folder();
}

static void listen_twice(void) {
    // A superuser may read what nobody may read.
    if (geteuid() == 0)
        REQUIRE(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    EXPECT_EQ(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), -1);
    int first = runloop_listen_unix(path, 0666, 0);
    EXPECT(first >= 0);
    EXPECT_EQ(permissions_of(path), 0666);
    EXPECT_EQ(runloop_listen_unix(path, 0666, 0), -EADDRINUSE);
    close(first);
    int second = runloop_listen_unix(path, 0, 0);
    EXPECT(second >= 0);
    close(second);
}

TEST("a directory that can be written but not read has sockets as any other") {
    make_folder();
    REQUIRE(chmod(folder, 0300) == 0 && (geteuid() != 0 || chown(folder, NOBODY, NOBODY) == 0));
    EXPECT_EQ(status_of_child(listen_twice), 0);
    remove_folder();
}

//===-- others who write to the directory ----------------------------------------------------------------------------===//

static void put_link_there(void) {
    REQUIRE(unlink(path) == 0 && symlink(other, path) == 0);
}

static void put_file_there(void) {
    REQUIRE(unlink(path) == 0 && link(other, path) == 0);
}

static void put_nothing_there(void) {
    REQUIRE(unlink(path) == 0);
}

TEST("what is put in the place of a new path keeps its permissions") {
    make_folder();
    umask(077); // so that there is something to add to the permissions of a path
    int file = open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    close(file);
    static void (*const swaps[])(void) = {put_link_there, put_file_there};
    for (int i = 0; i < 4; i++) {
        after_listening = swaps[i % 2];
        EXPECT_EQ(i < 2 ? runloop_listen_unix(path, 0666, 0) : runloop_channel_listen(path, 0666, 0), -EADDRINUSE);
        EXPECT_EQ(permissions_of(other), 0600);
        EXPECT_EQ(unlink(path), 0); // nor is it removed
    }
    after_listening = put_nothing_there;
    EXPECT_EQ(runloop_listen_unix(path, 0666, 0), -ENOENT);
    remove_folder();
}

TEST("what is put in the place of a path that was found to be ours keeps its permissions, on older kernels too") {
    need_proc();
    make_folder();
    umask(077);
    close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    for (int i = 0; i < 4; i++) {
        refused_call = SYS_fchmodat2;
        refusal = i % 2 ? ENOSYS : 0;
        after_opening = i < 2 ? NULL : put_link_there;
        int descriptor = runloop_listen_unix(path, 0666, 0);
        EXPECT(descriptor >= 0);
        EXPECT_EQ(permissions_of(i < 2 ? path : other), i < 2 ? 0666 : 0600);
        close(descriptor);
        EXPECT_EQ(unlink(path), 0);
    }
    remove_folder();
}

static void put_socket_there(void) {
    after_listening = NULL;
    REQUIRE(unlink(path) == 0 && rename(other, path) == 0);
}

TEST("another socket in the place of a new path is neither changed nor removed, whatever its permissions are") {
    make_folder();
    umask(077);
    const uint32_t modes[] = {0606, 0666};
    for (int i = 0; i < 2; i++) {
        int theirs = runloop_listen_unix(other, 0640, 0);
        REQUIRE(theirs >= 0);
        after_listening = put_socket_there;
        EXPECT_EQ(runloop_listen_unix(path, modes[i], 0), -EADDRINUSE);
        EXPECT_EQ(permissions_of(path), 0640);
        close(theirs);
        unlink(path);
    }
    remove_folder();
}

//===-- ends ---------------------------------------------------------------------------------------------------------===//

static void never_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)descriptor, (void)info;
    EXPECT(false);
}

TEST("a path that fills its address, without a zero at its end, is removed with its listener") {
    make_folder();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[sizeof address.sun_path + 1];
    memset(name, 'x', sizeof name);
    memcpy(name, folder, strlen(folder));
    name[strlen(folder)] = '/';
    name[sizeof name - 1] = 0;
    memcpy(address.sun_path, name, sizeof address.sun_path);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(listening, (struct sockaddr *)&address, sizeof address) == 0 && listen(listening, 0) == 0);
    const runloop_listener_config config = {
        .descriptor = listening, .owns = true, .removes_path = true, .accepted = never_accepted};
    runloop_listener *listener = NULL;
    REQUIRE(runloop_listener_create(&config, &listener) == 0);
    runloop_source_release(listener);
    EXPECT_EQ(access(name, F_OK), -1);
    remove_folder();
}

//===-- the environment ----------------------------------------------------------------------------------------------===//

TEST("a program with more rights than who has started it believes nothing of the environment") {
    make_folder();
    REQUIRE(setenv("XDG_RUNTIME_DIR", folder, 1) == 0);
    int plain = runloop_channel_listen("socket", 0, 0);
    EXPECT(plain >= 0);
    is_secure = true;
    EXPECT_EQ(runloop_channel_listen("socket-2", 0, 0), -ENOENT);
    runloop_channel *channel = NULL;
    EXPECT_EQ(runloop_channel_connect("socket", &(runloop_channel_config){0}, &channel), -ENOENT);
    REQUIRE(setenv("RUNLOOP_DIAGNOSTICS", "0", 1) == 0);
    EXPECT(runloop_diagnostics_are_enabled()); // nor can a caller silence it
    close(plain);
    remove_folder();
}
