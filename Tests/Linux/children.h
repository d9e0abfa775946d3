// children.h — what the tests of started children share.
#ifndef RUNLOOP_TEST_CHILDREN_H
#define RUNLOOP_TEST_CHILDREN_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "linux_items.h"

/// The ends that were reported.
struct ends {
    _Atomic int count;
    runloop_child_exit last;
};

static inline void note_end(runloop_child *child, const runloop_child_exit *exit, void *info) {
    struct ends *ends = info;
    runloop_child_exit known;
    EXPECT_EQ(runloop_child_get_exit(child, &known), 0);
    EXPECT_EQ(known.status, exit->status);
    EXPECT(!runloop_source_is_valid(child));
    ends->last = *exit;
    ends->count++;
}

/// An array of arguments, or of variables.
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(command) WORDS("sh", "-c", command)

/// Leaves the test out in an emulator that makes no process with a pidfd.
static inline void need_starts(void) {
    static bool is_known;
    runloop_child *child = NULL;
    if (is_known || !is_emulated())
        return;
    is_known = true;
    if (runloop_child_start(&(runloop_child_start_config){.arguments = WORDS("/bin/true")}, &child) == -ENOSYS)
        LEAVE_OUT("The emulator does not know CLONE_PIDFD.");
    REQUIRE(waitpid(runloop_child_get_pid(child), NULL, 0) > 0);
    runloop_source_release(child);
}

/// Starts a program, and adds the child to a mode of the calling thread's loop. One reference.
static inline runloop_child *start(runloop_child_start_config config, struct ends *ends) {
    char failed[256];
    runloop_child *child = NULL;
    need_starts();
    config.child.context.info = ends;
    config.child.exited = note_end;
    config.searches = true;
    config.failed = failed;
    config.failed_size = sizeof failed;
    int result = runloop_child_start(&config, &child);
    if (result < 0)
        fprintf(stderr, "    %s: %s\n", failed, strerror(-result));
    REQUIRE(result == 0 && child && runloop_child_get_pid(child) > 0 && !*failed);
    REQUIRE(runloop_add_source(runloop_current(), child, MODE) == 0);
    return child;
}

/// What comes from a descriptor that does not block, until its end; closed then.
static inline void read_to_end(int descriptor, char *text, size_t size) {
    size_t used = 0;
    for (ssize_t got = 1; got != 0 && used + 1 < size;) {
        REQUIRE(poll(&(struct pollfd){.fd = descriptor, .events = POLLIN}, 1, 30000) == 1 || errno == EINTR);
        got = read(descriptor, text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = 0;
    close(descriptor);
}

/// Runs a program with further descriptors than its output, and gives what it writes until it exits with status 0.
static inline const char *output_of(runloop_child_start_config config) {
    static __thread char text[16384];
    struct ends ends = {0};
    runloop_child_descriptor descriptors[16] = {{.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE}};
    int output = -1;
    descriptors[0].parent_end = &output;
    REQUIRE(config.descriptor_count < 16);
    for (size_t i = 0; i < config.descriptor_count; i++)
        descriptors[i + 1] = config.descriptors[i];
    config.descriptors = descriptors;
    config.descriptor_count++;
    runloop_child *child = start(config, &ends);
    read_to_end(output, text, sizeof text);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_EXITED);
    EXPECT_EQ(ends.last.status, 0);
    EXPECT(ends.last.has_usage);
    runloop_source_release(child);
    return text;
}

/// The umask takes nothing from the mode.
static inline void make_file(const char *path, mode_t mode, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    REQUIRE(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(file, mode) == 0);
    close(file);
}

static inline void *signal_all_the_time(void *stop) {
    while (!*(_Atomic bool *)stop)
        kill(getpid(), SIGUSR1);
    return NULL;
}

/// From now on the kernel answers a system call with an error, if the lower half of an argument has this value; -1: whatever it has.
static inline void refuse_if(int call, int argument, uint32_t value, int error) {
    bool is_little = *(const char *)&(const int){1} == 1;
    uint32_t argument_at = (uint32_t)offsetof(struct seccomp_data, args) + 8 * (uint32_t)argument + (is_little ? 0 : 4);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, argument < 0 ? 2 : 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument < 0 ? 0 : argument_at),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    int result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (result < 0 && errno == EINVAL)
        LEAVE_OUT("The emulator does not know filters of system calls.");
    REQUIRE(result == 0);
}

static inline void refuse(int call, int error) {
    refuse_if(call, -1, 0, error);
}

/// For tests that refuse a call of sockets by its number.
static inline void need_socket_calls(void) {
#if defined(__i386__) && defined(__GLIBC__)
    LEAVE_OUT("Here libc makes each of them by one system call, socketcall.");
#endif
}

#endif // RUNLOOP_TEST_CHILDREN_H
