// forks_memory.c — a process forks while a thread changes the memory of an output: the child frees it once. Link with -Wl,--wrap=free.
#include <malloc.h>
#include <sys/socket.h>

#include "linux_items.h"

/// Of which a child is forked as soon as something of at least this size was freed; 0: of nothing.
static size_t size_to_fork_at;
static pid_t child = -1;
static runloop_output *output;

void __real_free(void *pointer);
void __wrap_free(void *pointer);

/// The child is like one that another thread has forked: what called this does not go on in it.
static void fork_here(void) {
    size_to_fork_at = 0;
    child = fork();
    REQUIRE(child >= 0);
    if (child > 0)
        return;
    runloop_source_release(output);
    _exit(0);
}

void __wrap_free(void *pointer) {
    bool forks = size_to_fork_at && pointer && malloc_usable_size(pointer) >= size_to_fork_at;
    __real_free(pointer);
    if (forks)
        fork_here();
}

static void expect_child_ended(void) {
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
}

static void enqueue(size_t count) {
    static const char bytes[65536];
    EXPECT_EQ(runloop_output_enqueue(output, bytes, count), 0);
}

TEST("an output whose buffer has grown, or is not needed any more, at the fork") {
    for (int is_sent = 0; is_sent < 2; is_sent++) {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        const runloop_output_config config = {.descriptor = ends[0], .owns = true, .limit = 65536};
        REQUIRE(runloop_output_create(&config, &output) == 0);
        // The last byte does not fit in a buffer, or a large buffer is given up once it is empty.
        enqueue(is_sent ? 30000 : 4096);
        size_to_fork_at = 4096;
        if (is_sent)
            EXPECT_EQ(runloop_output_flush(output), 0);
        else
            enqueue(1);
        expect_child_ended();
        runloop_source_release(output);
        close(ends[1]);
    }
}
