// process.c — the process: which of its forks this one is.
//
// A forked child must notice before it touches what it inherited, however it was forked: by fork, by _Fork, or by a bare clone. So
// the generation lies in a page that the kernel fills with zeros in a child (MADV_WIPEONFORK). The first question in the child finds
// 0 and gives itself the next number. Kernels and emulators without that page fall back to a handler of pthread_atfork, which is
// registered before main and so sees every fork but a bare clone.

#ifdef __linux__
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

_Thread_local FAST_TLS struct runloop__this_thread runloop__this_thread;

static _Atomic uint32_t fallback_word = 1;
_Atomic uint32_t *runloop__generation_word = &fallback_word;

/// In memory that a child inherits: the number that the page had last.
static _Atomic uint32_t last_generation = 1;

uint32_t runloop__begin_generation(void) {
    uint32_t next = atomic_load(&last_generation) + 1, wiped = 0;
    // First: a child that is forked in between must not get the same number.
    atomic_store(&last_generation, next);
    if (!atomic_compare_exchange_strong(runloop__generation_word, &wiped, next))
        return wiped; // another thread of the child came first
    // The loop of the thread that forked is the parent's.
    runloop__this_thread = (struct runloop__this_thread){0};
    return next;
}

static void forked(void) {
    // Wiped already, unless there is no such page, or an emulator only says that there is.
    atomic_store(runloop__generation_word, 0);
    runloop__generation();
}

static __attribute__((constructor)) void set_up(void) {
    pthread_atfork(NULL, NULL, forked);
#ifdef MADV_WIPEONFORK
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, size, MADV_WIPEONFORK)) {
        munmap(page, size);
        return;
    }
    _Atomic uint32_t *word = page;
    atomic_init(word, atomic_load(&last_generation));
    runloop__generation_word = word;
#endif
}

uint32_t runloop_fork_generation(void) {
    return runloop__generation() - 1;
}
#endif // __linux__
