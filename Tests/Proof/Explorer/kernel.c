// kernel.c — the kernel as far as the core asks it: eventfds, timerfds and epoll sets with levels, edges and sets within sets; futexes; and
// a clock that stands still until every thread sleeps.
//
// What a thread did before it wrote to a descriptor is known to a thread that is notified. A futex passes nothing on.

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "internal.h"
#include "kernel.h"

enum { FILES = 48, WATCHES = 12, BEGINNING_NS = 1000000000 };

struct watch {
    bool is_used, is_news; ///< something came since it was last found without
    int target;
    struct epoll_event event;
};

struct file {
    enum kind kind;
    uint64_t counter;
    int64_t expires_ns;
    struct known happened, visible;
    struct watch watches[WATCHES];
};

KEPT static struct {
    struct file files[FILES];
    int64_t now_ns;
    struct {
        const void *word; ///< on which the thread sleeps
        bool is_woken;
    } sleepers[THREADS];
} kernel;

void kernel_set_back(void) {
    memset(&kernel, 0, sizeof kernel);
    kernel.now_ns = BEGINNING_NS;
}

//===-- descriptors --------------------------------------------------------------------------------------------------===//

static struct file *file_of(int descriptor) {
    unsigned index = (unsigned)descriptor - FIRST_DESCRIPTOR;
    return index < FILES && kernel.files[index].kind != NO_FILE ? &kernel.files[index] : NULL;
}

bool kernel_has(int descriptor) {
    return file_of(descriptor);
}

int kernel_open(enum kind kind) {
    for (int i = 0; i < FILES; i++) {
        if (kernel.files[i].kind != NO_FILE)
            continue;
        kernel.files[i] = (struct file){.kind = kind, .expires_ns = INT64_MAX};
        return FIRST_DESCRIPTOR + i;
    }
    fail("There are too many descriptors.");
}

int kernel_close(int descriptor) {
    struct file *file = file_of(descriptor);
    if (!file)
        return -EBADF;
    file->kind = NO_FILE;
    for (int i = 0; i < FILES; i++) {
        for (int j = 0; j < WATCHES; j++) {
            if (kernel.files[i].watches[j].target == descriptor)
                kernel.files[i].watches[j].is_used = false;
        }
    }
    return 0;
}

static uint32_t level_of(int descriptor);

static uint32_t level_of_watch(const struct watch *watch) {
    return level_of(watch->target) & (watch->event.events | EPOLLERR | EPOLLHUP);
}

static uint32_t level_of(int descriptor) {
    const struct file *file = file_of(descriptor);
    if (!file)
        return 0;
    if (file->kind == COUNTER)
        return EPOLLOUT | (file->counter ? EPOLLIN : 0);
    if (file->kind == TIMER)
        return file->counter ? EPOLLIN : 0;
    for (int i = 0; i < WATCHES; i++) {
        const struct watch *watch = &file->watches[i];
        if (watch->is_used && watch->is_news && level_of_watch(watch))
            return EPOLLIN;
    }
    return 0;
}

uint32_t kernel_level(int descriptor) {
    return level_of(descriptor);
}

/// Something came for the descriptor: for the sets that watch it, and the sets that watch these.
static void announce(int descriptor) {
    for (int i = 0; i < FILES; i++) {
        struct file *set = &kernel.files[i];
        for (int j = 0; set->kind == SET && j < WATCHES; j++) {
            if (!set->watches[j].is_used || set->watches[j].target != descriptor)
                continue;
            set->watches[j].is_news = true;
            announce(FIRST_DESCRIPTOR + i);
        }
    }
}

int kernel_write(int descriptor, const void *code) {
    thread_may_switch();
    struct file *file = file_of(descriptor);
    if (!file || file->kind != COUNTER)
        return -EBADF;
    file->counter++;
    known_join(&file->happened, &thread_current()->happened);
    known_join(&file->visible, &thread_current()->visible);
    announce(descriptor);
    trace(code, "write to %d", descriptor);
    atomics_pass();
    return 8;
}

int kernel_read(int descriptor, uint64_t *value) {
    thread_may_switch();
    struct file *file = file_of(descriptor);
    if (!file || file->kind == SET)
        return -EBADF;
    *value = file->counter;
    file->counter = 0;
    return *value ? 8 : -EAGAIN;
}

//===-- sets ---------------------------------------------------------------------------------------------------------===//

static struct watch *watch_in(struct file *set, int descriptor) {
    for (int i = 0; i < WATCHES; i++) {
        if (set->watches[i].is_used && set->watches[i].target == descriptor)
            return &set->watches[i];
    }
    return NULL;
}

static struct watch *new_watch(struct file *set, int descriptor) {
    for (int i = 0; i < WATCHES; i++) {
        if (set->watches[i].is_used)
            continue;
        set->watches[i] = (struct watch){.is_used = true, .target = descriptor};
        return &set->watches[i];
    }
    fail("A set has too many members.");
}

int kernel_control(int descriptor, int operation, int target, const struct epoll_event *event) {
    thread_may_switch();
    struct file *set = file_of(descriptor);
    if (!set || !file_of(target) || set->kind != SET)
        return -EBADF;
    struct watch *watch = watch_in(set, target);
    if ((operation == EPOLL_CTL_ADD) == (watch != NULL))
        return watch ? -EEXIST : -ENOENT;
    if (operation == EPOLL_CTL_DEL) {
        watch->is_used = false;
        return 0;
    }
    if (!watch)
        watch = new_watch(set, target);
    watch->event = *event;
    watch->is_news = level_of_watch(watch);
    if (watch->is_news)
        announce(descriptor);
    return 0;
}

/// The thread is notified.
static void learn_of(int descriptor) {
    struct file *file = file_of(descriptor);
    known_join(&thread_current()->happened, &file->happened);
    known_join(&thread_current()->visible, &file->visible);
    for (int i = 0; file->kind == SET && i < WATCHES; i++) {
        if (file->watches[i].is_used && file->watches[i].is_news)
            learn_of(file->watches[i].target);
    }
}

static int collect(struct file *set, struct epoll_event *events, int capacity) {
    int count = 0;
    for (int i = 0; i < WATCHES && count < capacity; i++) {
        struct watch *watch = &set->watches[i];
        uint32_t level = watch->is_used && watch->is_news ? level_of_watch(watch) : 0;
        if (level) {
            learn_of(watch->target);
            events[count++] = (struct epoll_event){.events = level, .data = watch->event.data};
        }
        // A level is found again.
        watch->is_news = level && !(watch->event.events & EPOLLET);
    }
    return count;
}

static bool has_news(void *descriptor) {
    return level_of((int)(intptr_t)descriptor);
}

int kernel_wait(int descriptor, struct epoll_event *events, int capacity, int64_t timeout_ns) {
    thread_may_switch();
    struct file *set = file_of(descriptor);
    if (!set || set->kind != SET)
        return -EBADF;
    int count = collect(set, events, capacity);
    if (count == 0 && timeout_ns != 0) {
        // A signal may end any sleep.
        if (is_exploring() && choose(2))
            return -EINTR;
        trace(NULL, "sleeps in %d", descriptor);
        int64_t wake_ns = timeout_ns < 0 ? INT64_MAX : kernel.now_ns + timeout_ns;
        thread_sleep(has_news, (void *)(intptr_t)descriptor, wake_ns);
        count = collect(set, events, capacity);
    }
    trace(NULL, "finds %d ready in %d", count, descriptor);
    return count;
}

//===-- time ---------------------------------------------------------------------------------------------------------===//

int64_t kernel_now_ns(void) {
    return kernel.now_ns;
}

int64_t kernel_read_clock(void) {
    return kernel.now_ns++;
}

static void expire(void) {
    for (int i = 0; i < FILES; i++) {
        struct file *file = &kernel.files[i];
        if (file->kind != TIMER || file->expires_ns > kernel.now_ns)
            continue;
        file->expires_ns = INT64_MAX;
        file->counter++;
        announce(FIRST_DESCRIPTOR + i);
    }
}

int kernel_arm(int descriptor, int64_t instant_ns) {
    thread_may_switch();
    struct file *file = file_of(descriptor);
    if (!file || file->kind != TIMER)
        return -EBADF;
    trace(NULL, "arms %d for %lld", descriptor, (long long)instant_ns);
    file->counter = 0;
    file->expires_ns = instant_ns;
    expire();
    return 0;
}

bool kernel_let_time_pass(void) {
    int64_t next_ns = INT64_MAX;
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *thread = thread_of(i);
        if (!thread->has_ended && thread->is_ready && thread->wake_ns < next_ns)
            next_ns = thread->wake_ns;
    }
    for (int i = 0; i < FILES; i++) {
        if (kernel.files[i].kind == TIMER && kernel.files[i].expires_ns < next_ns)
            next_ns = kernel.files[i].expires_ns;
    }
    // "Never", or as good as that.
    if (next_ns >= INT64_MAX / 2)
        return false;
    kernel.now_ns = next_ns;
    trace(NULL, "(time passes, to %lld)", (long long)next_ns);
    expire();
    return true;
}

//===-- futexes -----------------------------------------------------------------------------------------===//

static bool is_woken(void *sleeper) {
    return *(bool *)sleeper;
}

int kernel_futex_wait(const void *word, uint32_t value, int64_t wake_ns) {
    thread_may_switch();
    if (*(const volatile uint32_t *)word != value || (is_exploring() && choose(2)))
        return -EAGAIN;
    unsigned me = thread_number();
    kernel.sleepers[me].word = word;
    kernel.sleepers[me].is_woken = false;
    trace(NULL, "sleeps on %p", word);
    bool was_woken = thread_sleep(is_woken, &kernel.sleepers[me].is_woken, wake_ns);
    kernel.sleepers[me].word = NULL;
    return was_woken ? 0 : -ETIMEDOUT;
}

int kernel_futex_wake(const void *word, uint32_t count) {
    thread_may_switch();
    trace(NULL, "wakes who sleeps on %p", word);
    int woken = 0;
    for (; count > 0; count--) {
        unsigned found[THREADS], sleepers = 0;
        for (unsigned i = 0; i < THREADS; i++) {
            if (kernel.sleepers[i].word == word && !kernel.sleepers[i].is_woken)
                found[sleepers++] = i;
        }
        if (sleepers == 0)
            break;
        kernel.sleepers[found[is_exploring() ? choose(sleepers) : 0]].is_woken = true;
        woken++;
    }
    return woken;
}
