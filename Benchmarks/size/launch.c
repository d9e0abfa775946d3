// launch PROGRAM TIMES: runs a program that many times, and prints for each run the microseconds from start to end and the peak
// memory in kilobytes. It is a separate program because Linux includes the parent's memory at the start in a process's peak
// memory.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    char *arguments[] = {words[1], NULL};
    for (int left = atoi(words[2]); left > 0; left--) {
        pid_t child;
        int status;
        struct rusage usage;
        long long began_ns = now_ns();
        if (posix_spawn(&child, words[1], NULL, NULL, arguments, environ) != 0 || wait4(child, &status, 0, &usage) < 0)
            return 1;
        long long spent_ns = now_ns() - began_ns;
        if (status != 0)
            return 1;
        printf("%lld %ld\n", spent_ns / 1000, usage.ru_maxrss);
    }
    return 0;
}
