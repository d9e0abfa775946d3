// ready.c — sources with a descriptor: what other threads do to them while the loop waits for it.

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scene.h"

static runloop *loop;
static runloop_source *source, *other;
static int descriptor, ready, other_ready;
static runloop_readiness reasons;

static void take(runloop_source *of, runloop_readiness why, void *info) {
    (void)info;
    uint64_t counter;
    reasons |= why;
    if (why & RUNLOOP_READABLE)
        EXPECT(syscall(SYS_read, descriptor, &counter, sizeof counter) > 0);
    *(of == other ? &other_ready : &ready) += 1;
    runloop_stop(loop);
}

static runloop_source *descriptor_source(void) {
    runloop_source *made = NULL;
    runloop_descriptor_config config = {.descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = take};
    EXPECT(runloop_descriptor_source_create(&config, &made) == 0);
    return made;
}

static void make(void) {
    descriptor = eventfd(0, EFD_NONBLOCK);
    source = descriptor_source();
    other = descriptor_source();
}

static void write_to_it(void) {
    uint64_t one = 1;
    EXPECT(write(descriptor, &one, sizeof one) == sizeof one);
}

static void run(void) {
    make();
    loop = loop_with(source);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}

//===-- it becomes ready ---------------------------------------------------------------------------------------------===//

static void make_ready(void) {
    meet();
    write_to_it();
}
static void called_for_readiness(void) {
    EXPECT(ready == 1 && reasons == RUNLOOP_READABLE);
}
SCENE(descriptor_ready, "a source is called when its descriptor is ready", .threads = {run, make_ready},
      .at_rest = called_for_readiness);

static void signal_it(void) {
    meet();
    runloop_source_wake(source);
}
static void called_for_signal(void) {
    EXPECT(ready == 1 && (reasons & RUNLOOP_SIGNALLED));
}
SCENE(descriptor_signalled, "or signalled", .threads = {run, signal_it}, .at_rest = called_for_signal);

static void wait_for_both(void) {
    make();
    loop = loop_with(source);
    meet();
    while (!(reasons & RUNLOOP_SIGNALLED) || !(reasons & RUNLOOP_READABLE))
        EXPECT(run_for_ever() == RUNLOOP_RESULT_STOPPED);
}
SCENE(descriptor_ready_and_signalled, "or both", .threads = {wait_for_both, make_ready, signal_it});

//===-- others change it ---------------------------------------------------------------------------------------------===//

static void run_with_ready(void) {
    make();
    write_to_it();
    loop = loop_with(source);
    meet();
    int result = run_and_part();
    EXPECT(ready == 1 ? result == RUNLOOP_RESULT_STOPPED : result == RUNLOOP_RESULT_FINISHED);
}
static void invalidate(void) {
    meet();
    runloop_source_invalidate(source);
    runloop_source_release(source);
}
SCENE(ready_and_invalidated, "a source that becomes invalid is called, or not, and its mode is empty",
      .threads = {run_with_ready, invalidate});

static void run_with_keeper(void) {
    make();
    loop = loop_with(source_with(NULL, NULL));
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
    EXPECT(ready == 1);
}
static void add_ready(void) {
    meet();
    write_to_it();
    runloop_add_source(loop, source, MODE);
}
SCENE(ready_and_added, "a descriptor that is watched from now on ends the sleep",
      .threads = {run_with_keeper, add_ready});

static void run_with_paused(void) {
    make();
    loop = loop_with(source);
    runloop_source_set_events(source, 0);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
    EXPECT(ready == 1);
}
static void ask_again(void) {
    meet();
    runloop_source_set_events(source, RUNLOOP_READABLE);
}
SCENE(ready_and_asked_for, "so does one that is asked for again", .threads = {run_with_paused, ask_again, make_ready});

static void add_while_asked_for(void) {
    make();
    write_to_it();
    runloop_source_set_events(source, 0);
    loop = loop_with(source_with(NULL, NULL));
    meet();
    runloop_add_source(loop, source, MODE);
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
    EXPECT(ready == 1);
}
SCENE(events_and_addition, "so does one that is asked for while it is added",
      .threads = {add_while_asked_for, ask_again});

static void set_deadline(void) {
    meet();
    runloop_source_set_deadline(source, runloop_get_now_ns(loop) + 1000);
}
static void called_when_due(void) {
    EXPECT(ready == 1 && reasons == RUNLOOP_DUE);
}
SCENE(deadline_from_elsewhere, "a source is called at a deadline that another thread has set",
      .threads = {run, set_deadline}, .at_rest = called_when_due);

static void run_with_two(void) {
    make();
    loop = loop_with(source);
    runloop_add_source(loop, other, MODE);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
    EXPECT(ready + other_ready > 0);
}
static void remove_one_and_write(void) {
    meet();
    runloop_remove_source(loop, source, MODE);
    write_to_it();
}
SCENE(ready_without_one, "the other source of a descriptor is called when one has left",
      .threads = {run_with_two, remove_one_and_write});
