// cover_proc.h — /proc becomes an empty folder for this process and what it starts.
#ifndef RUNLOOP_TEST_COVER_PROC_H
#define RUNLOOP_TEST_COVER_PROC_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/// In a new namespace of users the user stays who it is. A map of groups may be written once they can't be given up any more.
static inline int write_map(const char *path, const char *format, unsigned id) {
    char text[64];
    int length = snprintf(text, sizeof text, format, id, id), file = open(path, O_WRONLY | O_CLOEXEC);
    int result = file >= 0 && write(file, text, (size_t)length) == length ? 0 : -1;
    if (file >= 0)
        close(file);
    return result;
}

/// Has a namespace of mounts, for which all but root need one of users. -1 and errno: that isn't allowed here.
static inline int have_own_mounts(void) {
    unsigned user = geteuid(), group = getegid();
    if (unshare(CLONE_NEWNS | (user ? CLONE_NEWUSER : 0)) < 0)
        return -1;
    if (user &&
        (write_map("/proc/self/setgroups", "deny", 0) < 0 || write_map("/proc/self/uid_map", "%u %u 1", user) < 0 ||
         write_map("/proc/self/gid_map", "%u %u 1", group) < 0))
        return -1;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static inline int cover_proc(void) {
    return have_own_mounts() < 0 ? -1 : mount("none", "/proc", "tmpfs", MS_RDONLY, NULL);
}

#endif // RUNLOOP_TEST_COVER_PROC_H
