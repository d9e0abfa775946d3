// busy.c — a thread that computes and computes is reported by a copy of the process, without another thread.
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../Core/items.h"
#include "runloop_diagnostics.h"
#include "runloop_diagnostics_overlay.h"

static int output[2];
static volatile int checks, ends;
static volatile bool is_stuck = true;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool check(void) {
    checks++;
    return is_stuck;
}

/// With what a signal handler may not use.
static bool report(void *const *calls, int count, bool is_last) {
    (void)calls, (void)count, (void)is_last;
    pthread_mutex_lock(&lock);
    char *text = malloc(100);
    // Not gettid(), since musl's is the number that the copied thread had.
    bool is_alone = syscall(SYS_gettid) == getpid();
    snprintf(text, 100, "reported by %s", is_alone ? "one thread" : "one of several");
    return write(output[1], text, strlen(text)) > 0;
}

static void note_end(void) {
    ends++;
}

static const struct runloop__busy_watch watch = {
    .interval_ns = 20 * MS, .is_stuck = check, .report = report, .has_reported = note_end};

static bool is_reported(void) {
    return poll(&(struct pollfd){.fd = output[0], .events = POLLIN}, 1, 0) == 1;
}

static void start_with(const struct runloop__busy_watch *watch) {
#if UNDER_THREAD_SANITIZER
    EXPECT_EQ(runloop__watch_busy(watch), -ENOSYS);
    LEAVE_OUT("The thread sanitizer objects to what a copy does.");
#endif
    need_no_emulator("The emulator does not copy a process in the handler of a signal.");
    REQUIRE(pipe(output) == 0);
    REQUIRE(runloop__watch_busy(watch) == 0);
}

static void start(void) {
    start_with(&watch);
}

static void expect_report(void) {
    char text[100] = "";
    EXPECT(read(output[0], text, sizeof text - 1) > 0);
    EXPECT(strcmp(text, "reported by one thread") == 0);
    EXPECT_EQ(ends, 1);
    // The copy has gone, and its end was no signal to the process.
    EXPECT(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD);
}

TEST("a thread that does the same for long is reported by a copy of the process, which ends, and then no more") {
    start();
    while (!is_reported())
        continue;
    expect_report();
    int before = checks;
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 300 * MS);
    EXPECT_EQ(checks, before);
}

TEST("a thread that does something else each time is not") {
    is_stuck = false;
    start();
    while (checks < 4)
        continue;
    EXPECT(!is_reported());
    EXPECT_EQ(ends, 0);
}

TEST("a copy that lacks a lock of the interrupted code ends after a while, and a later check tries again") {
    start();
    pthread_mutex_lock(&lock);
    while (checks < 2)
        continue;
    EXPECT(!is_reported());
    EXPECT_EQ(ends, 0);
    pthread_mutex_unlock(&lock);
    while (!is_reported())
        continue;
    expect_report();
}

static bool die(void *const *calls, int count, bool is_last) {
    (void)calls, (void)count, (void)is_last;
    *(volatile int *)0 = 0;
    return true;
}

TEST("a copy that crashes is nobody's business, and is tried again eight times at most") {
    struct runloop__busy_watch crashing = watch;
    crashing.report = die;
    start_with(&crashing);
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 600 * MS);
    EXPECT_EQ(checks, 8);
    EXPECT_EQ(ends, 0);
}

/// Says it the last time.
static bool hesitate(void *const *calls, int count, bool is_last) {
    return is_last && report(calls, count, is_last);
}

TEST("a report that is not ready for it is asked again, and knows the last time") {
    struct runloop__busy_watch hesitating = watch;
    hesitating.report = hesitate;
    start_with(&hesitating);
    while (!is_reported())
        continue;
    expect_report();
    EXPECT_EQ(checks, 8);
}

TEST("no wait ends early") {
    is_stuck = false;
    start();
    struct timespec pause = {.tv_nsec = 5 * MS};
    while (checks < 10) {
        for (int k = 0; k < 100000; k++)
            EXPECT_EQ(k < 0, false);
        EXPECT_EQ(nanosleep(&pause, NULL), 0);
        EXPECT_EQ(poll(NULL, 0, 1), 0);
    }
}

static void take_urgent(int number) {
    (void)number;
}

TEST("a program that handles the signal has it for itself") {
    signal(SIGURG, take_urgent);
    EXPECT_EQ(runloop__watch_busy(&watch), UNDER_THREAD_SANITIZER ? -ENOSYS : -EBUSY);
    struct sigaction action;
    EXPECT(sigaction(SIGURG, NULL, &action) == 0 && action.sa_handler == take_urgent);
}

TEST("a thread is watched once in a process") {
    start();
    EXPECT_EQ(runloop__watch_busy(&watch), -EBUSY);
}

#if defined(__GLIBC__)
static char stack[8192];
static _Atomic bool is_diagnosed;

static void keep_stack(void *context, const runloop_diagnosis *diagnosis) {
    (void)context;
    snprintf(stack, sizeof stack, "%s", diagnosis->stack ? diagnosis->stack : "none");
    is_diagnosed = true;
}

/// Signals of the same number that come meanwhile are one, that of the timer. The watchdog asks after 100 ms, and gives up after 300.
static void compute_without_signals(void) {
    int64_t end = runloop_now_ns() + 150 * MS;
    sigset_t urgent, pending;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, NULL);
    do
        sigpending(&pending);
    while (!sigismember(&pending, SIGURG) || runloop_now_ns() < end);
    pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
}

static void compute_until_diagnosed(void *info) {
    (void)info;
    compute_without_signals();
    while (!is_diagnosed)
        continue;
}

static void compute_until_reported(void *info) {
    (void)info;
    while (!is_reported())
        continue;
}

static void compute(void (*work)(void *info)) {
    runloop_post(runloop_current(), MODE, work, NULL, NULL);
    poll_mode(MODE);
}

TEST("a watchdog has the signal beside it") {
    need_proc(); // for the name of the function
    start();
    is_stuck = false;
    runloop_watchdog_config config = {.limit_ns = 100 * MS, .handler = {.report = keep_stack}};
    REQUIRE(runloop_watchdog_start(&config) == 0);
    keep_mode(MODE);
    // A busy machine may have no time for this thread until the watchdog has given up.
    for (int tries = 0; tries < 20 && !strstr(stack, "compute_until_diagnosed"); tries++) {
        is_diagnosed = false;
        compute(compute_until_diagnosed);
    }
    EXPECT(strstr(stack, "compute_until_diagnosed"));
    is_stuck = true;
    compute(compute_until_reported);
    EXPECT_EQ(ends, 1);
}
#endif
