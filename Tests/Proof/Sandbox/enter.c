// enter.c — starts a program in a filter of system calls: `enter DEFAULT FILE PROGRAM ARGUMENTS…`.
//
// Each line of the file has the number of a call and what it gives: 0, it is allowed, or an errno. DEFAULT is the same for all others.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST = 2000 };

static struct sock_filter filter[MOST];
static unsigned short count;

static void put(unsigned short code, unsigned char if_not, unsigned value) {
    filter[count++] = (struct sock_filter){.code = code, .jf = if_not, .k = value};
}

static void give(unsigned error) {
    put(BPF_RET | BPF_K, 0, error ? SECCOMP_RET_ERRNO | error : SECCOMP_RET_ALLOW);
}

int main(int arguments_count, char **arguments) {
    unsigned number, error;
    FILE *file = arguments_count > 3 ? fopen(arguments[2], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: enter DEFAULT FILE PROGRAM ARGUMENTS...\n");
        return 2;
    }
    put(BPF_LD | BPF_W | BPF_ABS, 0, offsetof(struct seccomp_data, nr));
    while (count + 4 < MOST && fscanf(file, "%u %u", &number, &error) == 2) {
        put(BPF_JMP | BPF_JEQ | BPF_K, 1, number);
        give(error);
    }
    give((unsigned)atoi(arguments[1]));
    fclose(file);
    struct sock_fprog program = {.len = count, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("enter: the filter is refused");
        return 126;
    }
    execv(arguments[3], arguments + 3);
    perror(arguments[3]);
    return 127;
}
