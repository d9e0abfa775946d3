// owner.c — the word that names the loop of a timer, changes from elsewhere, and the end of that loop and its objects.

#include <errno.h>

#include "runloop_overlay.h"
#include "scene.h"

static runloop *loop;
static runloop_timer *timer;
static int released;

static void release(void *info) {
    (void)info;
    released++;
}

static void make_timer(void) {
    runloop_timer_config config = {.context.release = release, .fire_ns = RUNLOOP_NEVER};
    EXPECT(runloop_timer_create(&config, &timer) == 0);
}

//===-- the end of the loop ------------------------------------------------------------------------------------------===//

/// The loop is freed when its thread has ended, unless somebody else has it.
static void end_with_timer(void) {
    make_timer();
    runloop_add_timer(runloop_current(), timer, MODE);
    runloop_timer_retain(timer);
    meet();
}

static void add_timer_and_end(void) {
    make_timer();
    runloop_timer_retain(timer);
    runloop_timer_retain(timer);
    runloop *own = runloop_current();
    meet();
    runloop_add_timer(own, timer, MODE);
    runloop_timer_release(timer);
}

static void change_date(void) {
    meet();
    runloop_timer_set_fire_date(timer, RUNLOOP_NEVER - 1);
    runloop_timer_release(timer);
}

static void invalidate_timer(void) {
    meet();
    runloop_timer_invalidate(timer);
    runloop_timer_release(timer);
}

static void released_once(void) {
    EXPECT(released == 1);
}

SCENE(date_and_end, "a timer gets another date while its loop ends",
      .threads = {end_with_timer, change_date, change_date}, .at_rest = released_once);
SCENE(invalidation_and_end, "a timer becomes invalid while its loop ends",
      .threads = {end_with_timer, invalidate_timer, change_date}, .at_rest = released_once);
SCENE(invalidations_and_end, "two threads make it invalid while its loop ends",
      .threads = {end_with_timer, invalidate_timer, invalidate_timer}, .at_rest = released_once);
SCENE(date_and_addition, "a timer gets another date while it is added, and its loop ends",
      .threads = {add_timer_and_end, change_date, change_date}, .at_rest = released_once);

static void add_and_run(void) {
    make_timer();
    runloop_timer_retain(timer);
    loop = runloop_retain(runloop_current());
    meet();
    runloop_add_timer(loop, timer, MODE);
    EXPECT(run_and_part() == RUNLOOP_RESULT_FINISHED);
    EXPECT(!runloop_contains_timer(loop, timer, MODE));
}
SCENE(timer_invalidated_while_added, "a timer that becomes invalid while it is added is in no mode",
      .threads = {add_and_run, invalidate_timer});

//===-- one of two loops ---------------------------------------------------------------------------------------------===//

enum { MADE, REFUSED };
static int added;

static void add_to_own(void) {
    runloop *own = runloop_current();
    meet();
    int error = runloop_add_timer(own, timer, MODE);
    EXPECT(error == 0 || error == -EBUSY);
    EXPECT(runloop_contains_timer(own, timer, MODE) == (error == 0));
    // The one that has it keeps it until the other one has tried.
    part();
    if (error)
        tell(REFUSED);
    else
        await(REFUSED);
}
static void make_and_add_to_own(void) {
    make_timer();
    tell(MADE);
    add_to_own();
}
static void await_and_add_to_own(void) {
    await(MADE);
    add_to_own();
}
SCENE(two_owners, "of two loops that add a timer, one has it", .threads = {make_and_add_to_own, await_and_add_to_own});

static void make_and_remove(void) {
    make_timer();
    runloop *own = runloop_current();
    runloop_add_timer(own, timer, MODE);
    meet();
    runloop_remove_timer(own, timer, MODE);
    part();
}
static void add_removed(void) {
    runloop *own = runloop_current();
    meet();
    int error = runloop_add_timer(own, timer, MODE);
    EXPECT(error == 0 || error == -EBUSY);
    part();
}
SCENE(timer_moves, "a timer that one loop has given up can be added to another one at once",
      .threads = {make_and_remove, add_removed});

//===-- an object of a loop ------------------------------------------------------------------------------------------===//

static const char key;
static struct object {
    _Atomic int references;
    int content;
} object;

static void *retain_object(void *associated) {
    struct object *of_loop = associated;
    EXPECT(of_loop->content == 1);
    atomic_fetch_add(&of_loop->references, 1);
    return associated;
}

static void release_object(void *associated) {
    struct object *of_loop = associated;
    if (atomic_fetch_sub(&of_loop->references, 1) == 1)
        of_loop->content = 0;
}

static void end_with_object(void) {
    loop = runloop_retain(runloop_current());
    object.references = object.content = 1;
    EXPECT(runloop_set_associated(loop, &key, &object, retain_object, release_object) == 0);
    meet();
}

static void copy_object(void) {
    meet();
    void *copy = runloop_copy_associated(loop, &key);
    if (copy)
        release_object(copy);
}

static void object_is_gone(void) {
    EXPECT(object.references == 0 && object.content == 0);
}
SCENE(object_and_end, "an object of a loop is retained before it goes, or not found",
      .threads = {end_with_object, copy_object, copy_object}, .at_rest = object_is_gone);

//===-- additions ----------------------------------------------------------------------------------------------------===//

static runloop_source *source;
static int cancelled;

static void cancel(runloop_source *of, runloop *from, const char *mode, void *info) {
    (void)of, (void)from, (void)mode, (void)info;
    cancelled++;
}

static void end_at_once(void) {
    runloop_source_config config = {.context.release = release, .cancel = cancel};
    EXPECT(runloop_source_create(&config, &source) == 0);
    loop = runloop_retain(runloop_current());
    meet();
}

static void add_source(void) {
    meet();
    added = runloop_add_source(loop, source, MODE) == 0;
    runloop_source_release(source);
    runloop_release(loop);
}

static void cancelled_if_added(void) {
    EXPECT(cancelled == added && released == 1);
}
SCENE(addition_and_end, "a source that is added while the thread ends is refused, or leaves with it",
      .threads = {end_at_once, add_source}, .at_rest = cancelled_if_added);
