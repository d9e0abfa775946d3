// Scenarios in which ours differs because of a decision. Differences/ stores each difference, by decision.
#include "dsl.h"

#include <unistd.h>

//-- 0007: a run does not sleep while its mode has work ------------------------------------------------------------------

SCENARIO(function_before_waiting, "R104", "a task that a BeforeWaiting observer queues is performed without a sleep") {
    watch(P);
    quiet(P);
    observer_once("o", "W", 0, P, ^{
      block("f", P, NULL);
    });
    run(P, .03, GO_ON);
}

SCENARIO(signal_before_waiting, "R25", "a source that a BeforeWaiting observer signals performs without a sleep") {
    watch(P);
    source("a", 0, P, NULL);
    observer_once("o", "W", 0, P, ^{
      signal_source("a");
    });
    run(P, .03, GO_ON);
}

SCENARIO(emptied_before_waiting, "R25", "a run whose mode a BeforeTimers observer empties finishes without a sleep") {
    watch(P);
    source("a", 0, P, NULL);
    observer_once("o", "T", 0, P, ^{
      invalidate("a");
    });
    timed_run(P, .03, GO_ON);
}

SCENARIO(emptied_and_refilled, "R25", "unless an AfterWaiting observer adds an item") {
    watch(P);
    source("a", 0, P, NULL);
    observer_once("o", "T", 0, P, ^{
      take_out("a", P);
    });
    observer_once("p", "A", 0, P, ^{
      add("a", P);
    });
    run(P, .03, GO_ON);
}

SCENARIO(function_queues_itself, "R104", "a task that queues itself again, three times") {
    __block int count = 0;
    __block action again = NULL;
    watch(P);
    quiet(P);
    again = Block_copy(^{
      if (++count < 3)
          block("f", P, again);
    });
    block("f", P, again);
    run(P, .03, GO_ON);
    Block_release(again);
}

//-- 0008: a sleeping loop wakes when another thread empties its mode ----------------------------------------------------

SCENARIO(emptied_asleep, "R25 R54", "another thread removes the last item") {
    watch(P);
    source("a", 0, P, NULL);
    when_asleep(^{
      take_out("a", P);
    });
    timed_run(P, .05, GO_ON);
}

SCENARIO(invalidated_asleep, "R25 R54", "another thread invalidates the last item") {
    watch(P);
    source("a", 0, P, NULL);
    when_asleep(^{
      invalidate("a");
    });
    timed_run(P, .05, GO_ON);
}

//-- 0009: no iteration for a stale expiry ------------------------------------------------------------------------------

SCENARIO(stale_expiry, "R41", "the date of a removed timer causes no iteration") {
    watch(P);
    quiet(P);
    timer("t", 10, 0, P, NULL);
    invalidate("t");
    run(P, .04, GO_ON);
}

//-- 0010: a wake-up is a state of one run, not an event -----------------------------------------------------------------

SCENARIO(wake_and_timer, "R50 R43", "one iteration consumes the wake-up and serves the timers") {
    watch(P);
    quiet(P);
    timer("far", FAR, 0, P, NULL);
    observer_once("o", "S", 0, P, ^{
      wake();
      nap(1);
      timer("t", PAST, 0, P, NULL);
    });
    run(P, .03, GO_ON);
}

SCENARIO(wake_and_timer_polled, "R50 R43", "a polling run too") {
    quiet(P);
    timer("far", FAR, 0, P, NULL);
    observer_once("o", "S", 0, P, ^{
      wake();
      nap(1);
      timer("t", PAST, 0, P, NULL);
    });
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(stop_and_counter, "R50", "a stop before the wait doesn't delay a ready counter") {
    watch(P);
    counter("c", P, NULL);
    observer_once("o", "S", 0, P, ^{
      stop();
      nap(1);
      ready("c");
    });
    run(P, 5, GO_ON);
    run(P, .02, GO_ON);
}

SCENARIO(wake_of_outer_run, "R48 R51", "a nested run neither sees nor consumes the outer run's wake-up") {
    watch(P);
    watch(Q);
    quiet(P);
    quiet(Q);
    observer_once("o", "T", 0, P, ^{
      wake();
      run(Q, .02, GO_ON);
    });
    run(P, .06, GO_ON);
}

//-- 0011: a run's limit is the timeout of its own wait ------------------------------------------------------------------

SCENARIO(nested_outlives_limit, "R34", "an outer limit that is reached in a nested run still ends the outer run") {
    watch(P);
    watch(Q);
    quiet(Q);
    source("a", 0, P, ^{
      timer("t", PAST, 0, P, ^{
        run(Q, .03, GO_ON);
      });
    });
    timer("rescue", 120, 0, P, ^{
      stop();
    });
    signal_source("a");
    run(P, .015, GO_ON);
}

SCENARIO(date_beyond_sixteen_years, "R77", "the getter returns a date as it was given") {
    timer("t", 1e15, 0, P, NULL);
    fire_date("t");
}

//-- 0012: timers and descriptors alternate ------------------------------------------------------------------------------

SCENARIO(timer_before_counter, "R43 R76", "due timers are served before a counter that was ready earlier") {
    watch(P);
    counter("c", P, NULL);
    timer("far", FAR, 0, P, NULL);
    ready("c");
    nap(1);
    timer("t", PAST, 0, P, NULL);
    run(P, .02, GO_ON);
}

//-- 0014: selected before AfterWaiting, consumed when served ------------------------------------------------------------

SCENARIO(nested_after_waiting, "R45", "a run nested in an AfterWaiting observer serves the selected event") {
    counter("c", P, NULL);
    watch(P);
    observer_once("o", "A", 0, P, ^{
      run(P, 0, GO_ON);
    });
    ready("c");
    run(P, .02, GO_ON);
}

SCENARIO(nested_timer_after_waiting, "R45", "a nested run serves the timers if they are the selected event") {
    quiet(P);
    timer("t", PAST, 0, P, NULL);
    timer("far", FAR, 0, P, NULL);
    watch(P);
    observer_once("o", "A", 0, P, ^{
      run(P, 0, GO_ON);
    });
    run(P, .02, GO_ON);
}

SCENARIO(removed_after_waiting, "R45", "a source that an AfterWaiting observer removes loses no event") {
    quiet(P);
    counter("c", P, NULL);
    observer_once("o", "A", 0, P, ^{
      take_out("c", P);
    });
    ready("c");
    run(P, .02, GO_ON);
    add("c", P);
    run(P, .02, GO_ON);
}

//-- 0015: the dispatch reports whether any source performed -------------------------------------------------------------

SCENARIO(last_invalidated_return, "R44",
         "a run asked to return after a source returns although the last source did not perform") {
    __block bool nested = false;
    watch(P);
    source("a", 0, P, ^{
      if (!nested) {
          nested = true;
          run(P, 0, GO_ON);
      }
    });
    source("b", 1, P, NULL);
    signal_source("a");
    signal_source("b");
    run(P, .02, GO_ON);
}

//-- 0020: descriptor sources are level-triggered and do not read data ---------------------------------------------------

SCENARIO(two_on_one_descriptor, "R73", "two sources on one descriptor, one removed") {
    quiet(P);
    counter("c", P, NULL);
    counter_of("d", "c", P, NULL);
    ready("c");
    run(P, .01, RETURN);
    take_out("d", P);
    ready("c");
    run(P, .01, RETURN);
}

SCENARIO(pipe_level, "R69 R73", "a pipe stays ready while its owner doesn't read it") {
    __block int count = 0;
    pipe_source("p", P, ^{
      if (++count == 3)
          stop();
    });
    ready("p");
    run(P, .02, GO_ON);
}

SCENARIO(pipe_eats_nothing, "R69", "the loop reads nothing from a pipe") {
    pipe_source("p", P, NULL);
    for (int i = 0; i < 20; i++)
        ready("p");
    run(P, .02, RETURN);
    say("%d bytes left", bytes_left("p"));
}

//-- 0022: tolerance ----------------------------------------------------------------------------------------------------

SCENARIO(tolerance_getter, "R91", "the getter returns the tolerance that was set, at most half the interval") {
    timer("t", FAR, 10000, P, NULL);
    CFRunLoopTimerRef timer = (CFRunLoopTimerRef)object("t");
    CFRunLoopTimerSetTolerance(timer, 2);
    say("%g", CFRunLoopTimerGetTolerance(timer));
    CFRunLoopTimerSetTolerance(timer, 20);
    say("%g", CFRunLoopTimerGetTolerance(timer));
    CFRunLoopTimerSetTolerance(timer, -1);
    say("%g", CFRunLoopTimerGetTolerance(timer));
}

//-- 0027: a context outlives the call-out that uses it -----------------------------------------------------------------

SCENARIO(context_of_running_observer, "R98",
         "the context of an observer that invalidates itself is released after its callback") {
    quiet(P);
    count_references();
    observer("o", "T", 0, P, ^{
      invalidate("o");
      say("goes on");
    });
    run(P, 0, GO_ON);
}

SCENARIO(context_of_running_timer, "R88 R89", "and so is that of a timer") {
    quiet(P);
    count_references();
    timer("t", PAST, 1e6, P, ^{
      invalidate("t");
      say("goes on");
    });
    run(P, 0, GO_ON);
}

//-- 0028: a refused addition changes nothing ----------------------------------------------------------------------------

SCENARIO(refused_additions, "R14 R58 R86 R97", "refused additions create no mode") {
    source("a", 0, P, NULL);
    invalidate("a");
    add("a", "x");
    timer("t", FAR, 0, P, NULL);
    invalidate("t");
    add("t", "y");
    observer("o", "T", 0, P, NULL);
    invalidate("o");
    add("o", "z");
    all_modes();
}

SCENARIO(additions_to_a_finished_thread, "R10", "the retained loop of a finished thread refuses additions") {
    __block CFRunLoopRef other;
    loud();
    source("a", 0, NULL, NULL);
    elsewhere(^{
      other = (CFRunLoopRef)CFRetain(CFRunLoopGetCurrent());
    });
    CFRunLoopAddSource(other, (CFRunLoopSourceRef)object("a"), mode_string(P));
    say("%s",
        CFRunLoopContainsSource(other, (CFRunLoopSourceRef)object("a"), mode_string(P)) ? "contained" : "refused");
    CFRunLoopRemoveSource(other, (CFRunLoopSourceRef)object("a"), mode_string(P));
    CFRelease(other);
}

//-- 0029: the pseudo-mode is recognised by value and never becomes a mode ----------------------------------------------

SCENARIO(common_by_value, "R21", "an equal string also names the pseudo-mode") {
    loud();
    source("a", 0, "=kCFRunLoopCommonModes", NULL);
    contains("a", DEFAULT);
    contains("a", COMMON);
    all_modes();
}

SCENARIO(common_function_makes_no_mode, "R100", "a task in the pseudo-mode creates no mode") {
    block("f", COMMON, NULL);
    all_modes();
}

SCENARIO(declared_mode_exists, "R16", "a mode that is declared common exists") {
    make_common(P);
    all_modes();
    run(P, .01, GO_ON);
}

SCENARIO(declared_pseudo_mode, "R17", "declaring the pseudo-mode common is ignored") {
    make_common(COMMON);
    all_modes();
    run(COMMON, .01, GO_ON);
}

MAIN_SCENARIO(declared_mode_on_main, "R16 R24", "on the main thread a run in a mode declared common waits") {
    make_common(P);
    timed_run(P, .02, GO_ON);
}
