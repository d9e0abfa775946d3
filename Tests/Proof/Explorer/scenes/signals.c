// signals.c — sources that are signalled by any thread: the mark, the tree of bits, and the loops that a source is in.

#include "scene.h"

enum { MEMBERS = 64 };

static runloop *loop;
static runloop_source *sources[MEMBERS + 2];
static int to_come, performed[MEMBERS + 2];
static bool saw_first, saw_second;

static void perform(runloop_source *source, void *info) {
    (void)source;
    int *times = info;
    ++*times;
    if (--to_come == 0)
        runloop_stop(loop);
}

/// Numbers are those of the sources: each has a place of its own.
static void make(int number) {
    sources[number] = source_with(perform, &performed[number]);
}

static void signal_and_wake(int number) {
    runloop_source_signal(sources[number]);
    runloop_wake_up(loop);
}

//===-- one source ---------------------------------------------------------------------------------------------------===//

static _Atomic bool first_is_written, second_is_written;

static void see_both(runloop_source *source, void *info) {
    (void)source, (void)info;
    saw_first |= atomic_load_explicit(&first_is_written, RELAXED);
    saw_second |= atomic_load_explicit(&second_is_written, RELAXED);
    if (saw_first && saw_second)
        runloop_stop(loop);
}

static void run_until_both_seen(void) {
    sources[0] = source_with(see_both, NULL);
    loop = loop_with(sources[0]);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}

static void write_first_and_signal(void) {
    meet();
    atomic_store_explicit(&first_is_written, true, RELAXED);
    signal_and_wake(0);
}

static void write_second_and_signal(void) {
    meet();
    atomic_store_explicit(&second_is_written, true, RELAXED);
    signal_and_wake(0);
}

SCENE(two_signals, "after each signal of one source follows a call that sees what was written before",
      .threads = {run_until_both_seen, write_first_and_signal, write_second_and_signal});

static void prepare_addition(void) {
    sources[0] = source_with(see_both, NULL);
    loop = loop_with(source_with(NULL, NULL));
    saw_second = true;
    meet();
}
static void add_while_signalled(void) {
    prepare_addition();
    runloop_add_source(loop, sources[0], MODE);
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
SCENE(signal_and_addition, "a source that is added while it is signalled is called",
      .threads = {add_while_signalled, write_first_and_signal});

static void signal_and_add(void) {
    meet();
    atomic_store_explicit(&first_is_written, true, RELAXED);
    runloop_source_signal(sources[0]);
    runloop_add_source(loop, sources[0], MODE);
    runloop_wake_up(loop);
}
static void run_for_added(void) {
    prepare_addition();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
SCENE(signalled_addition, "so is one that another thread adds", .threads = {run_for_added, signal_and_add});

//===-- the tree -----------------------------------------------------------------------------------------------------===//

/// So many sources that the tree has two levels, or is about to.
static void make_loop_with_many(int count) {
    for (int i = 0; i < MEMBERS + 2; i++)
        make(i);
    loop = loop_with(sources[0]);
    for (int i = 1; i < count; i++)
        EXPECT(runloop_add_source(loop, sources[i], MODE) == 0);
}

static void run_with_two_pages(void) {
    make_loop_with_many(MEMBERS + 2);
    to_come = 2;
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}

static void grow_and_run(void) {
    make_loop_with_many(MEMBERS);
    to_come = 2;
    meet();
    EXPECT(runloop_add_source(loop, sources[MEMBERS], MODE) == 0);
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}

static void signal_first(void) {
    meet();
    signal_and_wake(0);
}
static void signal_second(void) {
    meet();
    signal_and_wake(1);
}
static void signal_last(void) {
    meet();
    signal_and_wake(MEMBERS);
}
static void signal_last_but_one(void) {
    meet();
    signal_and_wake(MEMBERS + 1);
}

SCENE(signals_of_two_pages, "sources of different pages are called",
      .threads = {run_with_two_pages, signal_first, signal_last});
SCENE(signals_of_one_page, "so are two of one page", .threads = {run_with_two_pages, signal_last, signal_last_but_one});
SCENE(growing_tree, "a source of a root that ceases to be one is called, and the one that was added",
      .threads = {grow_and_run, signal_first, signal_last});
SCENE(growing_tree_of_signals, "so are two of the former root", .threads = {grow_and_run, signal_first, signal_second});

static void signal_first_only(void) {
    meet();
    runloop_source_signal(sources[0]);
}
static void meet_and_run_for_first(void) {
    meet();
    while (performed[0] == 0) {
        to_come = 1;
        run_for_ever();
    }
    part();
}
static void run_for_first(void) {
    make_loop_with_many(MEMBERS + 2);
    meet_and_run_for_first();
}
SCENE(signal_beside_unwoken, "a signal with a wake-up does not depend on one of the same source without",
      .threads = {run_for_first, signal_first, signal_first_only});

static void signal_second_only(void) {
    meet();
    runloop_source_signal(sources[1]);
}
SCENE(signal_beside_unwoken_of_page, "nor on one of a source of the same page",
      .threads = {run_for_first, signal_first, signal_second_only});

static void signal_before_waiting(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)activity, (void)info;
    runloop_observer_invalidate(observer);
    runloop_source_signal(sources[0]);
}
static void signal_and_run(void) {
    make_loop_with_many(MEMBERS + 2);
    runloop_add_observer(loop, observer_with(RUNLOOP_ACTIVITY_BEFORE_WAITING, signal_before_waiting), MODE);
    meet_and_run_for_first();
}
SCENE(signal_before_sleep, "a loop whose thread signals before it sleeps does not sleep",
      .threads = {signal_and_run, signal_second_only, signal_first_only});

static void remove_and_run(void) {
    make_loop_with_many(2);
    to_come = 1;
    meet();
    runloop_remove_source(loop, sources[1], MODE);
    runloop_add_source(loop, sources[2], MODE);
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
    EXPECT(performed[1] == 0 && performed[2] == 0);
}
SCENE(place_of_removed, "who signals a source that has left does not have another one called",
      .threads = {remove_and_run, signal_second, signal_first});

//===-- several loops ------------------------------------------------------------------------------------------------===//

static runloop *other_loop;
static _Atomic int calls;

static void count_call(runloop_source *source, void *info) {
    (void)source, (void)info;
    atomic_fetch_add_explicit(&calls, 1, RELAXED);
    runloop_stop_latched(loop);
    runloop_stop_latched(other_loop);
}

static void run_shared(void) {
    sources[0] = source_with(count_call, NULL);
    loop = loop_with(sources[0]);
    tell(0);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void run_shared_besides(void) {
    await(0);
    other_loop = loop_with(sources[0]);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void signal_shared(void) {
    meet();
    runloop_source_signal(sources[0]);
    runloop_wake_up(loop);
    runloop_wake_up(other_loop);
}
static void called_once(void) {
    EXPECT(calls == 1);
}
SCENE(source_of_two_loops, "one of two loops calls their source, and the other does not",
      .threads = {run_shared, run_shared_besides, signal_shared}, .at_rest = called_once);

static void join(void) {
    runloop *own = loop_with(sources[1]);
    meet();
    EXPECT(runloop_add_source(own, sources[0], MODE) == 0);
    EXPECT(runloop_contains_source(own, sources[0], MODE));
    part();
}
static void make_shared_and_join(void) {
    sources[0] = source_with(NULL, NULL);
    sources[1] = source_with(NULL, NULL);
    runloop *own = loop_with(sources[0]);
    tell(0);
    meet();
    part();
    (void)own;
}
static void wait_and_join(void) {
    await(0);
    join();
}
SCENE(chain_of_loops, "two loops take a source at once, and each has it",
      .threads = {make_shared_and_join, wait_and_join, wait_and_join});

static void leave_free_attachment(void) {
    await(0);
    runloop *own = loop_with(sources[1]);
    runloop_add_source(own, sources[0], MODE);
    runloop_remove_source(own, sources[0], MODE);
    tell(1);
    meet();
    EXPECT(runloop_add_source(own, sources[0], MODE) == 0);
    part();
    EXPECT(runloop_contains_source(own, sources[0], MODE));
}
static void wait_for_free_and_join(void) {
    await(1);
    runloop *own = loop_with(sources[1]);
    meet();
    EXPECT(runloop_add_source(own, sources[0], MODE) == 0);
    part();
    EXPECT(runloop_contains_source(own, sources[0], MODE));
}
SCENE(free_attachment, "also if one of them takes the place that another loop has left",
      .threads = {make_shared_and_join, leave_free_attachment, wait_for_free_and_join});

//===-- invalidation -------------------------------------------------------------------------------------------------===//

static void invalidate(void) {
    meet();
    runloop_source_invalidate(sources[0]);
}
static void add_and_run(void) {
    sources[0] = source_with(NULL, NULL);
    loop = runloop_retain(runloop_current());
    meet();
    runloop_add_source(loop, sources[0], MODE);
    EXPECT(run_and_part() == RUNLOOP_RESULT_FINISHED);
    EXPECT(!runloop_contains_source(loop, sources[0], MODE));
}
SCENE(invalidated_while_added, "a source that becomes invalid while it is added is in no mode",
      .threads = {add_and_run, invalidate});
