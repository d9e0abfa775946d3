// R22 to R37: which runs are entered, how they end, and which reason takes precedence.
#include "dsl.h"

SCENARIO(unknown_mode, "R14 R28", "a run in an unknown mode finishes and creates no mode") {
    run("nobody", 5, GO_ON);
    run("nobody", 0, RETURN);
    all_modes();
}

SCENARIO(pseudo_mode, "R22", "a run in the pseudo-mode finishes at once") {
    watch(COMMON);
    quiet(COMMON);
    run(COMMON, 5, GO_ON);
    run("=kCFRunLoopCommonModes", 5, GO_ON);
}

SCENARIO(no_mode, "R22", "a run with no name finishes at once") {
    quiet(DEFAULT);
    run(NULL, 5, GO_ON);
}

SCENARIO(empty_by_observers, "R23 R28", "observers don't keep a mode from being empty") {
    watch(P);
    run(P, 5, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(emptied_mode, "R15 R23", "a mode that was emptied finishes its run and remains") {
    watch(P);
    source("a", 0, P, NULL);
    run(P, 0, GO_ON);
    take_out("a", P);
    run(P, 0, GO_ON);
    all_modes();
}

SCENARIO(finish_after_source, "R36 R23", "a source that removes itself ends the run as Finished") {
    watch(P);
    source("a", 0, P, ^{
      take_out("a", P);
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(finish_after_invalidation, "R36 R67",
         "a source that invalidates itself ends the run as Finished, unless that returns") {
    watch(P);
    source("a", 0, P, ^{
      invalidate("a");
    });
    signal_source("a");
    run(P, 5, GO_ON);
    source("b", 0, P, ^{
      invalidate("b");
      stop();
    });
    signal_source("b");
    run(P, 5, RETURN);
}

SCENARIO(finish_after_timer, "R36 R85", "the last timer that fires once ends the run as Finished") {
    watch(P);
    timer("t", 10, 0, P, NULL);
    run(P, 5, GO_ON);
}

SCENARIO(finish_after_due_timer, "R36 R85", "so does a timer that is already due") {
    watch(P);
    timer("t", PAST, 0, P, NULL);
    run(P, 5, RETURN);
}

SCENARIO(polling_never_finishes, "R37", "a polling run ends as TimedOut although its mode is empty by then") {
    watch(P);
    timer("t", PAST, 0, P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(polling_never_stops, "R37", "a stop inside a polling run is discarded with it") {
    watch(P);
    source("a", 0, P, ^{
      stop();
    });
    signal_source("a");
    run(P, 0, GO_ON);
    signal_source("a");
    run(P, 0, RETURN);
    run(P, .01, GO_ON);
}

SCENARIO(stop_loses_to_source, "R36 R37", "a handled source takes precedence over a stop, which is discarded") {
    watch(P);
    source("a", 0, P, ^{
      stop();
    });
    signal_source("a");
    run(P, 5, RETURN);
    run(P, .01, RETURN);
}

SCENARIO(stop_wins_over_empty, "R36", "a stop takes precedence over an empty mode") {
    watch(P);
    source("a", 0, P, ^{
      invalidate("a");
      stop();
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(limit_wins_over_stop, "R36 R34", "a reached limit takes precedence over a stop") {
    watch(P);
    source("a", 0, P, ^{
      nap(25);
      stop();
    });
    signal_source("a");
    run(P, .01, GO_ON);
}

SCENARIO(limit_wins_over_empty, "R36 R34", "a reached limit takes precedence over an empty mode") {
    watch(P);
    source("a", 0, P, ^{
      nap(25);
      invalidate("a");
    });
    signal_source("a");
    run(P, .01, GO_ON);
}

SCENARIO(source_wins_over_limit, "R36 R34", "a handled source takes precedence over the limit") {
    watch(P);
    source("a", 0, P, ^{
      nap(25);
    });
    signal_source("a");
    run(P, .01, RETURN);
}

SCENARIO(stop_mode_in_iteration, "R36 R53", "a stop of the mode is considered after a plain stop") {
    watch(P);
    quiet(P);
    source("a", 0, P, ^{
      stop();
      stop_mode(P);
    });
    signal_source("a");
    run(P, 5, GO_ON);
    run(P, 5, GO_ON);
    run(P, .01, GO_ON);
}

SCENARIO(stop_mode_remembered, "R29 R53 R14", "a stop of a mode creates the mode and is remembered") {
    stop_mode(P);
    stop_mode(P);
    all_modes();
    watch(P);
    run(P, 5, GO_ON);
    quiet(P);
    run(P, 5, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(stop_mode_of_another, "R53", "a stop of another mode is remembered for a run there") {
    watch(P);
    watch(Q);
    quiet(Q);
    source("a", 0, P, ^{
      stop_mode(Q);
      run(P, 0, GO_ON);
    });
    signal_source("a");
    run(P, 0, GO_ON);
    run(Q, 5, GO_ON);
}

SCENARIO(stop_mode_wakes, "R53 R54", "a stop of the mode ends its sleep") {
    watch(P);
    quiet(P);
    when_asleep(^{
      stop_mode(P);
    });
    run(P, 5, GO_ON);
}

SCENARIO(stop_mode_loses_to_return, "R36 R53",
         "a stop of the mode that loses to a handled source or a limit stays set") {
    watch(P);
    source("a", 0, P, ^{
      stop_mode(P);
    });
    signal_source("a");
    run(P, 5, RETURN);
    run(P, 5, RETURN);
    run(P, 0, RETURN);
    signal_source("a");
    run(P, 0, GO_ON);
    run(P, 5, GO_ON);
}

SCENARIO(negative_limit, "R31", "a negative limit is a limit of zero") {
    watch(P);
    quiet(P);
    run(P, -1, GO_ON);
    run(P, -1e300, GO_ON);
    run(P, -1 / 0.0, GO_ON);
}

SCENARIO(endless_limit, "R33", "a run without a limit, ended by a stop") {
    watch(P);
    quiet(P);
    when_asleep(^{
      stop();
    });
    run(P, 1e300, GO_ON);
    when_asleep(^{
      stop();
    });
    run(P, 1 / 0.0, GO_ON);
}

SCENARIO(no_number_limit, "R33", "NaN is no limit") {
    watch(P);
    quiet(P);
    when_asleep(^{
      stop();
    });
    run(P, 0 / 0.0, GO_ON);
}

SCENARIO(short_limit, "R32", "however short the limit, there is one iteration") {
    quiet(P);
    watch(P);
    timed_run(P, 1e-9, GO_ON);
}

SCENARIO(limit_after_entry, "R32", "a limit starts after the Entry observers") {
    quiet(P);
    observer("o", "EX", 0, P, ^{
      nap(30);
    });
    timer("t", 40, 0, P, NULL);
    run(P, .025, GO_ON);
}

SCENARIO(limit_during_callout, "R34", "if a limit is reached in a call-out, the iteration is completed") {
    watch(P);
    source("a", 0, P, ^{
      nap(25);
    });
    timer("t", PAST, 0, P, NULL);
    signal_source("a");
    block("f", P, NULL);
    run(P, .01, GO_ON);
}

SCENARIO(self_signalling_stop, "R35 R36", "a source that signals itself and stops the run the third time") {
    __block int count = 0;
    watch(P);
    source("a", 0, P, ^{
      signal_source("a");
      if (++count == 3)
          stop();
    });
    signal_source("a");
    run(P, 5, GO_ON);
    is_signalled("a");
}

SCENARIO(self_signalling_timer, "R35 R76",
         "due timers are served between performances of a source that signals itself") {
    __block int count = 0;
    watch(P);
    source("a", 0, P, ^{
      signal_source("a");
      if (++count == 2)
          timer("t", PAST, 0, P, ^{
            stop();
          });
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(run_default_stopped, "R27", "CFRunLoopRun until it is stopped") {
    watch(DEFAULT);
    quiet(DEFAULT);
    when_asleep(^{
      wake();
    });
    when_asleep(^{
      stop();
    });
    run_default();
}

SCENARIO(run_default_finished, "R27", "CFRunLoopRun until its mode is empty") {
    watch(DEFAULT);
    source("a", 0, DEFAULT, ^{
      invalidate("a");
    });
    signal_source("a");
    run_default();
    run_default();
}

SCENARIO(run_default_goes_on, "R27", "CFRunLoopRun makes one run, regardless of handled sources") {
    __block int count = 0;
    watch(DEFAULT);
    source("a", 0, DEFAULT, ^{
      if (++count == 3)
          stop();
      else
          signal_source("a");
    });
    signal_source("a");
    run_default();
}

SCENARIO(exit_told_once, "R30 R99", "Entry and Exit are notified once in each run that is entered") {
    observer("o", "EX", 0, P, NULL);
    run(P, 0, GO_ON);
    source("a", 0, P, NULL);
    run(P, 0, GO_ON);
    signal_source("a");
    run(P, 5, RETURN);
    signal_source("a");
    run(P, .02, GO_ON);
}
