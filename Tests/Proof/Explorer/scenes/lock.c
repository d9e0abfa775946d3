// lock.c — the lock that guards a loop, and everything else.

#include "runloop_lock.h"
#include "scene.h"

static struct process_lock lock;
static int count;

static void use(void) {
    process_lock(&lock);
    count++;
    process_unlock(&lock);
}

static void use_once(void) {
    meet();
    use();
}

static void use_twice(void) {
    meet();
    use();
    use();
}

static void counted_three(void) {
    EXPECT(count == 3);
}
static void counted_four(void) {
    EXPECT(count == 4);
}

SCENE(lock, "three threads take it one after the other, and each sees what the one before wrote",
      .threads = {use_once, use_once, use_once}, .at_rest = counted_three, .at_least = 4);
SCENE(lock_twice, "so do two, twice each", .threads = {use_twice, use_twice}, .at_rest = counted_four, .at_least = 4);

//===-- of a loop that sleeps ----------------------------------------------------------------------------------------===//

static runloop *loop;
static runloop_source *source, *other_source;
static int result;

static void run_until_stopped(void) {
    source = source_with(NULL, NULL);
    other_source = source_with(NULL, NULL);
    loop = loop_with(source);
    meet();
    result = run_and_part();
}

static void add_and_stop(void) {
    meet();
    EXPECT(runloop_add_source(loop, other_source, MODE) == 0);
    runloop_stop_latched(loop);
}

static void stopped(void) {
    EXPECT(result == RUNLOOP_RESULT_STOPPED);
}
SCENE(addition_to_sleeper, "an addition is made while the loop sleeps, or is about to",
      .threads = {run_until_stopped, add_and_stop}, .at_rest = stopped);
