// R46 to R54: stops, wake-ups, waiting.
#include "dsl.h"

SCENARIO(stop_at_entry_then_run, "R29 R51",
         "the run after one that an Entry observer stopped has no iteration too many") {
    quiet(P);
    watch(P);
    observer_once("o", "E", 0, P, ^{
      stop();
    });
    run(P, 5, GO_ON);
    run(P, .02, GO_ON);
}

SCENARIO(stop_after_waiting, "R46", "an AfterWaiting observer stops the run") {
    watch(P);
    quiet(P);
    observer("o", "A", 0, P, ^{
      stop();
    });
    when_asleep(^{
      wake();
    });
    run(P, 5, GO_ON);
}

SCENARIO(stop_before_timers, "R46", "a BeforeTimers observer stops the run: the iteration is completed") {
    watch(P);
    quiet(P);
    block("f", P, NULL);
    observer("o", "T", 0, P, ^{
      stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(stop_before_sources, "R46", "so does a BeforeSources observer, and a signalled source performs") {
    watch(P);
    source("a", 0, P, NULL);
    signal_source("a");
    observer("o", "S", 0, P, ^{
      stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(stop_in_timer, "R46", "a timer stops the run") {
    watch(P);
    quiet(P);
    timer("t", PAST, 0, P, ^{
      stop();
    });
    timer("u", PAST, 0, P, NULL);
    run(P, 5, GO_ON);
}

SCENARIO(stop_in_function, "R105", "a task stops the run at the end of its iteration, one of the last drain too") {
    watch(P);
    quiet(P);
    block("f", P, ^{
      stop();
    });
    block("g", P, NULL);
    run(P, 5, GO_ON);
    timer("t", PAST, 0, P, ^{
      block("h", P, ^{
        stop();
      });
    });
    run(P, 5, GO_ON);
}

SCENARIO(stop_in_source, "R46", "a source stops the run") {
    watch(P);
    source("a", 0, P, ^{
      stop();
    });
    source("b", 1, P, NULL);
    signal_source("a");
    signal_source("b");
    run(P, 5, GO_ON);
}

SCENARIO(stop_in_counter, "R46", "a counter's callback stops the run") {
    watch(P);
    counter("c", P, ^{
      stop();
    });
    ready("c");
    run(P, 5, GO_ON);
}

SCENARIO(stop_elsewhere, "R46 R54", "another thread stops a sleeping run") {
    watch(P);
    quiet(P);
    when_asleep(^{
      stop();
    });
    timed_run(P, 5, GO_ON);
}

SCENARIO(stop_without_run, "R47", "a stop without a run is not remembered") {
    watch(P);
    quiet(P);
    stop();
    run(P, .01, GO_ON);
    elsewhere(^{
      stop();
    });
    run(P, .01, GO_ON);
}

SCENARIO(stop_at_exit, "R47", "a stop from an Exit observer is lost") {
    watch(P);
    quiet(P);
    observer_once("o", "X", 0, P, ^{
      stop();
    });
    run(P, 0, GO_ON);
    run(P, .01, GO_ON);
}

SCENARIO(stop_at_nested_exit, "R47", "a stop from the Exit observer of a nested run is lost") {
    watch(P);
    quiet(Q);
    observer("o", "X", 0, Q, ^{
      stop();
    });
    source("a", 0, P, ^{
      run(Q, 0, GO_ON);
    });
    signal_source("a");
    run(P, .02, GO_ON);
}

SCENARIO(stop_before_nested, "R47", "a stop before a nested run belongs to the outer one") {
    watch(P);
    quiet(Q);
    source("a", 0, P, ^{
      timer("t", PAST, 0, P, ^{
        stop();
        run(Q, 0, GO_ON);
      });
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(stop_twice, "R46", "two stops are one") {
    watch(P);
    quiet(P);
    source("a", 0, P, ^{
      stop();
      stop();
    });
    signal_source("a");
    run(P, 5, GO_ON);
    run(P, .01, GO_ON);
}

SCENARIO(stop_in_nested_function, "R46 R105", "a task of a nested run stops the nested run") {
    watch(P);
    quiet(P);
    source("a", 0, P, ^{
      block("f", Q, ^{
        stop();
      });
      quiet(Q);
      run(Q, 5, GO_ON);
    });
    signal_source("a");
    run(P, .02, GO_ON);
}

SCENARIO(wake_before_run, "R48", "a wake-up before the run has no effect") {
    watch(P);
    quiet(P);
    wake();
    elsewhere(^{
      wake();
    });
    run(P, .01, GO_ON);
}

SCENARIO(wake_at_entry, "R48", "a wake-up from an Entry observer is accepted") {
    watch(P);
    quiet(P);
    observer("o", "E", 0, P, ^{
      wake();
    });
    run(P, .01, GO_ON);
}

SCENARIO(wake_before_timers, "R48 R50",
         "wake-ups before the wait count as one and prevent the sleep, in a later iteration too") {
    __block int count = 0;
    watch(P);
    quiet(P);
    observer("o", "TSW", 0, P, ^{
      if (++count <= 3 || count == 5)
          wake();
    });
    run(P, .01, GO_ON);
}

SCENARIO(wake_after_waiting, "R48", "a wake-up from an AfterWaiting observer has no effect") {
    watch(P);
    quiet(P);
    observer_once("o", "A", 0, P, ^{
      wake();
    });
    when_asleep(^{
      wake();
    });
    run(P, .04, GO_ON);
}

SCENARIO(wake_in_counter, "R48", "nor does one in a counter's callback") {
    watch(P);
    counter("c", P, ^{
      wake();
    });
    ready("c");
    run(P, .02, GO_ON);
}

SCENARIO(wake_in_source, "R48 R50", "a wake-up in a source's callback is consumed by the poll of that iteration") {
    watch(P);
    source("a", 0, P, ^{
      wake();
    });
    signal_source("a");
    run(P, .02, GO_ON);
}

SCENARIO(wake_in_function, "R48",
         "a wake-up in a task of the first drain prevents the sleep, one in a task of the last has no effect") {
    watch(P);
    quiet(P);
    block("f", P, ^{
      wake();
    });
    observer_once("o", "A", 0, P, ^{
      block("g", P, ^{
        wake();
      });
    });
    run(P, .02, GO_ON);
}

SCENARIO(wake_at_exit, "R48 R51", "a wake-up from an Exit observer has no effect") {
    watch(P);
    quiet(P);
    observer("o", "X", 0, P, ^{
      wake();
    });
    run(P, 0, GO_ON);
    run(P, .01, GO_ON);
}

SCENARIO(wakes_asleep_are_one, "R50", "many wake-ups of a sleeping loop count as one") {
    watch(P);
    quiet(P);
    when_asleep(^{
      wake();
      wake();
      wake();
    });
    run(P, .04, GO_ON);
}

SCENARIO(wake_is_no_source, "R50 R38", "a wake-up doesn't end the run") {
    watch(P);
    quiet(P);
    when_asleep(^{
      wake();
    });
    when_asleep(^{
      wake();
    });
    when_asleep(^{
      stop();
    });
    run(P, 5, RETURN);
}

SCENARIO(signal_wakes_nobody, "R54 R62", "signalling a source doesn't wake its loop") {
    watch(P);
    source("a", 0, P, NULL);
    when_asleep(^{
      signal_source("a");
      nap(3);
      say("signalled, still asleep");
      wake();
    });
    run(P, 5, RETURN);
}

SCENARIO(additions_wake_nobody, "R54", "adding sources and observers doesn't wake the loop") {
    watch(P);
    quiet(P);
    when_asleep(^{
      source("a", 0, P, NULL);
      signal_source("a");
      observer("o", "A", 0, P, NULL);
      nap(3);
      say("added, still asleep");
      wake();
    });
    run(P, 5, RETURN);
}

SCENARIO(function_wakes_nobody, "R54 R104", "performing a task doesn't wake the loop") {
    watch(P);
    quiet(P);
    when_asleep(^{
      block("f", P, ^{
        stop();
      });
      nap(3);
      say("queued, still asleep");
      wake();
    });
    run(P, 5, RETURN);
}

SCENARIO(removal_wakes_nobody, "R54", "a removal that leaves the mode non-empty doesn't wake the loop") {
    watch(P);
    quiet(P);
    source("a", 0, P, NULL);
    timer("t", FAR, 0, P, NULL);
    when_asleep(^{
      take_out("a", P);
      invalidate("t");
      nap(3);
      say("removed, still asleep");
      stop();
    });
    run(P, 5, RETURN);
}

SCENARIO(counter_wakes, "R54", "a counter that becomes ready ends the sleep") {
    watch(P);
    counter("c", P, NULL);
    when_asleep(^{
      ready("c");
    });
    run(P, 5, RETURN);
}

SCENARIO(ready_source_wakes, "R54 R71", "adding a counter that is ready ends the sleep") {
    watch(P);
    quiet(P);
    counter("c", NULL, NULL);
    ready("c");
    when_asleep(^{
      add("c", P);
    });
    run(P, 5, RETURN);
}

SCENARIO(timer_added_asleep, "R54 R87", "a timer added by another thread fires in the next iteration") {
    watch(P);
    quiet(P);
    when_asleep(^{
      timer("t", 5, 0, P, ^{
        stop();
      });
    });
    run(P, 5, GO_ON);
}

SCENARIO(far_timer_added_asleep, "R54 R87", "a distant timer added by another thread causes no iteration") {
    watch(P);
    quiet(P);
    when_asleep(^{
      timer("t", FAR, 0, P, NULL);
    });
    when_asleep(^{
      stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(timer_of_another_mode, "R87", "a timer of another mode doesn't wake the loop") {
    watch(P);
    quiet(P);
    timer("t", 5, 0, Q, NULL);
    run(P, .03, GO_ON);
    run(Q, 5, GO_ON);
}

SCENARIO(waiting_asleep, "R52", "a sleeping loop reports that it waits, one without a run that it doesn't") {
    quiet(P);
    is_waiting();
    when_asleep(^{
      is_waiting();
      stop();
    });
    observer("o", "ETSWAX", 0, P, ^{
      is_waiting();
    });
    run(P, 5, GO_ON);
    is_waiting();
}

SCENARIO(current_mode_of_levels, "R5", "the current mode is that of the innermost run, even at its Exit") {
    current_mode();
    observer("o", "EX", 0, P, ^{
      current_mode();
    });
    observer("p", "EX", 0, Q, ^{
      current_mode();
    });
    quiet(Q);
    source("a", 0, P, ^{
      current_mode();
      run(Q, 0, GO_ON);
      current_mode();
    });
    signal_source("a");
    run(P, 0, GO_ON);
    current_mode();
}

SCENARIO(current_mode_from_elsewhere, "R5", "another thread may ask for the current mode") {
    quiet(P);
    elsewhere(^{
      current_mode();
    });
    when_asleep(^{
      current_mode();
      stop();
    });
    run(P, 5, GO_ON);
}
