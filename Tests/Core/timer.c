// timer.c — when timers fire: order, the fire schedule, missed ticks, moved dates (R74–R85, R92).
#include "items.h"

static runloop_timer *timers[4];
static int fires;
static int64_t starts[8], dates[8], ends[8];
static uint64_t missed[8];

/// Records when a timer's callback ran, with which date and how many missed ticks; info: how long it takes.
static void note_fire(runloop_timer *timer, void *info) {
    if (fires == 8)
        return;
    starts[fires] = runloop_now_ns();
    dates[fires] = runloop_timer_get_fire_date(timer);
    missed[fires] = runloop_timer_get_missed(timer);
    EXPECT(starts[fires] >= dates[fires]);
    if (info)
        pass_time((intptr_t)info);
    ends[fires++] = runloop_now_ns();
}

static void fire_until(const char *mode, int count) {
    for (int64_t deadline = runloop_now_ns() + 30 * SECOND; fires < count && runloop_now_ns() < deadline;)
        poll_mode(mode);
    REQUIRE(fires >= count);
}

static runloop_timer *add_ordered(int32_t order, int64_t fire_ns, const char *name) {
    runloop_timer_config config = {
        .context = {.info = (void *)name}, .order = order, .fire_ns = fire_ns, .fire = trace_fire};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    REQUIRE(runloop_add_timer(runloop_current(), timer, MODE) == 0);
    runloop_timer_release(timer);
    return timer;
}

static void perform_one(runloop_timer *timer, void *info) {
    trace_fire(timer, info);
    runloop_perform(runloop_current(), MODE, trace_function, "performed", NULL);
}

TEST("R74 a task that a timer queues waits until all due timers have fired") {
    keep_mode(MODE);
    add_timer(MODE, 1, 0, perform_one, "a");
    add_timer(MODE, 2, 0, trace_fire, "b");
    poll_mode(MODE);
    EXPECT_TRACE("a b performed");
}

TEST("R78 R79 a date is kept as it was given, past or future") {
    int64_t now = runloop_now_ns();
    int64_t given[] = {INT64_MIN, -1, 0, 1, now - SECOND, now, now + 100 * SECOND, INT64_MAX - 1, RUNLOOP_NEVER};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        runloop_timer *timer = make_timer(given[i], 10 * MS, note_fire, NULL);
        EXPECT_EQ(runloop_timer_get_fire_date(timer), given[i]);
        runloop_add_timer(runloop_current(), timer, MODE);
        EXPECT_EQ(runloop_timer_get_fire_date(timer), given[i]);
        EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), given[i]);
        runloop_timer_invalidate(timer);
        runloop_timer_release(timer);
    }
}

TEST("R78 no timer fires before its date") {
    keep_mode(MODE);
    for (int i = 0; i < 8; i++)
        add_timer(MODE, runloop_now_ns() + i * 3 * MS, 0, note_fire, NULL);
    while (fires < 8)
        EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
}

TEST("R79 among past dates the earlier one fires first, not the timer created first") {
    add_timer(MODE, 9, 0, trace_fire, "nine");
    add_timer(MODE, INT64_MIN, 0, trace_fire, "least");
    add_timer(MODE, 0, 0, trace_fire, "zero");
    poll_mode(MODE);
    EXPECT_TRACE("least zero nine");
}

TEST("R77 R79 timers with equal dates fire by order, then as they joined the loop") {
    int64_t date = runloop_now_ns() + 5 * MS;
    keep_mode(MODE);
    add_ordered(0, date, "c");
    add_ordered(7, date, "f");
    runloop_timer *rejoins = add_ordered(0, date, "e");
    runloop_timer *moves = add_ordered(0, date + SECOND, "d");
    add_ordered(-7, date, "b");
    add_ordered(100, date - 1, "a");
    runloop_add_timer(runloop_current(), moves, OTHER_MODE); // Neither a mode nor a date changes when it joined.
    runloop_timer_set_fire_date(moves, date);
    runloop_timer_retain(rejoins);
    runloop_remove_timer(runloop_current(), rejoins, MODE); // But this does.
    runloop_add_timer(runloop_current(), rejoins, MODE);
    runloop_timer_release(rejoins);
    pass_time(10 * MS);
    poll_mode(MODE);
    EXPECT_TRACE("a b c d e f");
}

TEST(
    "R80 a past date starts the fire schedule; one callback makes up for all missed ticks and can query their number") {
    int64_t first = runloop_now_ns() - 95 * MS;
    runloop_timer *timer = add_timer(MODE, first, 10 * MS, note_fire, NULL);
    int64_t before = runloop_now_ns();
    fire_until(MODE, 1);
    EXPECT_EQ(dates[0], first);
    EXPECT((int64_t)missed[0] >= (before - first) / (10 * MS));
    EXPECT((int64_t)missed[0] <= (starts[0] - first) / (10 * MS));
    EXPECT_EQ(runloop_timer_get_missed(timer), missed[0]); // Those of the last callback.
    int64_t next = runloop_timer_get_fire_date(timer);
    EXPECT_EQ((next - first) % (10 * MS), 0);
    EXPECT(next > starts[0] && next <= runloop_now_ns() + 10 * MS);
    EXPECT_EQ(fires, 1);
}

TEST("R80 a callback longer than the interval skips ticks, which the next callback reports once") {
    int64_t first = runloop_now_ns() + MS;
    runloop_timer *timer = add_timer(MODE, first, 10 * MS, note_fire, (void *)(35 * MS));
    fire_until(MODE, 3);
    EXPECT((int64_t)missed[0] <= (starts[0] - first) / (10 * MS));
    for (int i = 1; i < 3; i++) {
        EXPECT_EQ((dates[i] - first) % (10 * MS), 0);
        EXPECT(dates[i] > ends[i - 1]); // The first instant of the schedule after the callback's end.
        EXPECT(missed[i] >= 3);
        // Every instant of the schedule up to this start was either fired or reported.
        uint64_t sum = 0;
        for (int j = 0; j <= i; j++)
            sum += missed[j];
        EXPECT(sum + i <= (uint64_t)((starts[i] - first) / (10 * MS)));
        EXPECT(sum + i >= (uint64_t)((dates[i] - first) / (10 * MS)));
    }
    EXPECT_EQ(runloop_timer_get_missed(timer), missed[2]);
}

TEST("R80 missed ticks are counted by division, however many") {
    int64_t start = runloop_now_ns();
    for (int i = 0; i < 3; i++) {
        int64_t firsts[] = {0, INT64_MIN, start - SECOND};
        runloop_timer *timer = add_timer(MODE, firsts[i], 1, note_fire, NULL);
        fires = 0;
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
        REQUIRE(fires == 1);
        EXPECT(missed[0] >= (uint64_t)start - (uint64_t)firsts[i]);
        EXPECT(missed[0] <= (uint64_t)starts[0] - (uint64_t)firsts[i]);
        EXPECT(runloop_timer_get_fire_date(timer) > starts[0]);
        EXPECT(runloop_timer_get_fire_date(timer) <= runloop_now_ns() + 1);
        runloop_timer_invalidate(timer);
    }
}

TEST("R80 extreme dates and intervals saturate to never") {
    runloop_timer *longest = add_timer(MODE, 0, INT64_MAX, note_fire, NULL);
    runloop_timer *never = add_timer(MODE, RUNLOOP_NEVER, 1, note_fire, NULL);
    runloop_timer *almost = add_timer(MODE, INT64_MAX - 1, INT64_MAX, note_fire, NULL);
    runloop_timer *past = add_timer(MODE, INT64_MIN, INT64_MAX, note_fire, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(fires, 2);
    EXPECT_EQ(runloop_timer_get_fire_date(longest), RUNLOOP_NEVER); // 0 + INT64_MAX is exactly that.
    EXPECT_EQ(runloop_timer_get_fire_date(never), RUNLOOP_NEVER);
    EXPECT_EQ(runloop_timer_get_fire_date(almost), INT64_MAX - 1);
    EXPECT_EQ(runloop_timer_get_fire_date(past), RUNLOOP_NEVER); // An interval without end has no next one.
    EXPECT(runloop_timer_is_valid(longest) && runloop_timer_is_valid(past));
    int64_t soon = runloop_now_ns() - 1;
    runloop_timer *sum = add_timer(MODE, soon, INT64_MAX - 5, note_fire, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(fires, 3);
    EXPECT_EQ(runloop_timer_get_fire_date(sum), RUNLOOP_NEVER); // Never past it.
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(fires, 3);
}

static void look_at_self(runloop_timer *timer, void *info) {
    EXPECT_EQ(runloop_timer_get_fire_date(timer), *(int64_t *)info);
    EXPECT(runloop_timer_is_valid(timer));
    EXPECT(runloop_contains_timer(runloop_current(), timer, MODE));
    EXPECT(runloop_timer_get_info(timer) == info);
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), *(int64_t *)info);
    fires++;
}

TEST("R81 R85 R90 in its callback a timer is valid, a member, and still at the date that is firing") {
    int64_t date = runloop_now_ns() - 55;
    for (int64_t interval = 0; interval <= SECOND; interval += SECOND) {
        runloop_timer *timer = make_timer(date, interval, look_at_self, &date);
        runloop_add_timer(runloop_current(), timer, MODE);
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(runloop_timer_is_valid(timer), interval != 0);
        EXPECT_EQ(runloop_contains_timer(runloop_current(), timer, MODE), interval != 0);
        EXPECT_EQ(runloop_timer_get_fire_date(timer), interval ? date + SECOND : RUNLOOP_NEVER);
        runloop_timer_invalidate(timer);
        runloop_timer_release(timer);
    }
    EXPECT_EQ(fires, 2);
}

static int64_t own_dates[2];

static void move_self(runloop_timer *timer, void *info) {
    (void)info;
    note_fire(timer, NULL);
    if (fires > 1)
        return;
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(runloop_timer_set_fire_date(timer, own_dates[i]), 0);
}

TEST("R82 the last date set in a repeating timer's own callback counts, whatever it is, and restarts the fire "
     "schedule") {
    int64_t now = runloop_now_ns();
    int64_t wanted[] = {now + 100 * SECOND, now - 5 * SECOND, 1, now + 20 * MS, now - 7};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        fires = 0;
        own_dates[0] = now + 50 * SECOND;
        own_dates[1] = wanted[i];
        runloop_timer *timer = add_timer(MODE, now, 30 * MS, move_self, NULL);
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(fires, 1);
        EXPECT_EQ(runloop_timer_get_fire_date(timer), wanted[i]);
        if (i > 0) {
            fire_until(MODE, 3);
            EXPECT_EQ(dates[1], wanted[i]);
            EXPECT_EQ((dates[2] - wanted[i]) % (30 * MS), 0);
        }
        runloop_timer_invalidate(timer);
    }
}

TEST("R83 a date can be set at any time, in a loop or in none; it restarts the fire schedule and the getter returns "
     "it") {
    runloop_timer *timer = make_timer(RUNLOOP_NEVER, 10 * MS, note_fire, NULL);
    EXPECT_EQ(runloop_timer_set_fire_date(timer, -5), 0);
    EXPECT_EQ(runloop_timer_get_fire_date(timer), -5);
    runloop_add_timer(runloop_current(), timer, MODE);
    runloop_add_timer(runloop_current(), timer, OTHER_MODE);
    int64_t date = runloop_now_ns() + 20 * MS;
    EXPECT_EQ(runloop_timer_set_fire_date(timer, date), 0);
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), date);
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), OTHER_MODE), date);
    fire_until(OTHER_MODE, 2);
    EXPECT_EQ(dates[0], date);
    EXPECT_EQ((dates[1] - date) % (10 * MS), 0);
    runloop_timer_invalidate(timer);
    EXPECT_EQ(runloop_timer_set_fire_date(timer, date), -EINVAL);
    runloop_timer_release(timer);
}

TEST("R83 a date set between ticks is the next one to fire, earlier or later") {
    keep_mode(MODE);
    timers[0] = add_timer(MODE, runloop_now_ns() + 100 * SECOND, 0, trace_fire, "a");
    timers[1] = add_timer(MODE, runloop_now_ns() + 200 * SECOND, 0, trace_fire, "b");
    runloop_timer_set_fire_date(timers[1], 5);
    poll_mode(MODE);
    EXPECT_TRACE("b");
    runloop_timer_set_fire_date(timers[0], 5);
    runloop_timer_set_fire_date(timers[0], runloop_now_ns() + 300 * SECOND);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
}

static void nest(runloop_timer *timer, void *info) {
    (void)timer;
    trace(info);
    trace("(");
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(poll_mode(OTHER_MODE), RUNLOOP_RESULT_TIMED_OUT);
    trace(")");
}

TEST("R84 a firing timer is not called by nested runs in any mode; others are, and its ticks count as missed") {
    int64_t now = runloop_now_ns();
    runloop_timer *timer = add_timer(MODE, now, 5 * MS, nest, "outer");
    runloop_add_timer(runloop_current(), timer, OTHER_MODE);
    add_timer(MODE, now + 10 * MS, 0, trace_fire, "other");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("outer ( other )");
    EXPECT_EQ((runloop_timer_get_fire_date(timer) - now) % (5 * MS), 0);
    runloop_timer_invalidate(timer);
}

TEST("R92 a timer without a callback still fires once or repeats") {
    runloop_timer *once = make_timer(0, 0, NULL, NULL);
    runloop_add_timer(runloop_current(), once, MODE);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT(!runloop_timer_is_valid(once));
    runloop_timer_release(once);
    int64_t date = runloop_now_ns();
    runloop_timer *repeats = add_timer(MODE, date, 100 * SECOND, NULL, NULL);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_timer_get_fire_date(repeats), date + 100 * SECOND);
}

static void arm_again(runloop_timer *timer, void *info) {
    trace("again");
    if (++*(int *)info < 3)
        EXPECT_EQ(runloop_timer_set_fire_date(timer, runloop_now_ns() + MS), 0);
}

TEST("R82 R83 a timer whose interval is without end fires once for each date that it is given, in its own callback, "
     "too") {
    int count = 0;
    for (int64_t first = 0; first >= -1; first--) {
        count = 0;
        runloop_timer *timer = add_timer(MODE, first ? RUNLOOP_NEVER : -5, RUNLOOP_FOREVER, arm_again, &count);
        EXPECT_EQ(runloop_timer_get_interval(timer), RUNLOOP_FOREVER);
        if (first) {
            EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
            EXPECT_TRACE("");
            EXPECT_EQ(runloop_timer_set_fire_date(timer, runloop_now_ns()), 0);
        }
        while (count < 3)
            run_for(MODE, 10 * SECOND);
        EXPECT_TRACE("again again again");
        EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT(runloop_timer_is_valid(timer) && runloop_timer_get_fire_date(timer) == RUNLOOP_NEVER);
        EXPECT_EQ(runloop_timer_get_missed(timer), 0);
        EXPECT_TRACE("");
        runloop_timer_invalidate(timer);
    }
}
