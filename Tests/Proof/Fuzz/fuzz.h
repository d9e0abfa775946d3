// fuzz.h — what the targets share: bytes that decide, and conditions that must hold whatever they are.
//
// A target is a file with the function that libFuzzer calls. replay.c calls the same one with the files of a corpus, and needs no libFuzzer.
#ifndef RUNLOOP_FUZZ_H
#define RUNLOOP_FUZZ_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runloop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: it does not hold that %s\n", __FILE__, __LINE__, #condition);                      \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct bytes {
    const uint8_t *next, *end;
};

static inline bool bytes_left(const struct bytes *bytes) {
    return bytes->next < bytes->end;
}

/// The next choice, below the limit. 0 when the bytes are used up.
static inline unsigned bytes_take(struct bytes *bytes, unsigned limit) {
    return bytes_left(bytes) ? *bytes->next++ % limit : 0;
}

/// Of thread.c: every loop has a thread of its own.
extern bool fuzz_makes_threads;

/// Performs the body, and with it the whole life of a loop: on the calling thread, or, for one size of 16, on one that ends with it. A thread costs
/// more than most inputs do.
static inline void fuzz_with_loop(void *(*body)(void *), void *argument, size_t size) {
    if (size % 16 != 15 && !fuzz_makes_threads) {
        body(argument);
        CHECK(runloop_end_current() == 0);
        return;
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

/// The size of the folder is the number of its entries since Linux 6.2, and 0 before.
static inline int fuzz_open_descriptors(void) {
    static int folder = -1;
    struct stat status;
    if (folder < 0)
        folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(folder >= 0 && fstat(folder, &status) == 0);
    if (status.st_size > 0)
        return (int)status.st_size;
    int count = 0;
    DIR *entries = opendir("/proc/self/fd");
    CHECK(entries);
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

#endif // RUNLOOP_FUZZ_H
