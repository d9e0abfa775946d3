// transfer.c — W14: how fast a loop moves bytes. `transfer pipe|socket 65536 256` sends 256 MiB in chunks of 65,536 bytes through a pipe, or a
// pair of Unix sockets, both ends in one thread, and prints MB per second of that thread's CPU time.

#include "transfer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    int ends[2];
    if (count != 4)
        return 2;
    // Of a pair, the first end is that of the reader as well.
    int result = strcmp(arguments[1], "pipe") == 0 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    if (result != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0)
        abort();
    size_t size = strtoul(arguments[2], NULL, 10), total = strtoul(arguments[3], NULL, 10) << 20;
    char *chunk = malloc(size);
    memset(chunk, 'c', size);
    double begin_s = now_s();
    if (transfer(ends[0], ends[1], chunk, size, total) != total)
        abort();
    printf("%.1f\n", (double)total / 1e6 / (now_s() - begin_s));
    return 0;
}
