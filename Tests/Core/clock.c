// clock.c — a loop with a clock of the program's: virtual time, which moves when the loop has nothing else to do (R74, R32).
#include <poll.h>

#include "items.h"

#define START (1000 * SECOND)
#define HOUR (3600 * SECOND)

/// What the clock does when it is asked.
enum answer { JUMPS, SLEEPS, SLEEPS_A_MS_THEN_JUMPS };

static struct {
    _Atomic int64_t now_ns;
    enum answer answer;
    _Atomic int asked;
    _Atomic int64_t last_ns; ///< for how long there was nothing to do
    void (*is_asked)(void);  ///< called once
} given;

static runloop *loop;
static int count;

static int64_t now(void *context) {
    EXPECT(context == &given);
    return given.now_ns;
}

static int64_t wait_by_clock(void *context, int64_t duration_ns) {
    EXPECT(context == &given);
    given.asked++;
    given.last_ns = duration_ns;
    void (*is_asked)(void) = given.is_asked;
    given.is_asked = NULL;
    if (is_asked)
        is_asked();
    if (given.answer == SLEEPS || duration_ns == RUNLOOP_FOREVER)
        return RUNLOOP_FOREVER;
    if (given.answer == SLEEPS_A_MS_THEN_JUMPS) {
        given.answer = JUMPS;
        return MS;
    }
    given.now_ns += duration_ns;
    return 0;
}

static const runloop_clock virtual_clock = {&given, now, wait_by_clock};

static void set_up(enum answer answer) {
    loop = runloop_current();
    given.now_ns = START;
    given.answer = answer;
    EXPECT_EQ(runloop_set_clock(&virtual_clock), 0);
}

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    count++;
}

TEST("R74 R32 an hour of timers passes without a sleep, and a limit is the clock's") {
    set_up(JUMPS);
    runloop_timer *timer = add_timer(MODE, START + SECOND, SECOND, count_fire, NULL);
    EXPECT_EQ(run_for(MODE, HOUR), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_now_ns(), START + HOUR);
    EXPECT_EQ(count, 3600);
    EXPECT_EQ(given.asked, 3600);
    EXPECT_EQ(runloop_timer_get_missed(timer), 0);
    EXPECT_EQ(runloop_timer_get_fire_date(timer), START + HOUR + SECOND);
    EXPECT_EQ(run_for(MODE, SECOND / 2), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(count, 3600);
    EXPECT_EQ(runloop_now_ns(), START + HOUR + SECOND / 2);
}

static void trace_instant(runloop_timer *timer, void *name) {
    char text[64];
    (void)timer;
    snprintf(text, sizeof text, "%s%" PRId64, (const char *)name, (runloop_now_ns() - START) / SECOND);
    trace(text);
}

TEST("R74 R77 each due instant is visited in its order, and a tolerance merges them as ever") {
    set_up(JUMPS);
    add_timer(MODE, START + 3 * SECOND, 0, trace_instant, "b");
    add_timer(MODE, START + 2 * SECOND, 3 * SECOND, trace_instant, "a");
    EXPECT_EQ(run_for(MODE, 6 * SECOND), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("a2 b3 a5");
    runloop_timer *tolerant = add_timer(OTHER_MODE, START + 10 * SECOND, 0, trace_instant, "t");
    runloop_timer_set_tolerance(tolerant, 5 * SECOND);
    add_timer(OTHER_MODE, START + 13 * SECOND, 0, trace_instant, "e");
    EXPECT_EQ(runloop_run_in_mode(OTHER_MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("t13 e13");
}

static int ready_descriptor;

static void bump_ready(void) {
    bump(ready_descriptor);
}

static void take_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    take(ready_descriptor);
    trace_instant(NULL, info);
}

TEST("R43 the clock is asked only when nothing is ready, and what becomes ready meanwhile is served before it moves "
     "on") {
    set_up(SLEEPS);
    ready_descriptor = make_eventfd(1);
    add_descriptor(MODE, ready_descriptor, RUNLOOP_READABLE, take_ready, "d");
    add_timer(MODE, START + SECOND, 0, trace_instant, "t");
    given.is_asked = bump_ready;
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(given.asked, 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(given.asked, 1);
    EXPECT_EQ(given.last_ns, SECOND);
    given.answer = JUMPS;
    EXPECT_EQ(run_for(MODE, 2 * SECOND), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("d0 d0 t1");
}

//===-- calls while the clock is asked -------------------------------------------------------------------------------===//

static void trace_and_stop(void *word) {
    trace(word);
    runloop_stop(loop);
}

static void fire_and_stop(runloop_timer *timer, void *word) {
    (void)timer;
    trace_and_stop(word);
}

static void perform_and_stop(runloop_source *source, void *word) {
    (void)source;
    trace_and_stop(word);
}

static void post(void) {
    EXPECT_EQ(runloop_post(loop, MODE, trace_and_stop, "posted", NULL), 0);
}

static void signal_and_wake(void) {
    runloop_source_signal(add_source(MODE, perform_and_stop, "performed"));
    runloop_wake_up(loop);
}

static void add_and_move(void) {
    add_timer(MODE, START + SECOND, 0, fire_and_stop, "fired");
    given.now_ns += SECOND;
}

static void bring_forward(void) {
    add_timer(MODE, START + SECOND, 0, fire_and_stop, "due");
}

static void stop(void) {
    runloop_stop(loop);
}

static void run_while_asked(void (*call)(void), enum answer answer) {
    given.now_ns = START;
    given.answer = answer;
    given.is_asked = call;
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
}

TEST("R46 R54 R87 R104 what is posted, signalled, added or stopped while the clock is asked ends the sleep") {
    set_up(SLEEPS);
    add_timer(MODE, START + HOUR, 0, count_fire, NULL);
    run_while_asked(post, SLEEPS);
    run_while_asked(signal_and_wake, SLEEPS);
    run_while_asked(add_and_move, SLEEPS);
    run_while_asked(stop, SLEEPS);
    run_while_asked(bring_forward, SLEEPS_A_MS_THEN_JUMPS);
    EXPECT_TRACE("posted performed fired due");
    EXPECT_EQ(runloop_now_ns(), START + SECOND);
    EXPECT_EQ(count, 0);
}

static void run_it(void) {
    EXPECT_EQ(run_for(MODE, SECOND), -EBUSY);
    EXPECT_EQ(runloop_hosted_begin(MODE), -EBUSY);
    EXPECT_EQ(runloop_set_clock(NULL), -EBUSY);
    runloop_stop(loop);
}

TEST("R38 the loop can't be run, nor its clock replaced, while the clock is asked") {
    set_up(SLEEPS);
    keep_mode(MODE);
    run_while_asked(run_it, SLEEPS);
    EXPECT_EQ(given.asked, 1);
    EXPECT_EQ(given.last_ns, RUNLOOP_FOREVER);
}

//===-- other threads and hosts --------------------------------------------------------------------------------------===//

static void give_clock(void) {
    EXPECT_EQ(runloop_set_clock(&virtual_clock), 0);
    trace_activities(MODE);
    add_timer(MODE, START + SECOND, 0, trace_fire, "fired");
}

TEST("R52 a clock that another thread moves lets due timers fire, and observers see one sleep") {
    given.now_ns = START;
    given.answer = SLEEPS;
    struct worker worker = {.prepare = give_clock};
    start_worker(&worker);
    wait_for_sleep(&worker);
    EXPECT_EQ(runloop_get_now_ns(worker.loop), START);
    EXPECT(runloop_now_ns() != START);
    for (int i = 1; i <= 2; i++) {
        given.now_ns = START + i * SECOND / 2;
        EXPECT_EQ(runloop_clock_moved(worker.loop), 0);
        WAIT_UNTIL(given.asked > i);
    }
    WAIT_UNTIL(trace_contains("fired"));
    wait_for_sleep(&worker);
    stop_worker(&worker);
    EXPECT_TRACE("Entry T S W A fired T S W A Exit");
}

TEST("R87 a timer that another thread adds is asked for in the sleep under way") {
    given.now_ns = START;
    given.answer = SLEEPS;
    struct worker worker = {.prepare = give_clock};
    start_worker(&worker);
    wait_for_sleep(&worker);
    runloop_timer *timer = make_timer(START + SECOND / 4, 0, trace_fire, "earlier");
    EXPECT_EQ(runloop_add_timer(worker.loop, timer, MODE), 0);
    WAIT_UNTIL(given.last_ns == SECOND / 4);
    stop_worker(&worker);
    runloop_timer_release(timer);
}

TEST("R38 in a hosted run the clock is asked as in any other, and may let the machine's time pass") {
    set_up(JUMPS);
    add_timer(MODE, START + SECOND, SECOND, count_fire, NULL);
    struct pollfd host = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    while (count < 10)
        EXPECT_EQ(runloop_hosted_iterate(0), -EAGAIN);
    EXPECT_EQ(runloop_now_ns(), START + 10 * SECOND);
    given.answer = SLEEPS_A_MS_THEN_JUMPS;
    while (count < 11) {
        REQUIRE(poll(&host, 1, 30000) == 1);
        EXPECT(runloop_hosted_iterate(0) <= 0);
    }
    given.answer = SLEEPS;
    while (runloop_hosted_iterate(RUNLOOP_FOREVER))
        ;
    EXPECT_EQ(poll(&host, 1, 0), 0);
    EXPECT_EQ(runloop_hosted_end(), 0);
}

static void iterate_it(void) {
    EXPECT_EQ(runloop_hosted_iterate(0), -EBUSY);
    EXPECT_EQ(runloop_hosted_end(), -EBUSY);
}

TEST("R38 a hosted run can't be iterated while the clock is asked") {
    set_up(SLEEPS);
    keep_mode(MODE);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    given.is_asked = iterate_it;
    while (runloop_hosted_iterate(0) == -EAGAIN)
        ;
    EXPECT(!given.is_asked);
    EXPECT_EQ(runloop_hosted_end(), 0);
}

//===-- a clock that moves while a hosted run falls asleep -----------------------------------------------------------===//

static _Atomic int moves_asked, moves_made;
static int stage;
static pthread_t own_thread;

static void *move_clock(void *unused) {
    for (int move = 1; move <= 2; move++) {
        WAIT_UNTIL(moves_asked >= move);
        given.now_ns += SECOND;
        runloop_clock_moved(loop);
        moves_made = move;
    }
    return unused;
}

static void let_clock_move(int move) {
    moves_asked = move;
    while (moves_made < move)
        sched_yield();
}

/// The second move comes right after the loop has looked at the clock.
static int64_t now_before_move(void *unused) {
    (void)unused;
    int64_t now_ns = given.now_ns;
    if (stage == 2 && pthread_equal(pthread_self(), own_thread)) {
        stage = 3;
        let_clock_move(2);
    }
    return now_ns;
}

/// The first one comes while the clock is asked.
static int64_t wait_through_move(void *unused, int64_t duration_ns) {
    (void)unused, (void)duration_ns;
    if (stage == 1) {
        let_clock_move(1);
        stage = 2;
    }
    return RUNLOOP_FOREVER;
}

TEST("R38 R87 a clock that moves twice while a hosted run falls asleep is looked at again") {
    loop = runloop_current();
    own_thread = pthread_self();
    given.now_ns = START;
    const runloop_clock clock = {.now = now_before_move, .wait = wait_through_move};
    EXPECT_EQ(runloop_set_clock(&clock), 0);
    keep_mode(MODE);
    add_timer(MODE, START + 2 * SECOND, 0, count_fire, NULL);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, move_clock, NULL) == 0);
    struct pollfd host = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    stage = 1;
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    while (count == 0) {
        REQUIRE(poll(&host, 1, 30000) == 1);
        EXPECT(runloop_hosted_iterate(RUNLOOP_FOREVER) <= 0);
    }
    EXPECT_EQ(stage, 3);
    EXPECT_EQ(runloop_hosted_end(), 0);
    pthread_join(thread, NULL);
}

static pid_t child;

static void fork_child(void) {
    child = fork();
}

TEST("R123 a child of a fork while the clock is asked gets an error, and the parent goes on") {
    set_up(JUMPS);
    add_timer(MODE, START + SECOND, 0, count_fire, NULL);
    given.is_asked = fork_child;
    int result = runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), status;
    if (child == 0)
        _exit(result == -ECHILD && count == 0 ? 0 : 1);
    EXPECT_EQ(result, RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(count, 1);
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

//===-- refusals -----------------------------------------------------------------------------------------------------===//

static void set_in_run(void *expected) {
    EXPECT_EQ(runloop_set_clock(&virtual_clock), *(int *)expected);
    EXPECT_EQ(runloop_set_clock(NULL), *(int *)expected);
    runloop_stop(loop);
}

static void set_in_run_with_limit(void *unused) {
    (void)unused;
    int busy = -EBUSY;
    runloop_perform(loop, OTHER_MODE, set_in_run, &busy, NULL);
    EXPECT_EQ(run_for(OTHER_MODE, SECOND), RUNLOOP_RESULT_STOPPED);
    runloop_stop(loop);
}

TEST("R1 a clock without its functions, for a loop with timers or limits is refused, and NULL gives the machine's "
     "back") {
    int64_t before_ns = runloop_now_ns();
    int none = 0, busy = -EBUSY;
    EXPECT_EQ(runloop_set_clock(&(runloop_clock){.now = now}), -EINVAL);
    EXPECT_EQ(runloop_set_clock(&(runloop_clock){.wait = wait_by_clock}), -EINVAL);
    EXPECT_EQ(runloop_clock_moved(NULL), -EINVAL);
    EXPECT(runloop_get_now_ns(NULL) >= before_ns);
    loop = runloop_current();
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    runloop_perform(loop, MODE, set_in_run, &none, NULL);
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    runloop_perform(loop, MODE, set_in_run, &busy, NULL);
    EXPECT_EQ(run_for(MODE, SECOND), RUNLOOP_RESULT_STOPPED);
    runloop_perform(loop, MODE, set_in_run_with_limit, NULL, NULL);
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    runloop_timer *timer = add_timer(MODE, RUNLOOP_NEVER, 0, NULL, NULL);
    EXPECT_EQ(runloop_set_clock(&virtual_clock), -EBUSY);
    runloop_timer_invalidate(timer);
    set_up(JUMPS);
    EXPECT_EQ(runloop_now_ns(), START);
    EXPECT_EQ(runloop_set_clock(NULL), 0);
    EXPECT(runloop_now_ns() >= before_ns);
    EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(given.asked, 0);
}
