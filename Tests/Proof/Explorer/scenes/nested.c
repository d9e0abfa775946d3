// nested.c — runs in call-outs: the wake word of the run around is exchanged, and given back.

#include "scene.h"

static runloop *loop;
static runloop_source *source, *other;
static int result;
static bool has_nested;

static void nest(void) {
    if (has_nested)
        return;
    has_nested = true;
    runloop_run_in_mode("other", 0, false);
}

//===-- wake-ups and stops -------------------------------------------------------------------------------------------===//

static _Atomic bool is_written;

static void nest_and_look(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    nest();
    if (atomic_load_explicit(&is_written, RELAXED))
        runloop_stop(loop);
}

static void set_up(void) {
    source = source_with(NULL, NULL);
    other = source_with(NULL, NULL);
    loop = loop_with(source);
    runloop_add_source(loop, other, "other");
}

static void run_and_tear_down(void) {
    result = run_and_part();
    runloop_source_release(source);
    runloop_source_release(other);
}

static void look_after_nested_run(void) {
    set_up();
    runloop_observer *observer = observer_with(RUNLOOP_ACTIVITY_BEFORE_SOURCES, nest_and_look);
    runloop_add_observer(loop, observer, MODE);
    meet();
    run_and_tear_down();
    runloop_observer_release(observer);
}

static void write_and_wake(void) {
    meet();
    atomic_store_explicit(&is_written, true, RELAXED);
    runloop_wake_up(loop);
}

static void stop_latched(void) {
    meet();
    runloop_stop_latched(loop);
}

static void ended(void) {
    EXPECT(result == RUNLOOP_RESULT_STOPPED);
}
SCENE(nested_wake_up, "a wake-up that a nested run may take is not lost for the run around it",
      .threads = {look_after_nested_run, write_and_wake}, .at_rest = ended);
SCENE(nested_stop, "a latched stop ends one of both, and is forgotten then",
      .threads = {look_after_nested_run, write_and_wake, stop_latched}, .at_rest = ended);

//===-- tasks --------------------------------------------------------------------------------------------------------===//

static int performed;

static void perform(void *info) {
    *(int *)info += 1;
    if (++performed == 2)
        runloop_stop(loop);
}

static int first, second;

static void nest_once(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    nest();
}

static void perform_around_nested_run(void) {
    set_up();
    runloop_observer *observer = observer_with(RUNLOOP_ACTIVITY_BEFORE_WAITING, nest_once);
    runloop_add_observer(loop, observer, MODE);
    meet();
    run_and_tear_down();
    runloop_observer_release(observer);
}

static void post_first(void) {
    meet();
    first = 1;
    runloop_post(loop, MODE, perform, &first, NULL);
}

static void post_second(void) {
    meet();
    second = 1;
    runloop_post(loop, MODE, perform, &second, NULL);
}

static void both_performed(void) {
    EXPECT(first == 2 && second == 2);
}
SCENE(nested_posts, "tasks that come during a nested run of another mode are performed after it",
      .threads = {perform_around_nested_run, post_first, post_second}, .at_rest = both_performed);
