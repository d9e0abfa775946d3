// watchdog.c — hangs and spins are reported once, and what only looks like one is not.
#include "../Core/forks.h"
#include "runloop_diagnostics.h"

/// What was reported, as lines.
static char reports[8192], stack[8192], sentence[1024];
static pthread_mutex_t reports_lock = PTHREAD_MUTEX_INITIALIZER;
static runloop_diagnosis last;
static _Atomic int report_count, release_count;

static void keep(void *context, const runloop_diagnosis *diagnosis) {
    EXPECT(context == reports);
    pthread_mutex_lock(&reports_lock);
    size_t used = strlen(reports);
    snprintf(reports + used, sizeof reports - used, "%d %d %s\n", diagnosis->kind, diagnosis->callout, diagnosis->name);
    if (diagnosis->stack)
        snprintf(stack, sizeof stack, "%s", diagnosis->stack);
    snprintf(sentence, sizeof sentence, "%s", diagnosis->sentence);
    last = *diagnosis;
    pthread_mutex_unlock(&reports_lock);
    EXPECT(diagnosis->sentence && !strchr(diagnosis->sentence, '\n'));
    // Of a loop that has come back, or goes on, there is nothing to show.
    EXPECT(diagnosis->kind == RUNLOOP_DIAGNOSIS_HANG || !diagnosis->stack);
    report_count++;
}

static void count_release(void *context) {
    EXPECT(context == reports);
    release_count++;
}

static runloop_watchdog_config config_of(int64_t limit_ns, uint32_t spin_limit) {
    return (runloop_watchdog_config){.limit_ns = limit_ns,
                                     .spin_limit = spin_limit,
                                     .handler = {.report = keep, .release = count_release, .context = reports}};
}

static void watch(int64_t limit_ns, uint32_t spin_limit) {
    runloop_watchdog_config config = config_of(limit_ns, spin_limit);
    REQUIRE(runloop_watchdog_start(&config) == 0);
}

static bool thread_exists(const char *name) {
    bool found = false;
    need_proc();
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        char path[300], text[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file >= 0)
            test_read_all(file, text, sizeof text);
        found |= strncmp(text, name, strlen(name)) == 0;
    }
    closedir(tasks);
    return found;
}

//===-- starting and stopping ----------------------------------------------------------------------------------------===//

TEST("a watchdog wants a limit, and is there once for a loop") {
    EXPECT_EQ(runloop_watchdog_start(NULL), -EINVAL);
    runloop_watchdog_config none = config_of(0, 0), short_limit = config_of(MS, 0), negative = config_of(-1, 5);
    EXPECT_EQ(runloop_watchdog_start(&none), -EINVAL);
    EXPECT_EQ(runloop_watchdog_start(&short_limit), -EINVAL);
    EXPECT_EQ(runloop_watchdog_start(&negative), -EINVAL);
    runloop_watchdog_config config = config_of(SECOND, 0);
    config.signal = 1000;
    EXPECT_EQ(runloop_watchdog_start(&config), -EINVAL);
    config.signal = 0;
    runloop_watchdog_stop();
    EXPECT_EQ(runloop_watchdog_start(&config), 0);
    EXPECT_EQ(runloop_watchdog_start(&config), -EBUSY);
    EXPECT_EQ(release_count, 0);
    runloop_watchdog_stop();
    runloop_watchdog_stop();
    WAIT_UNTIL(release_count == 1);
}

static void *watch_and_end(void *context) {
    (void)context;
    watch(SECOND, 0);
    keep_mode(MODE);
    poll_mode(MODE);
    WAIT_UNTIL(thread_exists("runloop-watch"));
    return NULL;
}

TEST("the watchdog's thread ends with the last watched loop, and starts again") {
    EXPECT(!thread_exists("runloop-watch"));
    watch(SECOND, 0);
    on_new_thread(watch_and_end, NULL);
    WAIT_UNTIL(release_count == 1);
    WAIT_UNTIL(thread_exists("runloop-watch"));
    runloop_watchdog_stop();
    WAIT_UNTIL(release_count == 2 && !thread_exists("runloop-watch"));
    watch(SECOND, 0);
    WAIT_UNTIL(thread_exists("runloop-watch"));
    runloop_watchdog_stop();
    WAIT_UNTIL(release_count == 3);
}

static void ignore(int number) {
    (void)number;
}

TEST("a signal that the program handles is left to it") {
    runloop_watchdog_config config = config_of(SECOND, 0);
    signal(SIGUSR2, ignore);
    config.signal = SIGUSR2;
#if defined(__GLIBC__)
    EXPECT_EQ(runloop_watchdog_start(&config), -EBUSY);
#endif
    struct sigaction action;
    EXPECT(sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == ignore);
    config.signal = -1;
    EXPECT_EQ(runloop_watchdog_start(&config), 0);
    runloop_watchdog_stop();
    WAIT_UNTIL(release_count == 1);
}

static void watch_in_child(void) {
    runloop_watchdog_stop();
    EXPECT_EQ(release_count, 0);
    // Under its sanitizer such a child can't start threads.
    if (UNDER_THREAD_SANITIZER)
        return;
    watch(SECOND, 0);
    WAIT_UNTIL(thread_exists("runloop-watch"));
    runloop_watchdog_stop();
    WAIT_UNTIL(release_count == 1);
}

TEST("a forked child has no watchdog, and can have one of its own") {
    need_no_emulator("The emulator fails where a forked child makes threads.");
    need_proc();
    watch(SECOND, 0);
    expect_in_child(fork, watch_in_child);
    EXPECT_EQ(release_count, 0);
}

//===-- hangs --------------------------------------------------------------------------------------------------------===//

/// Until it has been reported, and a little more.
static void hang(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    int before = report_count;
    WAIT_UNTIL(report_count > before);
    pass_time(50 * MS);
}

TEST("a hang is reported once at the limit and once when it is over, with its item, its stack and its duration") {
    int64_t limit_ns = 300 * MS;
    runloop_watchdog_config config = config_of(limit_ns, 0);
    config.signal = SIGURG; // also where the kernel does not say whether a thread waits
    REQUIRE(runloop_watchdog_start(&config) == 0);
    runloop_timer *timer = add_timer(MODE, 0, 0, hang, NULL);
    runloop_timer_set_name(timer, "hang.c", 12);
    run_for(MODE, RUNLOOP_FOREVER);
    WAIT_UNTIL(report_count == 2);
    EXPECT_TEXT(reports, "0 1 hang.c:12\n1 1 hang.c:12\n");
    EXPECT_EQ(last.kind, RUNLOOP_DIAGNOSIS_HANG_ENDED);
    EXPECT(last.loop == runloop_current() && last.duration_ns >= limit_ns);
    // Another hang is another report.
    add_timer(MODE, 0, 0, hang, NULL);
    run_for(MODE, RUNLOOP_FOREVER);
    WAIT_UNTIL(report_count == 4);
    // On a busy machine one of the two may be without a stack. A thread that waits in this sanitizer's usleep gets its signals late.
    if (!UNDER_THREAD_SANITIZER) {
        // With 32 bits libc doesn't find each caller of the kernel's page, in which a thread waits.
#if defined(__GLIBC__) && !defined(__i386__)
        EXPECT(strstr(stack, "watchdog") && strchr(stack, '\n') != strrchr(stack, '\n'));
#endif
    }
}

static void take_long(void *info) {
    (void)info;
    pass_time(400 * MS);
}

TEST("a hang without a handler is a line on standard error") {
    int ends[2], before = dup(STDERR_FILENO);
    REQUIRE(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    runloop_watchdog_config config = {.limit_ns = 200 * MS, .signal = -1};
    REQUIRE(runloop_watchdog_start(&config) == 0);
    char text[1024] = "";
    runloop_post(runloop_current(), MODE, take_long, NULL, NULL);
    keep_mode(MODE);
    poll_mode(MODE);
    for (size_t used = 0; !strstr(text, "has come back after");) {
        ssize_t got = read(ends[0], text + used, sizeof text - 1 - used);
        REQUIRE(got > 0);
        used += (size_t)got;
    }
    dup2(before, STDERR_FILENO);
    EXPECT(strncmp(text, "runloop: run loop 0x", 20) == 0);
    EXPECT(strstr(text, "has not come back for 0."));
    EXPECT(strstr(text, "task"));
}

static void iterate(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    run_for(OTHER_MODE, 1500 * MS);
}

TEST("a loop that sleeps, and one whose nested run iterates, do not hang") {
    watch(SECOND, 0);
    keep_mode(MODE);
    run_for(MODE, 1500 * MS);
    runloop_timer *nested = make_timer(runloop_now_ns(), 50 * MS, trace_fire, "");
    runloop_add_timer(runloop_current(), nested, OTHER_MODE);
    add_timer(MODE, 0, 0, iterate, NULL);
    poll_mode(MODE);
    EXPECT_EQ(report_count, 0);
    runloop_timer_invalidate(nested);
    runloop_timer_release(nested);
}

static void be_stopped(void *info) {
    (void)info;
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        kill(self, SIGSTOP);
        usleep(3000000);
        kill(self, SIGCONT);
        _exit(0);
    }
    while (waitpid(child, NULL, 0) != child)
        ;
    // For the watchdog to look before the loop comes back: its pause goes on where it was stopped.
    pass_time(800 * MS);
}

TEST("time in which the whole program was stopped is not a hang") {
    watch(2 * SECOND, 0);
    keep_mode(MODE);
    runloop_post(runloop_current(), MODE, be_stopped, NULL, NULL);
    int64_t begin_ns = runloop_now_ns();
    poll_mode(MODE);
    EXPECT(runloop_now_ns() - begin_ns >= 3 * SECOND);
    EXPECT_EQ(report_count, 0);
}

//===-- spins --------------------------------------------------------------------------------------------------------===//

enum { LIMIT = 1000 };

static void stop_when_reported(void) {
    if (report_count > 0)
        runloop_stop(runloop_current());
}

static int turns;

static void leave_it(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
    stop_when_reported();
}

static void signal_again(runloop_source *source, void *info) {
    (void)info;
    runloop_source_signal(source);
    stop_when_reported();
}

static void fire_again(runloop_timer *timer, void *info) {
    (void)info;
    runloop_timer_set_fire_date(timer, 1);
    stop_when_reported();
}

static void wake_again(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    runloop_wake_up(runloop_current());
    stop_when_reported();
}

static void run_until_reported(const char *report) {
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TEXT(reports, report);
    EXPECT_EQ(last.iterations, LIMIT);
    EXPECT(last.duration_ns > 0);
}

/// What comes after the figures.
static void expect_said(const char *text) {
    const char *said = strstr(sentence, "without a sleep: ");
    EXPECT_TEXT(said ? said + strlen("without a sleep: ") : sentence, text);
}

/// In every fourth call the timer becomes due.
static void leave_it_and_nest(runloop_source *source, runloop_readiness events, void *info) {
    poll_mode(OTHER_MODE);
    if (++turns % 4 == 0)
        runloop_timer_set_fire_date(info, 0);
    leave_it(source, events, info);
}

static void count_firing(runloop_timer *timer, void *info) {
    (void)timer;
    ++*(int *)info;
}

TEST("a timer that fires now and then, and nested runs, do not hide a spin") {
    watch(0, LIMIT);
    keep_mode(OTHER_MODE);
    int firings = 0;
    runloop_timer *timer = add_timer(MODE, RUNLOOP_FOREVER, 3600LL * 1000 * MS, count_firing, &firings);
    runloop_source *source = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, leave_it_and_nest, timer);
    runloop_source_set_name(source, "never read", 0);
    run_until_reported("2 3 never read\n");
    EXPECT(firings > 0 && last.share_percent > 50);
    runloop_timer_invalidate(timer);
}

TEST("a source that signals itself is named") {
    watch(0, LIMIT);
    runloop_source *source = add_source(MODE, signal_again, NULL);
    runloop_source_set_name(source, "again", 0);
    runloop_source_signal(source);
    run_until_reported("2 2 again\n");
}

TEST("a timer that is always due is named") {
    watch(0, LIMIT);
    runloop_timer *timer = add_timer(MODE, 0, SECOND, fire_again, NULL);
    runloop_timer_set_name(timer, "past", 0);
    run_until_reported("2 1 past\n");
}

TEST("iterations that serve nothing are a spin without an item") {
    watch(0, LIMIT);
    keep_mode(MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS | RUNLOOP_ACTIVITY_BEFORE_WAITING, wake_again, NULL);
    run_until_reported("2 -1 \n");
    EXPECT_EQ(last.share_percent, 0);
    expect_said("it served nothing, so something wakes it up all the time.");
}

static void take_turns(runloop_source *source, void *other) {
    (void)source;
    runloop_source_signal(*(runloop_source **)other);
    stop_when_reported();
}

TEST("two sources that take turns share a spin") {
    watch(0, LIMIT);
    static runloop_source *one, *two;
    one = add_source(MODE, take_turns, &two);
    two = add_source(MODE, take_turns, &one);
    runloop_source_set_name(one, "one", 0);
    runloop_source_set_name(two, "two", 0);
    runloop_source_signal(one);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(last.share_percent, 50);
    EXPECT(strstr(sentence, "50 % of its calls were of the signalled source “"));
    EXPECT(strstr(sentence, "again; 50 % of the signalled source “") && strstr(sentence, "“one”") &&
           strstr(sentence, "“two”"));
}

static runloop_source *seldom, *often;

/// Three of four turns are the second one's.
static void take_next(runloop_source *source, void *info) {
    (void)source, (void)info;
    runloop_source_signal(++turns % 4 == 0 ? seldom : often);
    stop_when_reported();
}

TEST("the item with the greatest share is named, whichever was called first") {
    watch(0, LIMIT);
    seldom = add_source(MODE, take_next, NULL);
    often = add_source(MODE, take_next, NULL);
    runloop_source_set_name(seldom, "seldom", 0);
    runloop_source_set_name(often, "often", 0);
    for (int first = 0; first < 4; first++) {
        report_count = 0;
        reports[0] = 0;
        turns = first;
        runloop_source_signal(first ? often : seldom);
        EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
        EXPECT_TEXT(reports, "2 2 often\n");
        EXPECT(last.share_percent == 75);
    }
}

enum { MANY = 40 };

static runloop_source *many[MANY];

static void signal_next(runloop_source *source, void *info) {
    (void)source, (void)info;
    runloop_source_signal(many[++turns % MANY]);
    stop_when_reported();
}

TEST("a spin that is nobody's says so") {
    watch(0, LIMIT);
    for (int i = 0; i < MANY; i++)
        many[i] = add_source(MODE, signal_next, NULL);
    runloop_source_signal(many[0]);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT(last.share_percent < 10);
    expect_said("it served many items, none in a tenth of its calls, so it has more to do than it can.");
}

static void post_again(void *info) {
    runloop_post(runloop_current(), MODE, post_again, info, NULL);
    stop_when_reported();
}

TEST("a task that posts itself has a share, and another spin is another report") {
    watch(0, LIMIT);
    keep_mode(MODE);
    runloop_post(runloop_current(), MODE, post_again, NULL, NULL);
    run_until_reported("2 4 \n");
    expect_said("100 % of its calls were of a task without a name, which is posted again and again.");
    // The task is still there.
    report_count = 0;
    run_until_reported("2 4 \n2 4 \n");
}

static int wanted_reports;

static void end_sleep(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    runloop_stop(runloop_current());
}

/// As long as nobody has seen it, and then for three times the limit. Then it sleeps for long enough that the watchdog looks. All of it is in one run,
/// as the spin ends with the run.
static void spin_on(runloop_source *source, void *info) {
    (void)info;
    turns += report_count >= wanted_reports;
    if (turns < LIMIT * 3)
        runloop_source_signal(source);
    else
        add_timer(MODE, runloop_now_ns() + 600 * MS, 0, end_sleep, NULL);
}

TEST("a spin is reported once until it ends") {
    watch(0, LIMIT);
    runloop_source *source = add_source(MODE, spin_on, NULL);
    for (wanted_reports = 1; wanted_reports <= 2; wanted_reports++) {
        turns = 0;
        runloop_source_signal(source);
        EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
        EXPECT_EQ(report_count, wanted_reports);
    }
}

static void start_watching(runloop_source *source, void *info) {
    if (++turns == LIMIT * 2)
        watch(0, LIMIT);
    signal_again(source, info);
}

TEST("a spin that goes on since before the watchdog was started is reported, with all its iterations") {
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_source *source = add_source(MODE, start_watching, NULL);
    runloop_source_set_name(source, "older", 0);
    runloop_source_signal(source);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TEXT(reports, "2 2 older\n");
    EXPECT_EQ(last.iterations, LIMIT * 3);
}

static void make_four_fifths(runloop_source *source, void *info) {
    (void)info;
    if (++turns % (LIMIT * 4 / 5) != 0)
        runloop_source_signal(source);
}

/// Signals the source whenever the loop is asleep, and not before: its statistics say for how long it has been.
static void *signal_in_sleeps(void *context) {
    runloop_source *source = context;
    runloop_statistics before = {0}, now;
    for (int rounds = 0; rounds < 20;) {
        REQUIRE(runloop_statistics_copy(runloop_main(), &now) == 0);
        bool is_asleep = now.asleep_ns > before.asleep_ns && now.sleeps == before.sleeps;
        before = now;
        if (is_asleep) {
            rounds++;
            runloop_source_signal(source);
            runloop_wake_up(runloop_main());
            WAIT_UNTIL(runloop_statistics_copy(runloop_main(), &now) == 0 && now.sleeps > before.sleeps);
        }
    }
    runloop_stop(runloop_main());
    return NULL;
}

TEST("a loop that sleeps in between, and runs that only poll, do not spin") {
    watch(0, LIMIT);
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_source *source = add_source(MODE, make_four_fifths, NULL);
    for (int i = 0; i < 3 * LIMIT; i++)
        poll_mode(MODE);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, signal_in_sleeps, source) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
    // Long enough for the watchdog to look.
    run_for(MODE, 600 * MS);
    EXPECT(turns > 10 * LIMIT);
    EXPECT_EQ(report_count, 0);
}
