// fuzz.h — what the targets share: bytes that decide, and conditions that must hold whatever they are.
//
// A target is a file with the function that libFuzzer calls. replay.c calls the same one with the files of a corpus, and needs no libFuzzer.
#ifndef RUNLOOP_FUZZ_H
#define RUNLOOP_FUZZ_H

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/// Performs a target's body on a thread of its own, whose loop ends with it.
static inline void fuzz_on_thread(void *(*body)(void *), struct bytes *bytes) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, bytes) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static inline int fuzz_open_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

#endif // RUNLOOP_FUZZ_H
