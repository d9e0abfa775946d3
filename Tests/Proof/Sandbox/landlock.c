// landlock.c — starts a program that may read and execute all files, and write only to devices and in some folders:
// `landlock FOLDER… -- PROGRAM ARGUMENTS…`.
//
// A process may restrict itself like that, and what it starts, without any rights.
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRUNCATE = 1 << 14, IOCTL_DEVICE = 1 << 15 };

static const unsigned long long reading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
/// Only these can be said of what is no folder. Headers may be older than the kernel, and lack the last two.
static const unsigned long long of_files =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE | IOCTL_DEVICE;

/// All that this version of Landlock can forbid: 13 rights; from the second on renames to other folders, from the third on truncation, from the
/// fifth on ioctl of devices.
static unsigned long long everything(long version) {
    int rights = version < 2 ? 13 : version < 3 ? 14 : version < 5 ? 15 : 16;
    return (1ULL << rights) - 1;
}

static int allow(int rules, const char *path, unsigned long long rights) {
    struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0) {
        perror(path);
        return -1;
    }
    close(beneath.parent_fd);
    return 0;
}

int main(int count, char **arguments) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 0) {
        perror("this kernel has no Landlock");
        return 126;
    }
    struct landlock_ruleset_attr attributes = {.handled_access_fs = everything(version)};
    // The kernel takes the size of any version; what ours has no names for stays allowed.
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0);
    if (rules < 0 || allow(rules, "/", reading) < 0 || allow(rules, "/dev", everything(version) & of_files) < 0)
        return 126;
    int program = 1;
    for (; program < count && strcmp(arguments[program], "--") != 0; program++)
        if (allow(rules, arguments[program], everything(version)) < 0)
            return 126;
    if (program + 1 >= count) {
        fprintf(stderr, "usage: landlock FOLDERS... -- PROGRAM ARGUMENTS...\n");
        return 2;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, rules, 0) < 0) {
        perror("landlock");
        return 126;
    }
    execv(arguments[program + 1], arguments + program + 1);
    perror(arguments[program + 1]);
    return 127;
}
