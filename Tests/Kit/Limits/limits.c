// limits.c — the tests of a process run beside each other, with more descriptors than the 1,024 that a shell gives a process unless it asks.

#ifdef __linux__
#include <sys/resource.h>

__attribute__((constructor)) static void allow_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= 8192)
        return;
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &limit);
}
#endif // __linux__
