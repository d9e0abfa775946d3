// shutdowns_sandbox.c — the limit of a shutdown where the kernel gives no timer.
#include <time.h>

#include "linux_items.h"

/// In the place of the C library's.
int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    (void)clock, (void)event, (void)timer;
    errno = ENOSYS;
    return -1;
}

static void begin_shutdown(runloop_function work) {
    const int32_t numbers[] = {SIGTERM};
    const runloop_shutdown_config config = {.numbers = numbers, .count = 1, .limit_ns = 300 * MS};
    runloop_shutdown *shutdown = NULL;
    REQUIRE(runloop_shutdown_create(&config, &shutdown) == 0);
    REQUIRE(runloop_add_source(runloop_current(), shutdown, MODE) == 0);
    REQUIRE(runloop_shutdown_add_work(shutdown, 0, work, NULL, NULL) == 0);
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

static void hang(void *info) {
    (void)info;
    for (;;)
        pause();
}

static void pass_limit(void) {
    begin_shutdown(hang);
}

TEST("without a timer of the kernel's a limit that has passed ends the process by the signal, though the work hangs") {
    int64_t before_ns = runloop_now_ns();
    int status = status_of_child(pass_limit);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    EXPECT(runloop_now_ns() - before_ns >= 300 * MS);
}

#ifdef __GLIBC__
static void end_with_status(void *info) {
    (void)info;
    _exit(7);
}

static void lack_threads(void) {
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    REQUIRE(pthread_attr_setstacksize(&huge, SIZE_MAX / 4 * 3) == 0 && pthread_setattr_default_np(&huge) == 0);
    begin_shutdown(end_with_status);
}

TEST("without a timer and a thread the work is performed, and a text says that it has no limit") {
    int ends[2], error = dup(STDERR_FILENO);
    char text[200] = "";
    make_pipe(ends);
    dup2(ends[1], STDERR_FILENO);
    int status = status_of_child(lack_threads);
    dup2(error, STDERR_FILENO);
    close(ends[1]);
    test_read_all(ends[0], text, sizeof text);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    EXPECT(strstr(text, "no limit"));
}
#endif
