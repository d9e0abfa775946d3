// report_on_signal.c — a signal makes the process say what its loops have, even when they hang.
#include "../Core/forks.h"
#include "runloop_diagnostics.h"

#include <dirent.h>

static int written; ///< what comes out of standard error
static char text[65536];
static size_t used;

static void redirect(void) {
    int ends[2];
    REQUIRE(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    written = ends[0];
}

/// Reads on until `word` has been written `count` times.
static void read_until(const char *word, int count) {
    for (;;) {
        int found = 0;
        for (const char *place = text; (place = strstr(place, word)); place++)
            found++;
        if (found >= count)
            return;
        ssize_t got = read(written, text + used, sizeof text - 1 - used);
        REQUIRE(got > 0);
        used += (size_t)got;
    }
}

static void name(runloop_timer *timer, const char *name) {
    runloop_timer_set_name(timer, name, 0);
}

static runloop_timer *add_far_timer(const char *its_name) {
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, trace_fire, "");
    name(timer, its_name);
    return timer;
}

static int count_threads(void) {
    need_proc();
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    REQUIRE(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

TEST("reports on signals want a signal that can be caught and that the program leaves") {
    int threads = count_threads();
    EXPECT_EQ(runloop_report_on_signal(0, RUNLOOP_REPORT_TEXT), -EINVAL);
    EXPECT_EQ(runloop_report_on_signal(1000, RUNLOOP_REPORT_TEXT), -EINVAL);
    EXPECT_EQ(runloop_report_on_signal(SIGKILL, RUNLOOP_REPORT_TEXT), -EINVAL);
    struct sigaction action = {.sa_handler = (void (*)(int))exit}, after;
    sigaction(SIGUSR2, &action, NULL);
    EXPECT_EQ(runloop_report_on_signal(SIGUSR2, RUNLOOP_REPORT_TEXT), -EBUSY);
    EXPECT(sigaction(SIGUSR2, NULL, &after) == 0 && after.sa_handler == action.sa_handler);
    // Nothing has begun for a signal that could not be had.
    EXPECT_EQ(count_threads(), threads);
    EXPECT(!runloop_get_tracer().trace);
}

static void hang(void *info) {
    (void)info;
    kill(getpid(), SIGUSR1);
    read_until("“of main”", 1);
}

TEST("a signal writes the reports of a loop that hangs") {
    EXPECT_EQ(runloop_report_on_signal(SIGUSR1, RUNLOOP_REPORT_TEXT), 0);
    EXPECT_EQ(runloop_report_on_signal(SIGUSR1, RUNLOOP_REPORT_TEXT), 0);
    redirect();
    add_far_timer("of main");
    runloop_post(runloop_current(), MODE, hang, NULL, NULL);
    poll_mode(MODE);
    EXPECT(strstr(text, "run loop 0x"));
}

static void *follow_and_end(void *context) {
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_timer *timer = add_far_timer("of thread");
    poll_mode(MODE);
    kill(getpid(), SIGUSR1);
    read_until("\"of thread\"", 1);
    read_until("\"of main\"", 1);
    runloop_timer_invalidate(timer);
    return context;
}

TEST("all followed loops are reported on, as long as their threads are there") {
    EXPECT_EQ(runloop_report_on_signal(SIGUSR1, RUNLOOP_REPORT_TEXT), 0);
    EXPECT_EQ(runloop_report_on_signal(SIGUSR1, RUNLOOP_REPORT_JSON), 0);
    redirect();
    add_far_timer("of main");
    on_new_thread(follow_and_end, NULL);
    char before = text[0];
    used = 0;
    memset(text, 0, sizeof text);
    kill(getpid(), SIGUSR1);
    read_until("\"of main\"", 1);
    EXPECT_EQ(before, '{');
    EXPECT(!strstr(text, "of thread"));
}

static void report_in_child(void) {
    kill(getpid(), SIGUSR1);
    add_far_timer("of child");
    // Under its sanitizer such a child can't start threads.
    if (!UNDER_THREAD_SANITIZER) {
        EXPECT_EQ(runloop_report_on_signal(SIGUSR1, RUNLOOP_REPORT_TEXT), 0);
        kill(getpid(), SIGUSR1);
        read_until("“of child”", 1);
    }
    EXPECT(!strstr(text, "of parent"));
}

TEST("a forked child reports nothing before it asks for that itself") {
    need_no_emulator("The emulator fails where a forked child makes threads.");
    EXPECT_EQ(runloop_report_on_signal(SIGUSR1, RUNLOOP_REPORT_TEXT), 0);
    redirect();
    add_far_timer("of parent");
    expect_in_child(fork, report_in_child);
    kill(getpid(), SIGUSR1);
    read_until("“of parent”", 1);
}
