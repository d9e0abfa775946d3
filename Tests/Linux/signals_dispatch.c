// signals_dispatch.c — a signal that libdispatch catches, too.
#include <dlfcn.h>

#include "linux_items.h"

extern const char _dispatch_source_type_signal[] __attribute__((weak));
void *dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue) __attribute__((weak));
void *dispatch_get_global_queue(intptr_t identifier, uintptr_t flags) __attribute__((weak));
void dispatch_source_set_event_handler_f(void *source, void (*handler)(void *context)) __attribute__((weak));
uintptr_t dispatch_source_get_data(void *source) __attribute__((weak));
void dispatch_resume(void *source) __attribute__((weak));
void dispatch_source_cancel(void *source) __attribute__((weak));
void dispatch_set_context(void *source, void *context) __attribute__((weak));

static _Atomic uint64_t theirs;

static void note_theirs(void *source) {
    theirs += dispatch_source_get_data(source);
}

/// Returns when its handler is installed.
static void *begin_theirs(int number) {
    if (!dispatch_source_create)
        LEAVE_OUT("There is no libdispatch.");
    void (*before)(int) = action_of(number).sa_handler;
    void *source =
        dispatch_source_create(_dispatch_source_type_signal, (uintptr_t)number, 0, dispatch_get_global_queue(0, 0));
    REQUIRE(source);
    dispatch_set_context(source, source);
    dispatch_source_set_event_handler_f(source, note_theirs);
    dispatch_resume(source);
    while (action_of(number).sa_handler == before)
        usleep(1000);
    return source;
}

/// A standard signal that is pending is not added again, so the next is sent when this one has arrived.
static void expect_both(int number, struct tally *tally) {
    run_for(MODE, 20 * MS);
    for (uint64_t i = 1; i <= 10; i++) {
        uint64_t theirs_before = theirs, ours_before = tally->arrivals;
        kill(getpid(), number);
        for (int waits = 0; theirs == theirs_before || tally->arrivals == ours_before; waits++) {
            REQUIRE(waits < 30000);
            run_for(MODE, MS);
        }
    }
    EXPECT_EQ(theirs, 10);
    EXPECT_EQ(tally->arrivals, 10);
}

TEST("libdispatch, which came first, and a source receive each signal") {
    struct tally tally = {0};
    begin_theirs(SIGUSR1);
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    expect_both(SIGUSR1, &tally);
    end_source(caught);
    uint64_t before = theirs;
    kill(getpid(), SIGUSR1);
    while (theirs == before)
        usleep(1000);
}

TEST("libdispatch, which came later, and a source receive each signal") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR2, &tally);
    begin_theirs(SIGUSR2);
    expect_both(SIGUSR2, &tally);
    end_source(caught);
}

TEST("a signal that comes after the end of one source is told to the next once") {
    struct tally tally = {0};
    begin_theirs(SIGUSR1);
    for (int i = 0; i < 3; i++)
        end_source(add_signal(MODE, SIGUSR1, &tally));
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    expect_both(SIGUSR1, &tally);
    end_source(caught);
}

static void (*note_registered)(void *context);
static _Atomic bool is_late, is_registered;

static void note_registered_late(void *share) {
    usleep(20000);
    is_registered = true;
    note_registered(share);
}

/// Overrides libdispatch's function: the library finds this one by dlsym.
void dispatch_source_set_registration_handler_f(void *source, void (*handler)(void *context)) {
    void (*set_handler)(void *source, void (*handler)(void *context));
    void *found = dlsym(RTLD_NEXT, "dispatch_source_set_registration_handler_f");
    memcpy(&set_handler, &found, sizeof set_handler);
    note_registered = handler;
    set_handler(source, is_late ? note_registered_late : handler);
}

TEST("a signal of libdispatch's is caught when its source has been added") {
    // Which waits for a fifth of a second at most.
    struct tally tally = {0};
    begin_theirs(SIGUSR1);
    is_late = true;
    int64_t begun_ns = runloop_now_ns();
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    EXPECT(is_registered || runloop_now_ns() - begun_ns >= 200 * MS);
    end_source(caught);
}

static void end_with_status(void *unused) {
    (void)unused;
    _exit(7);
}

static void hang(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

static void shut_down(int64_t limit_ns, runloop_function work) {
    const int32_t number = SIGTERM;
    runloop_shutdown *shutdown = NULL;
    begin_theirs(SIGTERM);
    REQUIRE(runloop_shutdown_create(&(runloop_shutdown_config){.numbers = &number, .count = 1, .limit_ns = limit_ns},
                                    &shutdown) == 0);
    REQUIRE(runloop_shutdown_add_work(shutdown, 0, work, NULL, NULL) == 0);
    REQUIRE(runloop_add_source(runloop_current(), shutdown, MODE) == 0);
    kill(getpid(), SIGTERM);
    run_for(MODE, 30 * SECOND);
}

static void begin_work(void) {
    shut_down(60 * SECOND, end_with_status);
}

static void pass_limit(void) {
    shut_down(50 * MS, hang);
}

TEST("a shutdown begins where libdispatch catches the signal, and its limit holds") {
    if (!dispatch_source_create)
        LEAVE_OUT("There is no libdispatch.");
    int status = status_of_child(begin_work);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    status = status_of_child(pass_limit);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
