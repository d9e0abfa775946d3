// R1 to R26: loops, modes, common modes, nested runs.
#include "dsl.h"

SCENARIO(new_loop, "R4", "a new loop has the default mode and no current mode") {
    all_modes();
    current_mode();
    is_waiting();
    finished(DEFAULT);
    next_date(DEFAULT);
}

SCENARIO(one_loop, "R1", "a thread has one loop") {
    say("%s", CFRunLoopGetCurrent() == CFRunLoopGetCurrent() ? "the same" : "another");
    __block CFRunLoopRef other;
    elsewhere(^{
      other = CFRunLoopGetCurrent();
    });
    say("%s", CFRunLoopGetCurrent() == other ? "the same" : "another");
}

SCENARIO(main_loop_from_elsewhere, "R2", "the main loop is a different loop, the same for all threads") {
    CFRunLoopRef main = CFRunLoopGetMain();
    __block CFRunLoopRef other;
    elsewhere(^{
      other = CFRunLoopGetMain();
    });
    say("%s", main == other ? "the same" : "another");
    say("%s", main == CFRunLoopGetCurrent() ? "the same" : "another");
}

SCENARIO(default_mode_is_common, "R4 R18", "the default mode is common from the start") {
    loud();
    source("a", 0, COMMON, NULL);
    contains("a", DEFAULT);
    contains("a", COMMON);
    signal_source("a");
    run(DEFAULT, 0, GO_ON);
}

SCENARIO(additions_make_modes, "R14", "additions create modes, queries and removals don't") {
    source("a", 0, "of a source", NULL);
    timer("t", FAR, 0, "of a timer", NULL);
    observer("o", "T", 0, "of an observer", NULL);
    block("f", "of a function", NULL);
    contains("a", "asked");
    contains("t", "asked too");
    take_out("a", "removed");
    next_date("dated");
    run("run", 0, GO_ON);
    all_modes();
}

SCENARIO(modes_stay, "R15", "modes remain when they are empty") {
    source("a", 0, P, NULL);
    invalidate("a");
    all_modes();
    finished(P);
}

SCENARIO(what_keeps_a_mode, "R23", "sources, timers and tasks keep a mode from being empty, observers don't") {
    finished(P);
    observer("o", "T", 0, P, NULL);
    finished(P);
    source("a", 0, P, NULL);
    finished(P);
    invalidate("a");
    finished(P);
    timer("t", FAR, 0, P, NULL);
    finished(P);
    invalidate("t");
    finished(P);
    block("f", P, NULL);
    finished(P);
    finished(Q);
    counter("c", Q, NULL);
    finished(Q);
    take_out("c", Q);
    finished(Q);
}

SCENARIO(common_items, "R17 R18", "a mode that becomes common receives the common items") {
    loud();
    source("a", 0, COMMON, NULL);
    source("b", 0, COMMON, NULL);
    quiet(P);
    add("b", P);
    contains("a", P);
    make_common(P);
    contains("a", P);
    contains("b", P);
    make_common(P);
    signal_source("a");
    run(P, 0, GO_ON);
    source("c", 0, COMMON, NULL);
    contains("c", P);
    contains("c", DEFAULT);
}

SCENARIO(remove_common_item, "R19", "removal from the pseudo-mode removes an item from every common mode") {
    loud();
    make_common(P);
    source("a", 0, COMMON, NULL);
    take_out("a", COMMON);
    contains("a", P);
    contains("a", DEFAULT);
    contains("a", COMMON);
}

SCENARIO(remove_common_item_added_by_name, "R19", "even from one that it was added to by name") {
    loud();
    source("a", 0, P, NULL);
    make_common(P);
    take_out("a", COMMON);
    contains("a", P);
    add("a", COMMON);
    take_out("a", COMMON);
    contains("a", P);
    contains("a", DEFAULT);
}

SCENARIO(remove_common_not_private, "R19", "but not from a mode that isn't common") {
    loud();
    source("a", 0, Q, NULL);
    add("a", COMMON);
    take_out("a", COMMON);
    contains("a", Q);
}

SCENARIO(remove_one_of_common, "R20", "an item removed from one common mode stays a common item") {
    loud();
    make_common(P);
    source("a", 0, COMMON, NULL);
    take_out("a", P);
    contains("a", P);
    contains("a", COMMON);
    make_common(Q);
    contains("a", Q);
    take_out("a", COMMON);
    contains("a", DEFAULT);
}

SCENARIO(add_common_item_twice, "R18", "adding twice to the pseudo-mode has the effect of once") {
    loud();
    make_common(P);
    source("a", 0, COMMON, NULL);
    add("a", COMMON);
    take_out("a", COMMON);
    add("a", P);
    add("a", COMMON);
}

SCENARIO(add_common_item_again, "R18 R20", "adding a common item again restores it in the modes it was removed from") {
    loud();
    quiet(P);
    make_common(P);
    source("a", 0, COMMON, NULL);
    observer("o", "T", 0, COMMON, NULL);
    timer("t", FAR, 0, COMMON, NULL);
    take_out("a", P);
    take_out("o", P);
    take_out("t", P);
    add("a", COMMON);
    add("o", COMMON);
    add("t", COMMON);
    contains("a", P);
    contains("o", P);
    contains("t", P);
}

SCENARIO(common_contains, "R20", "the pseudo-mode contains common items only") {
    source("a", 0, DEFAULT, NULL);
    contains("a", COMMON);
    timer("u", FAR, 0, DEFAULT, NULL);
    contains("u", COMMON);
    timer("t", FAR, 0, COMMON, NULL);
    contains("t", COMMON);
    take_out("t", DEFAULT);
    contains("t", COMMON);
    contains("t", DEFAULT);
}

SCENARIO(invalidate_common_item, "R67 R18", "an invalidated common item isn't added to later common modes") {
    loud();
    make_common(P);
    source("a", 0, COMMON, NULL);
    observer("o", "T", 0, COMMON, NULL);
    timer("t", FAR, 0, COMMON, NULL);
    invalidate("a");
    invalidate("o");
    invalidate("t");
    contains("a", COMMON);
    contains("o", COMMON);
    contains("t", COMMON);
    make_common(Q);
    contains("a", Q);
    contains("o", Q);
    contains("t", Q);
}

SCENARIO(default_by_value, "R21", "names are compared by value") {
    source("a", 0, "=kCFRunLoopDefaultMode", NULL);
    contains("a", DEFAULT);
    signal_source("a");
    run(DEFAULT, 0, GO_ON);
    all_modes();
}

SCENARIO(nested_from_each_kind, "R26", "a nested run in a source, a timer, a counter and a task") {
    quiet(Q);
    watch(Q);
    source("a", 0, P, ^{
      run(Q, 0, GO_ON);
    });
    timer("t", PAST, 0, P, ^{
      run(Q, 0, GO_ON);
    });
    block("f", P, ^{
      run(Q, 0, GO_ON);
    });
    signal_source("a");
    run(P, 0, GO_ON);
    counter("c", P, ^{
      run(Q, 0, GO_ON);
    });
    ready("c");
    run(P, 0, GO_ON);
}

SCENARIO(nested_deep, "R26", "ten nested runs") {
    __block int depth = 0;
    source("a", 0, P, ^{
      if (++depth < 10) {
          signal_source("a");
          run(P, 5, RETURN);
      }
    });
    signal_source("a");
    run(P, 5, RETURN);
}

SCENARIO(nested_in_empty_mode, "R28", "a nested run in an unknown mode doesn't affect the outer one") {
    watch(P);
    source("a", 0, P, ^{
      run("nobody", 5, GO_ON);
      current_mode();
    });
    signal_source("a");
    run(P, 0, GO_ON);
}

SCENARIO(nested_sleeps, "R26 R34", "a nested run that sleeps to its limit") {
    watch(P);
    quiet(Q);
    watch(Q);
    source("a", 0, P, ^{
      timed_run(Q, .02, GO_ON);
    });
    signal_source("a");
    run(P, 5, RETURN);
}

SCENARIO(nested_handled, "R36 R38", "a source handled in a nested run doesn't count in the outer one") {
    watch(P);
    source("a", 0, Q, NULL);
    signal_source("a");
    timer("t", PAST, 0, P, ^{
      run(Q, 5, RETURN);
    });
    quiet(P);
    run(P, .02, RETURN);
}

SCENARIO(nested_serves_outer_items, "R26", "a run nested in the same mode serves its items") {
    watch(P);
    source("a", 0, P, ^{
      run(P, 0, GO_ON);
    });
    timer("t", PAST, 0, P, NULL);
    block("f", P, NULL);
    signal_source("a");
    run(P, 0, GO_ON);
}

SCENARIO(nested_in_timer_same_mode, "R26 R84", "a run nested in a timer serves sources and tasks of its mode") {
    watch(P);
    source("a", 0, P, NULL);
    timer("t", PAST, 0, P, ^{
      signal_source("a");
      block("f", P, NULL);
      run(P, 5, RETURN);
    });
    run(P, 0, GO_ON);
}

SCENARIO(items_of_a_finished_thread, "R10 R11", "the retained loop of a finished thread") {
    __block CFRunLoopRef other;
    elsewhere(^{
      other = (CFRunLoopRef)CFRetain(CFRunLoopGetCurrent());
    });
    CFRunLoopStop(other);
    CFRunLoopWakeUp(other);
    say("%s", CFRunLoopIsWaiting(other) ? "waiting" : "not waiting");
    say("%s", CFRunLoopCopyCurrentMode(other) ? "running" : "not running");
    CFRelease(other);
}

SCENARIO(observer_after_its_loop, "R9", "observers outlive their loop and can be added to another") {
    observer("o", "T", 0, NULL, NULL);
    source("a", 0, NULL, NULL);
    elsewhere(^{
      add_to_other_loop("o", P);
      add_to_other_loop("a", P);
    });
    is_valid("o");
    is_valid("a");
    quiet(P);
    add("o", P);
    add("a", P);
    signal_source("a");
    run(P, 0, GO_ON);
}

SCENARIO(created_without_loop, "R14", "items that are in no loop create no mode") {
    source("a", 0, NULL, NULL);
    timer("t", FAR, 0, NULL, NULL);
    observer("o", "T", 0, NULL, NULL);
    invalidate("a");
    invalidate("t");
    invalidate("o");
    add("a", "x");
    add("t", "y");
    add("o", "z");
    contains("a", "x");
}
