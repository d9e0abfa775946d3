// wake.c — waking, stopping and kicking a loop that sleeps or is about to.

#include "scene.h"

static runloop *loop;
static runloop_source *source;
static int result;

static void set_up(void) {
    source = source_with(NULL, NULL);
    loop = loop_with(source);
}

static void stopped(void) {
    EXPECT(result == RUNLOOP_RESULT_STOPPED);
}

//===-- wake-ups -----------------------------------------------------------------------------------------------------===//

static _Atomic bool first_is_written, second_is_written;
static bool looks_for_both;

/// Looks at what was written in each iteration, and at no other time.
static void look(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    bool first = atomic_load_explicit(&first_is_written, RELAXED);
    bool second = atomic_load_explicit(&second_is_written, RELAXED);
    if (first && (second || !looks_for_both))
        runloop_stop(loop);
}

static void look_until_written(void) {
    set_up();
    runloop_observer *observer = observer_with(RUNLOOP_ACTIVITY_BEFORE_SOURCES, look);
    runloop_add_observer(loop, observer, MODE);
    meet();
    // Woken twice, it may not be in a run in between.
    do
        result = run_for_ever();
    while (result != RUNLOOP_RESULT_STOPPED);
    part();
    runloop_observer_release(observer);
}

static void look_until_both_written(void) {
    looks_for_both = true;
    look_until_written();
}

static void write_first_and_wake(void) {
    meet();
    atomic_store_explicit(&first_is_written, true, RELAXED);
    runloop_wake_up(loop);
}

static void write_second_and_wake(void) {
    meet();
    atomic_store_explicit(&second_is_written, true, RELAXED);
    runloop_wake_up(loop);
}

SCENE(wake_up, "an iteration after a wake-up sees what was written before it",
      .threads = {look_until_written, write_first_and_wake}, .at_rest = stopped);
SCENE(two_wake_ups, "so it does when the loop was woken already",
      .threads = {look_until_both_written, write_first_and_wake, write_second_and_wake}, .at_rest = stopped);

/// A kick that has nothing to say.
static void kick(void) {
    meet();
    runloop_clock_moved(loop);
}
SCENE(wake_up_and_kick, "nor does a kick hide the wake-up", .threads = {look_until_written, kick, write_first_and_wake},
      .at_rest = stopped);

//===-- stops --------------------------------------------------------------------------------------------------------===//

enum { ENTERED };
/// By who stops, before that.
static int written;

static void see_what_was_written(void) {
    EXPECT(result != RUNLOOP_RESULT_STOPPED || written == 1);
}

static void tell_entered(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    tell(ENTERED);
}

static void run_until_stopped(void) {
    set_up();
    meet();
    result = run_and_part();
    see_what_was_written();
}

static void enter_and_run(void) {
    set_up();
    runloop_observer *observer = observer_with(RUNLOOP_ACTIVITY_ENTRY, tell_entered);
    runloop_add_observer(loop, observer, MODE);
    meet();
    result = run_and_part();
    see_what_was_written();
    runloop_observer_release(observer);
}

static void stop_after_entry(void) {
    meet();
    await(ENTERED);
    written = 1;
    runloop_stop(loop);
}

static void stop_latched(void) {
    meet();
    written = 1;
    runloop_stop_latched(loop);
}

static void stop_mode(void) {
    meet();
    written = 1;
    runloop_stop_mode(loop, MODE);
}

static void wake_up_before_stop(void) {
    meet();
    await(ENTERED);
    runloop_wake_up(loop);
}

SCENE(stop, "a run that is stopped ends", .threads = {enter_and_run, stop_after_entry}, .at_rest = stopped);
SCENE(stop_and_wake_up, "also when it is woken at the same time",
      .threads = {enter_and_run, stop_after_entry, wake_up_before_stop}, .at_rest = stopped);
SCENE(latched_stop, "a latched stop ends a run whenever it comes", .threads = {run_until_stopped, stop_latched},
      .at_rest = stopped);
SCENE(stop_of_mode, "so does the stop of a mode", .threads = {run_until_stopped, stop_mode}, .at_rest = stopped);

static void stop_first(void) {
    meet();
    atomic_store_explicit(&first_is_written, true, RELAXED);
    runloop_stop_latched(loop);
}
static void stop_second(void) {
    meet();
    atomic_store_explicit(&second_is_written, true, RELAXED);
    runloop_stop_latched(loop);
}
static void run_until_both_stopped(void) {
    set_up();
    meet();
    while (!atomic_load_explicit(&first_is_written, RELAXED) || !atomic_load_explicit(&second_is_written, RELAXED))
        result = run_for_ever();
    part();
}
SCENE(two_latched_stops, "a stopped run sees what was written before each stop that it consumes",
      .threads = {run_until_both_stopped, stop_first, stop_second});

/// A kick for nothing comes first: the mode that it is for has an item again when the loop looks.
static void kick_and_stop(void) {
    runloop_source *other = source_with(NULL, NULL);
    meet();
    runloop_add_source(loop, other, MODE);
    runloop_remove_source(loop, source, MODE);
    runloop_add_source(loop, source, MODE);
    written = 1;
    runloop_stop_latched(loop);
    runloop_source_release(other);
}
SCENE(kick_for_nothing, "a kick does not hide the next one", .threads = {run_until_stopped, kick_and_stop},
      .at_rest = stopped);

//===-- changes of the mode ------------------------------------------------------------------------------------------===//

static void remove_source(void) {
    meet();
    runloop_remove_source(loop, source, MODE);
}

static void finished(void) {
    EXPECT(result == RUNLOOP_RESULT_FINISHED);
}
SCENE(emptied_mode, "a run ends when its mode is emptied", .threads = {run_until_stopped, remove_source},
      .at_rest = finished);

static void empty_and_fill(void) {
    meet();
    runloop_remove_source(loop, source, MODE);
    runloop_add_source(loop, source, MODE);
    runloop_remove_source(loop, source, MODE);
}
SCENE(emptied_twice, "also the second time", .threads = {run_until_stopped, empty_and_fill}, .at_rest = finished);

static void look_for_new_mode(void) {
    set_up();
    meet();
    runloop_mode_is_empty(loop, "new");
    runloop_mode_is_empty(loop, "newer");
    part();
}
static void make_modes(void) {
    meet();
    runloop_add_source(loop, source, "new");
    runloop_add_source(loop, source, "newer");
    part();
}
SCENE(new_modes, "modes that another thread makes are found whole, or not at all",
      .threads = {look_for_new_mode, make_modes});

//===-- dates --------------------------------------------------------------------------------------------------------===//

static const int64_t FAR_NS = INT64_C(3600000000000);
static runloop_timer *timer;
static int64_t begin_ns, fired_ns;

static void fire(runloop_timer *fired, void *info) {
    (void)fired, (void)info;
    fired_ns = runloop_now_ns();
    runloop_stop(loop);
}

static void run_with_timer(void) {
    set_up();
    begin_ns = runloop_now_ns();
    timer = timer_with(begin_ns + FAR_NS, fire);
    runloop_add_timer(loop, timer, MODE);
    meet();
    result = run_and_part();
}

static void bring_date_forward(void) {
    meet();
    runloop_timer_set_fire_date(timer, begin_ns + 1000);
    runloop_timer_release(timer);
}

static void run_without_timer(void) {
    begin_ns = runloop_now_ns();
    set_up();
    meet();
    result = run_and_part();
}

static void add_timer(void) {
    meet();
    timer = timer_with(begin_ns + 1000, fire);
    runloop_add_timer(loop, timer, MODE);
    runloop_timer_release(timer);
}

static void fired_in_time(void) {
    EXPECT(fired_ns >= begin_ns + 1000 && fired_ns < begin_ns + FAR_NS);
}
SCENE(earlier_date, "a date that is brought forward ends the sleep in time",
      .threads = {run_with_timer, bring_date_forward}, .at_rest = fired_in_time);
SCENE(added_timer, "so does a timer that is added", .threads = {run_without_timer, add_timer},
      .at_rest = fired_in_time);
