// signal_steps.c — no signal, wake-up, post or stop is lost, wherever its thread or the loop's is interrupted (R25, R47, R49, R62). The
// threads are stopped before each of their locked instructions in turn, or at every 37th instruction (steps.h): a trap takes 40 µs on
// a virtual machine.
#include "steps.h"

static struct actor signaller, other_signaller, runner;
static runloop *loop;
static runloop_source *source;
static _Atomic int performed;
static int result;
static void (*before_waiting)(void); ///< Called once per run, by an observer. May be NULL.

static void count_perform(runloop_source *performing, void *info) {
    (void)performing, (void)info;
    performed++;
}

static void observe_before_waiting(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    void (*function)(void) = before_waiting;
    before_waiting = NULL;
    if (function)
        function();
}

static void set_up_loop(void *info) {
    (void)info;
    loop = runloop_retain(runloop_current());
    source = make_source(count_perform, NULL);
    REQUIRE(runloop_add_source(loop, source, MODE) == 0);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_WAITING, observe_before_waiting, NULL);
}

static void set_up(void) {
    actor_create(&signaller);
    actor_create(&other_signaller);
    actor_create(&runner);
    actor_start(&runner, set_up_loop, NULL, INSTRUCTIONS, WITHOUT_STOP);
    actor_finish(&runner);
}

static void tear_down(void) {
    actor_end(&signaller);
    actor_end(&other_signaller);
    actor_end(&runner);
    runloop_source_release(source);
    runloop_release(loop);
}

static void signals(void *info) {
    (void)info;
    step_from_here();
    runloop_source_signal(source);
    no_more_steps();
}

static void poll_once(void *info) {
    (void)info;
    poll_mode(MODE);
}

/// All are done: what was signalled is performed at the latest now, and nothing is left over.
static void expect_at_rest(void) {
    actor_finish(&signaller);
    actor_finish(&other_signaller);
    actor_finish(&runner);
    actor_start(&runner, poll_once, NULL, INSTRUCTIONS, WITHOUT_STOP);
    actor_finish(&runner);
    EXPECT(!runloop_source_is_signalled(source));
    int before = performed;
    actor_start(&runner, poll_once, NULL, INSTRUCTIONS, WITHOUT_STOP);
    actor_finish(&runner);
    EXPECT_EQ(performed, before);
}

//===-- a signaller that stops in the middle -------------------------------------------------------------------------===//

static long signaller_stop, runner_stop;

/// On the loop's thread, which has found nothing to do: one thread begins to signal and stops, and this one signals.
static void signal_beside_another(void) {
    actor_start(&signaller, signals, NULL, LOCKED_INSTRUCTIONS, signaller_stop);
    actor_stops(&signaller);
    runloop_source_signal(source);
    step_from_here();
}

static void run_until_handled(void *info) {
    (void)info;
    result = runloop_run_in_mode(MODE, 2 * SECOND, true);
    no_more_steps();
}

/// False if both got to their ends without a stop.
static bool try_signal_beside_another(void) {
    performed = 0;
    before_waiting = signal_beside_another;
    actor_start(&runner, run_until_handled, NULL, LOCKED_INSTRUCTIONS, runner_stop);
    bool stops = actor_stops(&runner);
    // The loop has looked at some of it by now; the other one goes on.
    actor_finish(&signaller);
    actor_finish(&runner);
    EXPECT_EQ(result, RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(performed > 0);
    expect_at_rest();
    return stops;
}

TEST("R25 R62 a loop whose source is signalled does not sleep, wherever another signaller of it was interrupted") {
    if (!CAN_STEP)
        return;
    set_up();
    int tried = 0;
    for (signaller_stop = 1; signaller_stop <= 6 && !test_failures; signaller_stop++) {
        runner_stop = 1;
        while (try_signal_beside_another() && !test_failures)
            runner_stop++, tried++;
    }
    EXPECT(tried > 20);
    tear_down();
}

//===-- a signal while another one is taken --------------------------------------------------------------------------===//

/// The second iteration finds what the first one has left behind.
static void poll_stepped(void *info) {
    (void)info;
    step_from_here();
    poll_mode(MODE);
    poll_mode(MODE);
    no_more_steps();
}

/// The loop takes a first signal and stops on its way; a second one comes, whole; the loop goes on for a few steps; a third one begins and
/// stops. The second one must not depend on the third.
static bool try_signal_between(long further) {
    performed = 0;
    runloop_source_signal(source);
    actor_start(&runner, poll_stepped, NULL, LOCKED_INSTRUCTIONS, runner_stop);
    bool stops = actor_stops(&runner);
    int before = performed;
    runloop_source_signal(source);
    actor_go_on(&runner, runner_stop + further);
    actor_stops(&runner);
    actor_start(&other_signaller, signals, NULL, LOCKED_INSTRUCTIONS, signaller_stop);
    actor_stops(&other_signaller);
    actor_finish(&runner);
    actor_start(&runner, poll_once, NULL, INSTRUCTIONS, WITHOUT_STOP);
    actor_finish(&runner);
    EXPECT(performed > before);
    expect_at_rest();
    return stops;
}

TEST("R49 R62 a signal that comes while an earlier one is taken is performed, wherever a third one is interrupted") {
    if (!CAN_STEP)
        return;
    set_up();
    int tried = 0;
    for (signaller_stop = 1; signaller_stop <= 4 && !test_failures; signaller_stop++) {
        for (long further = 1; further <= 4 && !test_failures; further++) {
            runner_stop = 1;
            while (try_signal_between(further) && !test_failures)
                runner_stop++, tried++;
        }
    }
    EXPECT(tried > 50);
    tear_down();
}

//===-- anything at any point of a run -------------------------------------------------------------------------------===//

static bool came;
static void (*what_comes)(void);

static void comes_in_handler(void) {
    what_comes();
    came = true;
}

static void comes_on_thread(void *info) {
    (void)info;
    what_comes();
}

static void run_stepped_until_something_comes(void *info) {
    (void)info;
    step_from_here();
    result = runloop_run_in_mode(MODE, 2 * SECOND, true);
    no_more_steps();
}

/// Waits until the loop's thread has stopped or is done, or sleeps since nothing comes at this step any more: then it comes now.
static bool comes_before_the_sleep(bool in_handler) {
    for (;;) {
        int state = atomic_load(&runner.state);
        if (state == ACTOR_IS_STOPPED)
            return true;
        if (state == ACTOR_IDLE)
            return in_handler;
        if (sleeps(loop, runner.id) && !(in_handler && came))
            return false;
        let_others_run();
    }
}

/// True if the run has a step of that number.
static bool try_at(long step, bool in_handler) {
    came = false;
    runner.at_limit = in_handler ? comes_in_handler : NULL;
    actor_start(&runner, run_stepped_until_something_comes, NULL, INSTRUCTIONS, step);
    bool in_time = comes_before_the_sleep(in_handler);
    if (!in_time || !in_handler) {
        // It may have to wait for a lock that the stopped thread has.
        actor_start(&signaller, comes_on_thread, NULL, INSTRUCTIONS, WITHOUT_STOP);
        WAIT_UNTIL(atomic_load(&signaller.state) == ACTOR_IDLE || thread_is_asleep(signaller.id));
    }
    actor_finish(&runner);
    actor_finish(&signaller);
    return in_time;
}

static void at_every_step(void (*what)(void), bool in_handler, void (*prepare)(void), int expected) {
    what_comes = what;
    set_up();
    long step = 1;
    for (bool in_time = true; in_time && !test_failures; step += 37) {
        performed = 0;
        if (prepare)
            prepare();
        in_time = try_at(step, in_handler);
        EXPECT_EQ(result, expected);
        if (test_failures)
            fprintf(stderr, "    at step %ld\n", step);
    }
    EXPECT(step > 200);
    runner.at_limit = NULL;
    tear_down();
}

static void signal_and_wake(void) {
    runloop_source_signal(source);
    runloop_wake_up(loop);
}

TEST("R49 R55 R62 a signal with a wake-up is not lost at any point of a run at which a handler makes it") {
    if (CAN_STEP)
        at_every_step(signal_and_wake, true, NULL, RUNLOOP_RESULT_HANDLED_SOURCE);
}

TEST("R49 R62 a signal with a wake-up is not lost at any point of a run at which another thread makes it") {
    if (CAN_STEP)
        at_every_step(signal_and_wake, false, NULL, RUNLOOP_RESULT_HANDLED_SOURCE);
}

static void stop_latched(void) {
    runloop_stop_latched(loop);
}

TEST("R47 R55 a latched stop is not lost at any point of a run at which a handler makes it") {
    if (CAN_STEP)
        at_every_step(stop_latched, true, NULL, RUNLOOP_RESULT_STOPPED);
}

static void stop_from_task(void *info) {
    (void)info;
    runloop_stop_latched(loop);
}

static void post_a_stop(void) {
    REQUIRE(runloop_post(loop, MODE, stop_from_task, NULL, NULL) == 0);
}

TEST("R49 R104 a posted task is not lost at any point of a run at which another thread posts it") {
    if (CAN_STEP)
        at_every_step(post_a_stop, false, NULL, RUNLOOP_RESULT_STOPPED);
}

static void stop_from_timer(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    runloop_stop_latched(loop);
}

static void add_due_timer(void) {
    runloop_timer *timer = make_timer(runloop_now_ns(), 0, stop_from_timer, NULL);
    REQUIRE(runloop_add_timer(loop, timer, MODE) == 0);
    runloop_timer_release(timer);
}

TEST("R54 R87 a due timer is not overlooked at any point of a run at which another thread adds it") {
    if (CAN_STEP)
        at_every_step(add_due_timer, false, NULL, RUNLOOP_RESULT_STOPPED);
}

static void add_the_source(void) {
    REQUIRE(runloop_add_source(loop, source, MODE) == 0);
}

static void remove_the_source(void) {
    REQUIRE(runloop_remove_source(loop, source, MODE) == 0);
}

TEST("R25 a run finishes at whichever point another thread removes the last item") {
    if (CAN_STEP)
        at_every_step(remove_the_source, false, add_the_source, RUNLOOP_RESULT_FINISHED);
}
