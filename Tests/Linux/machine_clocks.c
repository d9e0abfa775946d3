// machine_clocks.c — alarms and watches on the clocks of this machine, which no test sets.
#include <sched.h>
#include <sys/timerfd.h>
#include <time.h>

#include "children.h"

static int64_t early_ns;
static int calls;
static int64_t latest_ns;

static void note_call(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    (void)missed, (void)info;
    int64_t now = runloop_clock_get_now_ns(runloop_alarm_get_clock(alarm));
    if (now < date_ns && date_ns - now > early_ns)
        early_ns = date_ns - now;
    latest_ns = date_ns;
    calls++;
}

static runloop_alarm *add_alarm(runloop_clock_id clock, int64_t date_ns, int64_t interval_ns) {
    runloop_alarm_config config = {.clock = clock, .date_ns = date_ns, .interval_ns = interval_ns, .fire = note_call};
    runloop_alarm *alarm = NULL;
    REQUIRE(runloop_alarm_create(&config, &alarm) == 0);
    REQUIRE(runloop_add_source(runloop_current(), alarm, MODE) == 0);
    return alarm;
}

static int64_t now_of(clockid_t clock) {
    struct timespec now;
    REQUIRE(clock_gettime(clock, &now) == 0);
    return now.tv_sec * SECOND + now.tv_nsec;
}

TEST("the clocks are those of the kernel") {
    int64_t before = now_of(CLOCK_REALTIME), wall = runloop_clock_get_now_ns(RUNLOOP_CLOCK_WALL);
    EXPECT(wall >= before && wall <= now_of(CLOCK_REALTIME));
    before = now_of(CLOCK_BOOTTIME);
    int64_t boot = runloop_clock_get_now_ns(RUNLOOP_CLOCK_BOOT);
    EXPECT(boot >= before && boot <= now_of(CLOCK_BOOTTIME));
    EXPECT_EQ(runloop_clock_get_now_ns((runloop_clock_id)2), RUNLOOP_NEVER);
}

static void expect_never_early(runloop_clock_id clock) {
    int64_t first = runloop_clock_get_now_ns(clock) + 5 * MS;
    runloop_alarm *alarm = add_alarm(clock, first, MS);
    RUN_UNTIL(MODE, calls >= 50);
    EXPECT_EQ(early_ns, 0);
    EXPECT_EQ((latest_ns - first) % MS, 0);
    EXPECT_EQ(runloop_alarm_get_date(alarm), latest_ns + MS);
    end_source(alarm);
}

TEST("no date of the wall clock is early") {
    expect_never_early(RUNLOOP_CLOCK_WALL);
}

TEST("no date of the boot clock is early") {
    expect_never_early(RUNLOOP_CLOCK_BOOT);
}

TEST("dates before 1970 are due, and those at the end of time are not") {
    runloop_alarm *alarm = add_alarm(RUNLOOP_CLOCK_WALL, INT64_MIN, 0);
    handle_one(MODE);
    EXPECT_EQ(calls, 1);
    const int64_t future[] = {RUNLOOP_NEVER - 1, RUNLOOP_NEVER, INT64_C(4102444800) * SECOND};
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(runloop_alarm_set_date(alarm, future[i]), 0);
        EXPECT_EQ(runloop_alarm_get_date(alarm), future[i]);
        run_for(MODE, 10 * MS);
        EXPECT_EQ(calls, 1);
    }
    runloop_alarm_set_date(alarm, runloop_clock_get_now_ns(RUNLOOP_CLOCK_WALL));
    handle_one(MODE);
    EXPECT_EQ(calls, 2);
    end_source(alarm);
}

static void count_change(runloop_clock_watch *watch, const runloop_clock_change *change, void *info) {
    (void)watch, (void)change, (void)info;
    calls++;
}

/// What the kernel says of a source's timer.
static bool kernel_says(runloop_source *source, const char *line) {
    char text[1024];
    need_proc();
    snprintf(text, sizeof text, "/proc/self/fdinfo/%d", runloop_source_get_descriptor(source));
    int descriptor = open(text, O_RDONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
    test_read_all(descriptor, text, sizeof text);
    return strstr(text, line);
}

TEST("the kernel watches the wall clock for a watch, which is quiet and lets the loop sleep") {
    runloop_clock_watch_config config = {.changed = count_change};
    runloop_clock_watch *watch = NULL;
    REQUIRE(runloop_clock_watch_create(&config, &watch) == 0);
    runloop_source *source = watch;
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    // TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET, in octal digits.
    EXPECT(kernel_says(source, "clockid: 0\n"));
    EXPECT(kernel_says(source, "settime flags: 03\n"));
    run_for(MODE, 100 * MS);
    EXPECT_EQ(calls, 0);
    end_source(watch);
}

/// As the clock of a process that was checkpointed elsewhere, or of a container.
static void use_namespace(void) {
    EXPECT(now_of(CLOCK_BOOTTIME) > 1000000 * SECOND);
    int64_t date = runloop_clock_get_now_ns(RUNLOOP_CLOCK_BOOT) + 20 * MS;
    runloop_alarm *alarm = add_alarm(RUNLOOP_CLOCK_BOOT, date, 0);
    int64_t begin = runloop_now_ns();
    handle_one(MODE);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(early_ns, 0);
    EXPECT(runloop_now_ns() - begin < 20 * SECOND);
    runloop_clock_watch_config config = {.changed = count_change};
    runloop_clock_watch *watch = NULL;
    REQUIRE(runloop_clock_watch_create(&config, &watch) == 0);
    REQUIRE(runloop_add_source(runloop_current(), watch, MODE) == 0);
    run_for(MODE, 20 * MS);
    EXPECT_EQ(calls, 1);
    runloop_source_release(watch);
    end_source(alarm);
}

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

TEST("in a time namespace, dates of the boot clock are the namespace's") {
    need_proc();
    // Only the superuser, of a user namespace for instance, may make one.
    if (unshare(geteuid() == 0 ? CLONE_NEWTIME : CLONE_NEWTIME | CLONE_NEWUSER) < 0)
        LEAVE_OUT("This process may not make a time namespace.");
    const char offset[] = "boottime 1000000 0\n";
    int file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        LEAVE_OUT("This process may not set the offset of its namespace.");
    REQUIRE(write(file, offset, sizeof offset - 1) == sizeof offset - 1);
    close(file);
    // The children are in it.
    EXPECT_EQ(status_of_child(use_namespace), 0);
}

//===-- their timers -------------------------------------------------------------------------------------------------===//

static bool is_armed(int timer) {
    struct itimerspec left;
    REQUIRE(timerfd_gettime(timer, &left) == 0);
    return left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0;
}

static runloop_alarm *inherited;

static void end_inherited(void) {
    // The loop's reference, too, whose thread is not here.
    runloop_source_release(inherited);
    runloop_source_release(inherited);
}

TEST("an alarm that has ended has no date in the kernel, though somebody has a reference, and a forked child takes "
     "none") {
    int64_t later = runloop_clock_get_now_ns(RUNLOOP_CLOCK_WALL) + 3600 * SECOND;
    inherited = add_alarm(RUNLOOP_CLOCK_WALL, later, 0);
    int timer = runloop_source_get_descriptor(inherited);
    EXPECT(is_armed(timer));
    EXPECT_EQ(status_of_child(end_inherited), 0);
    EXPECT(is_armed(timer));
    runloop_source_invalidate(inherited);
    EXPECT(!is_armed(timer));
    runloop_source_release(inherited);
}

static void set_refused_date(void) {
    int64_t later = runloop_clock_get_now_ns(RUNLOOP_CLOCK_WALL) + 3600 * SECOND;
    runloop_alarm *alarm = add_alarm(RUNLOOP_CLOCK_WALL, later, 0);
    refuse(SYS_timerfd_settime, EPERM);
    EXPECT_EQ(runloop_alarm_set_date(alarm, later + SECOND), -EPERM);
    EXPECT_EQ(runloop_alarm_get_date(alarm), later);
}

TEST("an alarm whose new date is refused keeps its date") {
    EXPECT_EQ(status_of_child(set_refused_date), 0);
}

static void watch_as_the_clock_is_set(void) {
    runloop_clock_watch *watch = NULL;
    refuse(SYS_timerfd_settime, ECANCELED);
    EXPECT_EQ(runloop_clock_watch_create(&(runloop_clock_watch_config){.changed = NULL}, &watch), 0);
    runloop_source_release(watch);
}

TEST("a watch can be made in the moment in which the clock is set") {
    EXPECT_EQ(status_of_child(watch_as_the_clock_is_set), 0);
}
