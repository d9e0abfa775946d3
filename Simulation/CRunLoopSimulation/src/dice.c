// dice.c — the random numbers of a thread of a simulation, whichever way it asks for them: getrandom and its kind, and the devices of the kernel, by
// a descriptor or a stream that may have been opened long before, by another thread.

#ifdef __linux__
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "joined.h"

UNINSTRUMENTED uint64_t runloop_simulation_next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15;
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

UNINSTRUMENTED void runloop_simulation__throw_dice(void *bytes, size_t count) {
    struct runloop_simulated_world *world = runloop_simulation__joined.world;
    if (!world->has_dice)
        world->random = world->first_random(runloop_simulation__joined.simulation);
    world->has_dice = true;
    for (char *end = (char *)bytes + count, *next = bytes; next < end; next += sizeof(uint64_t)) {
        uint64_t number = runloop_simulation_next_random(&world->random);
        size_t left = (size_t)(end - next);
        memcpy(next, &number, left < sizeof number ? left : sizeof number);
    }
}

//===-- functions ----------------------------------------------------------------------------------------------------===//

UNINSTRUMENTED ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    return syscall(SYS_getrandom, bytes, count, flags);
}

int getentropy(void *bytes, size_t count) {
    enum { MOST = 256 };
    if (!runloop_simulation__joined.simulation)
        return REAL(getentropy)(bytes, count);
    if (count > MOST) {
        errno = EIO;
        return -1;
    }
    runloop_simulation__throw_dice(bytes, count);
    return 0;
}

void arc4random_buf(void *bytes, size_t count) {
    static _Atomic(void *) found;
    if (runloop_simulation__joined.simulation) {
        runloop_simulation__throw_dice(bytes, count);
        return;
    }
    // Not each libc has it; another library may have it then.
    if (!atomic_load(&found))
        atomic_store(&found, dlsym(RTLD_NEXT, "arc4random_buf"));
    void (*real)(void *, size_t) = (void (*)(void *, size_t))atomic_load(&found);
    if (real) {
        real(bytes, count);
        return;
    }
    while (count > 0) {
        ssize_t taken = getrandom(bytes, count, 0);
        if (taken > 0) {
            bytes = (char *)bytes + taken;
            count -= (size_t)taken;
        }
    }
}

uint32_t arc4random(void) {
    uint32_t number;
    arc4random_buf(&number, sizeof number);
    return number;
}

/// Below the limit, each as likely as any other: those of the last, incomplete round are thrown again.
uint32_t arc4random_uniform(uint32_t limit) {
    uint32_t number;
    if (limit < 2)
        return 0;
    do
        number = arc4random();
    while (number < -limit % limit);
    return number % limit;
}

//===-- devices ------------------------------------------------------------------------------------------------------===//

bool runloop_simulation__is_dice(int descriptor) {
    enum { MEMORY = 1, RANDOM = 8, URANDOM = 9 };
    struct stat status;
    int saved = errno;
    if (!runloop_simulation__joined.simulation)
        return false;
    bool is_device = fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == MEMORY;
    errno = saved;
    return is_device && (minor(status.st_rdev) == RANDOM || minor(status.st_rdev) == URANDOM);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t position) {
    if (!runloop_simulation__is_dice(descriptor))
        return REAL(pread)(descriptor, bytes, count, position);
    runloop_simulation__throw_dice(bytes, count);
    return (ssize_t)count;
}

ssize_t readv(int descriptor, const struct iovec *pieces, int count) {
    ssize_t size = 0;
    if (!runloop_simulation__is_dice(descriptor))
        return REAL(readv)(descriptor, pieces, count);
    for (int i = 0; i < count; i++) {
        runloop_simulation__throw_dice(pieces[i].iov_base, pieces[i].iov_len);
        size += (ssize_t)pieces[i].iov_len;
    }
    return size;
}

/// Of streams. What they have in their buffers is not the seed's, and is left there.
static bool is_stream_of_dice(FILE *stream) {
    return runloop_simulation__joined.simulation && runloop_simulation__is_dice(fileno(stream));
}

size_t fread(void *restrict bytes, size_t size, size_t count, FILE *restrict stream) {
    if (!is_stream_of_dice(stream))
        return REAL(fread)(bytes, size, count, stream);
    runloop_simulation__throw_dice(bytes, size * count);
    return size ? count : 0;
}

int fgetc(FILE *stream) {
    unsigned char byte;
    if (!is_stream_of_dice(stream))
        return REAL(fgetc)(stream);
    runloop_simulation__throw_dice(&byte, sizeof byte);
    return byte;
}

#undef getc
int getc(FILE *stream) {
    return fgetc(stream);
}
#endif // __linux__
