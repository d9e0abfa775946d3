// R93 to R99 and R113: observers.
#include "dsl.h"

SCENARIO(order_of_observers, "R93",
         "ascending order, equal ones in the order of their last addition, for every activity") {
    source("a", 0, P, NULL);
    observer("second", "ETSWAX", 0, P, NULL);
    observer("third", "ETSWAX", 0, P, NULL);
    observer("first", "ETSWAX", INT32_MIN, P, NULL);
    observer("last", "ETSWAX", INT32_MAX, P, NULL);
    observer("fourth", "ETSWAX", 0, P, NULL);
    take_out("third", P);
    add("third", P);
    signal_source("a");
    run(P, .01, GO_ON);
}

SCENARIO(chosen_activities, "R94", "observers are notified of the activities they asked for") {
    quiet(P);
    observer("e", "E", 0, P, NULL);
    observer("t", "T", 0, P, NULL);
    observer("s", "S", 0, P, NULL);
    observer("w", "W", 0, P, NULL);
    observer("a", "A", 0, P, NULL);
    observer("x", "X", 0, P, NULL);
    run(P, .01, GO_ON);
}

SCENARIO(no_activities, "R98", "an observer of no activities is never called") {
    quiet(P);
    observer("o", "", 0, P, NULL);
    run(P, .01, GO_ON);
    is_valid("o");
    describe_item("o");
}

SCENARIO(observer_removes_next, "R94", "an observer removed during the notification is still called") {
    quiet(P);
    observer("o", "T", 0, P, ^{
      take_out("p", P);
    });
    observer("p", "TS", 1, P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(observer_invalidates_next, "R94", "an observer invalidated during the notification isn't called") {
    quiet(P);
    observer("o", "T", 0, P, ^{
      invalidate("p");
    });
    observer("p", "TS", 1, P, NULL);
    observer("q", "T", 2, P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(observer_adds_another, "R94",
         "an observer added during the notification is called from the next activity on") {
    quiet(P);
    observer_once("o", "T", 0, P, ^{
      observer("p", "ETS", 1, P, NULL);
    });
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(observer_adds_one_before, "R93 R94", "an observer added ahead of others is called before them from then on") {
    quiet(P);
    observer("o", "TS", 0, P, NULL);
    observer_once("adder", "T", 1, P, ^{
      observer("p", "TS", -1, P, NULL);
    });
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(observer_at_entry_adds, "R94", "an Entry observer adds one for the first iteration") {
    quiet(P);
    observer_once("o", "E", 0, P, ^{
      observer("p", "ETSX", 0, P, NULL);
    });
    run(P, 0, GO_ON);
}

SCENARIO(told_once, "R95", "an observer that doesn't repeat is called once in all") {
    quiet(P);
    observer_once("o", "ETSWAX", 0, P, ^{
      is_valid("o");
    });
    observer_once("p", "SX", 0, P, NULL);
    run(P, 0, GO_ON);
    is_valid("o");
    is_valid("p");
    contains("o", P);
    run(P, 0, GO_ON);
}

SCENARIO(told_once_in_two_modes, "R95", "in all its modes together") {
    quiet(P);
    quiet(Q);
    observer_once("o", "T", 0, P, NULL);
    add("o", Q);
    run(Q, 0, GO_ON);
    run(P, 0, GO_ON);
    contains("o", P);
}

SCENARIO(told_once_nested, "R95 R96", "during its only call, a nested run doesn't call it") {
    quiet(P);
    watch(P);
    observer_once("o", "T", 0, P, ^{
      run(P, 0, GO_ON);
    });
    run(P, 0, GO_ON);
}

SCENARIO(observer_nested, "R96", "an observer isn't notified of the run nested in it, others are") {
    __block bool nested = false;
    quiet(P);
    observer("o", "ETSX", 0, P, ^{
      if (activity() == 'S' && !nested) {
          nested = true;
          run(P, 0, GO_ON);
      }
    });
    observer("p", "ETSX", 1, P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(observer_nested_elsewhere, "R96", "nor of one in another of its modes") {
    quiet(P);
    quiet(Q);
    watch(Q);
    observer("o", "TX", 0, P, ^{
      run(Q, 0, GO_ON);
    });
    add("o", Q);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
}

SCENARIO(observers_nested_twice, "R96 R26", "two observers, each with a nested run") {
    quiet(P);
    observer("o", "T", 0, P, ^{
      run(P, 0, GO_ON);
    });
    observer("p", "TX", 1, P, ^{
      if (activity() == 'T')
          run(P, 0, GO_ON);
    });
    run(P, 0, GO_ON);
}

SCENARIO(nested_in_each_activity, "R26 R96", "a nested run in every activity") {
    quiet(P);
    quiet(Q);
    watch(Q);
    observer("o", "ETSWX", 0, P, ^{
      run(Q, 0, GO_ON);
    });
    when_asleep(^{
      stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(observer_in_two_modes, "R97", "an observer can be in many modes") {
    quiet(P);
    quiet(Q);
    observer("o", "TX", 0, P, NULL);
    add("o", Q);
    add("o", Q);
    contains("o", P);
    contains("o", Q);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
    take_out("o", Q);
    take_out("o", Q);
    run(Q, 0, GO_ON);
    contains("o", P);
    contains("o", Q);
}

SCENARIO(observer_in_two_loops, "R97", "a second loop refuses the observer until it has been removed from the first") {
    quiet(P);
    observer("o", "T", 0, P, NULL);
    elsewhere(^{
      add_to_other_loop("o", P);
      say("%d", CFRunLoopContainsObserver(CFRunLoopGetCurrent(), (CFRunLoopObserverRef)object("o"), mode_string(P)));
    });
    take_out("o", P);
    elsewhere(^{
      add_to_other_loop("o", P);
      say("%d", CFRunLoopContainsObserver(CFRunLoopGetCurrent(), (CFRunLoopObserverRef)object("o"), mode_string(P)));
    });
    is_valid("o");
    add("o", P);
    run(P, 0, GO_ON);
}

SCENARIO(added_twice, "R97", "adding twice has the effect of once") {
    quiet(P);
    observer("o", "T", 0, P, NULL);
    add("o", P);
    run(P, 0, GO_ON);
    take_out("o", P);
    run(P, 0, GO_ON);
}

SCENARIO(invalid_observer, "R97 R98 R113", "an invalid observer is in no mode and can't be added") {
    quiet(P);
    observer("o", "TWX", 9, P, NULL);
    add("o", Q);
    invalidate("o");
    invalidate("o");
    is_valid("o");
    contains("o", P);
    contains("o", Q);
    add("o", P);
    contains("o", P);
    describe_item("o");
    has_info("o");
    run(P, 0, GO_ON);
}

SCENARIO(observer_invalidates_itself, "R98", "an observer may invalidate itself") {
    quiet(P);
    observer("o", "TS", 0, P, ^{
      invalidate("o");
      is_valid("o");
      say("goes on");
    });
    run(P, 0, GO_ON);
}

SCENARIO(observer_removes_itself, "R94", "an observer may remove itself") {
    quiet(P);
    observer("o", "TS", 0, P, ^{
      take_out("o", P);
    });
    run(P, 0, GO_ON);
    is_valid("o");
    add("o", P);
    run(P, 0, GO_ON);
}

SCENARIO(observer_context, "R98", "an observer's context is released at its invalidation") {
    count_references();
    observer("o", "T", 0, P, NULL);
    invalidate("o");
    say("invalidated");
    let_go("o");
}

SCENARIO(observer_context_once, "R95 R98", "or after its only call") {
    quiet(P);
    count_references();
    observer_once("o", "T", 0, P, NULL);
    run(P, 0, GO_ON);
    say("after the run");
}

SCENARIO(observer_context_freed, "R98", "or when it is freed") {
    count_references();
    observer("o", "T", 0, P, NULL);
    let_go("o");
    say("let go");
    quiet(P);
    run(P, 0, GO_ON);
}

SCENARIO(observer_getters, "R98 R113", "activities, order and whether it repeats") {
    observer("o", "ETSWAX", -7, NULL, NULL);
    observer_once("p", "W", 7, NULL, NULL);
    describe_item("o");
    describe_item("p");
    has_info("o");
}

SCENARIO(no_observer_callback, "R98", "an observer without a callback or context") {
    CFRunLoopObserverRef observer = CFRunLoopObserverCreate(NULL, kCFRunLoopAllActivities, false, 0, NULL, NULL);
    CFRunLoopAddObserver(loop(), observer, mode_string(P));
    quiet(P);
    run(P, 0, GO_ON);
    say("%s", CFRunLoopObserverIsValid(observer) ? "valid" : "invalid");
    CFRunLoopObserverInvalidate(observer);
    CFRelease(observer);
}

SCENARIO(common_observer, "R18", "an observer in all common modes") {
    quiet(P);
    quiet(Q);
    observer("o", "T", 0, COMMON, NULL);
    make_common(P);
    contains("o", P);
    contains("o", Q);
    contains("o", COMMON);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
    take_out("o", P);
    run(P, 0, GO_ON);
    contains("o", COMMON);
    make_common(Q);
    run(Q, 0, GO_ON);
    take_out("o", COMMON);
    run(Q, 0, GO_ON);
}

SCENARIO(observer_mode_at_exit, "R99 R5", "at Entry and Exit the run's mode is the current mode") {
    quiet(P);
    quiet(Q);
    observer("o", "EX", 0, P, ^{
      current_mode();
    });
    add("o", Q);
    observer("p", "T", 0, P, ^{
      run(Q, 0, GO_ON);
    });
    run(P, 0, GO_ON);
}

SCENARIO(source_by_after_waiting, "R41",
         "a source that an AfterWaiting observer signals performs in the next iteration") {
    watch(P);
    source("a", 0, P, ^{
      stop();
    });
    observer_once("o", "A", 0, P, ^{
      signal_source("a");
    });
    when_asleep(^{
      wake();
    });
    run(P, 5, GO_ON);
}
