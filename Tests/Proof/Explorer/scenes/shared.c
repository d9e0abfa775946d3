// shared.c — one source with a descriptor, a deadline and a signal in the loops of two threads: each event has one call, in one of them.

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scene.h"

static runloop *loop, *other_loop;
static runloop_source *source;
static int descriptor;
static _Atomic int calls;
static _Atomic uint32_t reasons;

static void count_call(runloop_source *called, runloop_readiness why, void *info) {
    (void)called, (void)info;
    uint64_t number;
    // The descriptor is reported to both, and one of them reads it.
    if (why == RUNLOOP_READABLE && syscall(SYS_read, descriptor, &number, sizeof number) < 0)
        return;
    atomic_fetch_add_explicit(&calls, 1, RELAXED);
    // Of two calls for one reason, each has it.
    EXPECT((atomic_fetch_or_explicit(&reasons, why, RELAXED) & why) == 0);
    runloop_stop_latched(loop);
    runloop_stop_latched(other_loop);
}

static void make(int of) {
    const runloop_descriptor_config config = {.descriptor = of, .events = RUNLOOP_READABLE, .ready = count_call};
    EXPECT(runloop_descriptor_source_create(&config, &source) == 0);
    loop = loop_with(source);
    tell(0);
}

static void run_without_descriptor(void) {
    make(-1);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void run_with_descriptor(void) {
    descriptor = eventfd(0, EFD_NONBLOCK);
    make(descriptor);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void run_besides(void) {
    await(0);
    other_loop = loop_with(source);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}

static void called_once(void) {
    EXPECT(calls == 1);
}

//===-- one event ----------------------------------------------------------------------------------------------------===//

static void set_deadline(void) {
    meet();
    runloop_source_set_deadline(source, runloop_get_now_ns(loop));
}
SCENE(deadline_of_two_loops, "one of two loops calls their source for its deadline, and the other does not",
      .threads = {run_without_descriptor, run_besides, set_deadline}, .at_rest = called_once);

static void wake_source(void) {
    meet();
    runloop_source_wake(source);
}
SCENE(signal_of_two_loops, "so it is with its signal", .threads = {run_without_descriptor, run_besides, wake_source},
      .at_rest = called_once);

static void write_to_it(void) {
    uint64_t one = 1;
    meet();
    EXPECT(write(descriptor, &one, sizeof one) == sizeof one);
}
SCENE(descriptor_of_two_loops, "and with what one of them reads",
      .threads = {run_with_descriptor, run_besides, write_to_it}, .at_rest = called_once);

/// Another deadline, while the other loop may be about to find that the first one has passed.
static void set_again(runloop_source *called, runloop_readiness why, void *info) {
    (void)info;
    EXPECT(why == RUNLOOP_DUE);
    if (atomic_fetch_add_explicit(&calls, 1, RELAXED) == 0) {
        runloop_source_set_deadline(called, runloop_get_now_ns(loop));
        return;
    }
    runloop_stop_latched(loop);
    runloop_stop_latched(other_loop);
}
static void run_and_set_again(void) {
    const runloop_descriptor_config config = {.descriptor = -1, .events = RUNLOOP_READABLE, .ready = set_again};
    EXPECT(runloop_descriptor_source_create(&config, &source) == 0);
    loop = loop_with(source);
    tell(0);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void called_twice(void) {
    EXPECT(calls == 2);
}
SCENE(deadline_again, "a deadline that is set while another loop finds that the former one has passed has a call, too",
      .threads = {run_and_set_again, run_besides, set_deadline}, .at_rest = called_twice);

//===-- one of the loops ends ----------------------------------------------------------------------------------------===//

/// Looks for work once, which may be enough for the deadline, or the signal, to be its own.
static void poll_and_end(void) {
    await(0);
    other_loop = loop_with(source);
    meet();
    runloop_run_in_mode(MODE, 0, true);
}
SCENE(deadline_and_end, "the other one calls it if the first ends meanwhile",
      .threads = {run_without_descriptor, poll_and_end, set_deadline}, .at_rest = called_once);
SCENE(signal_and_end, "also for its signal", .threads = {run_without_descriptor, poll_and_end, wake_source},
      .at_rest = called_once);
SCENE(descriptor_and_end, "also for what it reads", .threads = {run_with_descriptor, poll_and_end, write_to_it},
      .at_rest = called_once);

//===-- it becomes invalid -------------------------------------------------------------------------------------------===//

static void run_to_its_end(void) {
    make(-1);
    meet();
    int result = run_and_part();
    EXPECT(result == RUNLOOP_RESULT_FINISHED || (result == RUNLOOP_RESULT_STOPPED && calls == 1));
}
static void run_besides_to_its_end(void) {
    await(0);
    other_loop = loop_with(source);
    meet();
    int result = run_and_part();
    EXPECT(result == RUNLOOP_RESULT_FINISHED || (result == RUNLOOP_RESULT_STOPPED && calls == 1));
}
static void wake_and_invalidate(void) {
    meet();
    runloop_source_wake(source);
    runloop_source_invalidate(source);
}
static void called_at_most_once(void) {
    EXPECT(calls <= 1);
    EXPECT(!runloop_contains_source(loop, source, MODE) && !runloop_contains_source(other_loop, source, MODE));
}
SCENE(invalidated_in_two_loops, "a source that becomes invalid is called once or not at all, and both modes are empty",
      .threads = {run_to_its_end, run_besides_to_its_end, wake_and_invalidate}, .at_rest = called_at_most_once);
