// conditions.c — what a process may lack: each limit of setrlimit, /proc, a generator of random numbers, space on the disk, its standard
// descriptors, stack.
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../../Sandbox/cover_proc.h"
#include "denied.h"

//===-- limits -------------------------------------------------------------------------------------------------------===//

static void limit(int resource, bool is_on, rlim_t value) {
    static struct rlimit usual[RLIM_NLIMITS];
    static bool is_known[RLIM_NLIMITS];
    if (!is_known[resource])
        MUST(getrlimit(resource, &usual[resource]) == 0);
    is_known[resource] = true;
    struct rlimit next = usual[resource];
    // Never above the other one.
    if (is_on && value < next.rlim_max)
        next.rlim_cur = value;
    MUST(setrlimit(resource, &next) == 0);
}

static void limit_files(bool is_on) {
    limit(RLIMIT_FSIZE, is_on, (rlim_t)condition_value);
}
static void limit_descriptors(bool is_on) {
    limit(RLIMIT_NOFILE, is_on, (rlim_t)condition_value);
}
static void limit_signals(bool is_on) {
    limit(RLIMIT_SIGPENDING, is_on, (rlim_t)condition_value);
}
static void limit_locked_memory(bool is_on) {
    limit(RLIMIT_MEMLOCK, is_on, (rlim_t)condition_value);
}
static void limit_processes(bool is_on) {
    limit(RLIMIT_NPROC, is_on, (rlim_t)condition_value);
}
static void limit_stack(bool is_on) {
    limit(RLIMIT_STACK, is_on, (rlim_t)condition_value << 10);
}

/// What the process has, in KiB, of a line of /proc/self/status.
static rlim_t used_kib(const char *line) {
    static char text[8192];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    MUST(length > 0);
    close(file);
    text[length] = 0;
    const char *found = strstr(text, line);
    MUST(found);
    return strtoul(found + strlen(line), NULL, 10);
}

/// Beyond what the process has when failures first begin.
static void limit_memory(int resource, const char *line, bool is_on) {
    static rlim_t had_kib;
    if (is_on && had_kib == 0)
        had_kib = used_kib(line);
    limit(resource, is_on, (had_kib + (rlim_t)condition_value) << 10);
}
static void limit_addresses(bool is_on) {
    limit_memory(RLIMIT_AS, "VmSize:", is_on);
}
static void limit_data(bool is_on) {
    limit_memory(RLIMIT_DATA, "VmData:", is_on);
}

/// root may have as many processes as there are. A user without any rights, for whom other tests run as well, has at most these.
static bool become_somebody(int unused) {
    (void)unused;
    if (geteuid() == 0 && (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
        return false;
    return prctl(PR_SET_DUMPABLE, 1) == 0;
}

//===-- files --------------------------------------------------------------------------------------------------------===//

static bool empty_proc(int unused) {
    (void)unused;
    return cover_proc() == 0;
}

/// /tmp has nothing left while failures are on: no block and no file.
static bool make_small_disk(int unused) {
    (void)unused;
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/tmp", "tmpfs", 0, "size=256k,nr_inodes=64") == 0;
}

static void fill_disk(bool is_on) {
    static char block[4096];
    char path[64];
    if (is_on) {
        int file = open("/tmp/filler", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        while (file >= 0 && write(file, block, sizeof block) > 0)
            continue;
        close(file);
    }
    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "/tmp/filler-%d", i);
        int file = is_on ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
        if (file >= 0)
            close(file);
        else if (!is_on)
            unlink(path);
    }
    if (!is_on)
        unlink("/tmp/filler");
}

/// The bits of the value are descriptors.
static bool close_standard(int which) {
    for (int i = 0; i < 3; i++) {
        if (which & (1 << i))
            close(i);
    }
    return true;
}

//===-- all of them --------------------------------------------------------------------------------------------------===//

static const int always[] = {1, -1}, none[] = {0, -1};
static const int sizes[] = {0, 1, 100, 4096, 65536, -1};
static const int small[] = {0, 1, 2, 3, 4, 8, -1};
static const int kib[] = {0, 64, 256, 1024, 4096, 16384, -1};
static const int stacks_kib[] = {16, 64, 128, 1024, -1};
static const int subsets[] = {1, 2, 3, 4, 5, 6, 7, -1};
static const int numbers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                              22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
                              44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, -1};

/// What runloop.h asks for, where the C library does not ask for more.
enum { LEAST_STACK = 16 << 10 };

const struct condition denied_conditions[] = {
    {"RLIMIT_FSIZE", sizes, .switched = limit_files, .reaches_programs = true},
    {"RLIMIT_NOFILE", numbers, .switched = limit_descriptors, .reaches_programs = true, .ends_when_absorbed = true},
    {"RLIMIT_AS", kib, .switched = limit_addresses, .reaches_programs = true},
    {"RLIMIT_DATA", kib, .switched = limit_data, .reaches_programs = true},
    {"RLIMIT_SIGPENDING", small, .switched = limit_signals, .reaches_programs = true},
    {"RLIMIT_MEMLOCK", none, .switched = limit_locked_memory, .reaches_programs = true},
    {"RLIMIT_NPROC", small, .set_up = become_somebody, .switched = limit_processes, .reaches_programs = true},
    {"RLIMIT_STACK", stacks_kib, .switched = limit_stack, .reaches_programs = true},
    {"no /proc", always, .hidden = "/proc"},
    {"an empty /proc", always, .set_up = empty_proc},
    {"no /dev/urandom", always, .hidden = "/dev/urandom"},
    {"no /dev/null", always, .hidden = "/dev/null"},
    {"a full disk", always, .set_up = make_small_disk, .switched = fill_disk},
    {"closed descriptors", subsets, .set_up = close_standard},
    {"the least stack", always, .stack = LEAST_STACK},
    {NULL},
};
