// R74 to R92: timers.
#include "dsl.h"

SCENARIO(timers_by_date, "R74", "timers fire by date, in whatever order they were created") {
    watch(P);
    timer("late", 40, 0, P, ^{
      stop();
    });
    timer("early", 15, 0, P, NULL);
    run(P, 5, GO_ON);
}

SCENARIO(overdue_timers, "R79", "of timers with past dates the one created first fires first") {
    timer("t", PAST, 0, P, NULL);
    timer("u", 2 * PAST, 0, P, NULL);
    timer("v", PAST / 2, 0, P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(timer_invalidates_next, "R75", "a timer of the same dispatch that was invalidated doesn't fire") {
    quiet(P);
    timer("t", PAST, 0, P, ^{
      invalidate("u");
    });
    timer("u", PAST, 0, P, NULL);
    timer("v", PAST, 0, P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(timer_removes_next, "R75", "nor does one that was removed from the loop") {
    quiet(P);
    timer("t", PAST, 0, P, ^{
      take_out("u", P);
    });
    timer("u", PAST, 0, P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
    is_valid("u");
    add("u", Q);
    run(Q, 0, GO_ON);
}

SCENARIO(timer_removes_next_from_one_mode, "R75", "one that is still in another mode of the loop fires") {
    quiet(P);
    timer("t", PAST, 0, P, ^{
      take_out("u", P);
    });
    timer("u", PAST, 0, P, NULL);
    add("u", Q);
    run(P, 0, GO_ON);
    is_valid("u");
}

SCENARIO(timer_postpones_next, "R75", "a timer of the same dispatch that was postponed doesn't fire") {
    timer("t", PAST, 0, P, ^{
      date("u", FAR);
    });
    timer("u", PAST, 0, P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
    fire_date("u");
}

SCENARIO(timer_adds_due_timer, "R75", "a due timer added during the dispatch waits for the next iteration") {
    watch(P);
    timer("t", PAST, 0, P, ^{
      timer("u", PAST, 0, P, ^{
        stop();
      });
    });
    run(P, 5, GO_ON);
}

SCENARIO(timer_moves_next_forward, "R75", "so does one that is brought forward during the dispatch") {
    watch(P);
    timer("t", PAST, 0, P, ^{
      date("u", PAST);
    });
    timer("u", FAR, 0, P, ^{
      stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(one_shot, "R85 R81", "a timer that fires once is valid in its callback and removed after it") {
    timer("t", PAST, 0, P, ^{
      is_valid("t");
      contains("t", P);
      fire_date("t");
    });
    add("t", Q);
    run(P, 0, GO_ON);
    is_valid("t");
    contains("t", P);
    contains("t", Q);
    fire_date("t");
    has_info("t");
}

SCENARIO(repeating_timer, "R80 R81", "a repeating timer remains, with another date") {
    timer("t", PAST, 1e6, P, ^{
      is_valid("t");
      fire_date("t");
    });
    run(P, 0, GO_ON);
    is_valid("t");
    contains("t", P);
    fire_date("t");
    run(P, 0, GO_ON);
}

SCENARIO(ticks, "R80", "a repeating timer ticks") {
    __block int count = 0;
    timer("t", 5, 10, P, ^{
      if (++count == 4)
          stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(date_in_own_callback, "R82",
         "a date set in the timer's own callback overrides the automatic one, whatever it is") {
    __block int count = 0;
    watch(P);
    timer("t", PAST, 1e6, P, ^{
      if (++count < 4)
          date("t", PAST);
      else
          stop();
    });
    run(P, 5, GO_ON);
    fire_date("t");
}

SCENARIO(last_date_wins, "R82", "of several dates the last one counts") {
    timer("t", PAST, 1e6, P, ^{
      date("t", PAST);
      date("t", 2 * FAR);
      date("t", FAR);
    });
    run(P, 0, GO_ON);
    fire_date("t");
    run(P, 0, GO_ON);
}

SCENARIO(date_of_one_shot, "R82", "for a timer that fires once a date has no effect in its callback") {
    timer("t", PAST, 0, P, ^{
      date("t", PAST);
    });
    run(P, 0, GO_ON);
    is_valid("t");
    fire_date("t");
    run(P, 0, GO_ON);
}

SCENARIO(date_getter, "R83", "the getter returns the date as given, even a past one") {
    timer("t", FAR, 0, P, NULL);
    fire_date("t");
    date("t", 2 * FAR);
    fire_date("t");
    date("t", PAST);
    fire_date("t");
    run(P, 0, GO_ON);
    fire_date("t");
    date("t", FAR);
    fire_date("t");
}

SCENARIO(date_in_all_modes, "R83 R86", "a new date moves the timer in all its modes") {
    timer("t", FAR, 1e6, P, NULL);
    add("t", Q);
    run(P, 0, GO_ON);
    date("t", PAST);
    run(Q, 0, GO_ON);
    run(P, 0, GO_ON);
    date("t", PAST);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
}

SCENARIO(date_in_no_loop, "R83", "a timer that is in no loop can be given a date") {
    timer("t", FAR, 0, NULL, NULL);
    date("t", PAST);
    fire_date("t");
    add("t", P);
    run(P, 0, GO_ON);
}

SCENARIO(date_order, "R79 R83", "a timer that is given a past date fires after those that already had one") {
    timer("t", PAST, 1e6, P, NULL);
    timer("u", PAST, 1e6, P, NULL);
    date("t", PAST);
    run(P, 0, GO_ON);
}

SCENARIO(firing_timer_nested, "R84", "a firing timer doesn't fire in a nested run, others do") {
    __block int count = 0;
    watch(P);
    timer("t", PAST, 1e6, P, ^{
      if (++count == 1) {
          date("t", PAST);
          timer("u", PAST, 0, P, NULL);
          run(P, 0, GO_ON);
      }
    });
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(pass_and_nested_run, "R84 R74", "a nested run fires the other timers of the dispatch, once") {
    timer("t", PAST, 0, P, ^{
      run(P, 0, GO_ON);
    });
    timer("u", PAST, 0, P, NULL);
    timer("v", PAST, 0, P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(firing_timer_sleeps, "R23 R84", "a run nested in the callback of the only timer sleeps to its limit") {
    watch(P);
    timer("t", PAST, 0, P, ^{
      timed_run(P, .02, GO_ON);
    });
    run(P, 5, GO_ON);
}

SCENARIO(timer_in_two_modes, "R86", "a timer in two modes fires once, in whichever runs") {
    timer("t", PAST, 1e6, P, NULL);
    add("t", Q);
    add("t", Q);
    contains("t", P);
    contains("t", Q);
    run(Q, 0, GO_ON);
    run(P, 0, GO_ON);
    take_out("t", P);
    contains("t", P);
    contains("t", Q);
    date("t", PAST);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
}

SCENARIO(timer_in_two_loops, "R86", "a second loop refuses the timer until it has been removed from the first") {
    timer("t", FAR, 0, P, NULL);
    elsewhere(^{
      add_to_other_loop("t", P);
      run("unused", 0, GO_ON);
    });
    contains("t", P);
    take_out("t", P);
    elsewhere(^{
      add_to_other_loop("t", P);
      say("%s", CFRunLoopContainsTimer(CFRunLoopGetCurrent(), (CFRunLoopTimerRef)object("t"), mode_string(P))
                    ? "in the other loop"
                    : "not in the other loop");
      take_out_of_other_loop("t", P);
    });
    is_valid("t");
    fire_date("t");
    add("t", P);
    contains("t", P);
}

SCENARIO(timer_after_its_loop, "R9", "a timer outlives its loop and can be added to another") {
    timer("t", PAST, 0, NULL, NULL);
    elsewhere(^{
      add_to_other_loop("t", P);
    });
    is_valid("t");
    fire_date("t");
    add("t", P);
    run(P, 0, GO_ON);
}

SCENARIO(invalidate_timer, "R88 R112", "an invalid timer is in no mode and accepts no date") {
    timer("t", PAST, 5000, P, NULL);
    timer("far", FAR, 0, P, NULL);
    add("t", Q);
    invalidate("t");
    invalidate("t");
    is_valid("t");
    contains("t", P);
    fire_date("t");
    date("t", PAST);
    fire_date("t");
    add("t", P);
    contains("t", P);
    has_info("t");
    describe_item("t");
    run(P, 0, GO_ON);
}

SCENARIO(invalidate_own_timer, "R88", "a timer may invalidate itself") {
    timer("t", PAST, 1e6, P, ^{
      invalidate("t");
      is_valid("t");
      say("goes on");
    });
    run(P, 5, GO_ON);
    is_valid("t");
}

SCENARIO(remove_own_timer, "R86", "a timer may remove itself and be added again") {
    quiet(P);
    timer("t", PAST, 1e6, P, ^{
      take_out("t", P);
    });
    run(P, 0, GO_ON);
    contains("t", P);
    is_valid("t");
    date("t", PAST);
    run(P, 0, GO_ON);
    add("t", P);
    run(P, 0, GO_ON);
}

SCENARIO(move_own_timer, "R84 R86", "a timer may move to another mode in its callback") {
    quiet(P);
    timer("t", PAST, 1e6, P, ^{
      take_out("t", P);
      add("t", Q);
      date("t", PAST);
    });
    run(P, 0, GO_ON);
    contains("t", P);
    contains("t", Q);
    run(Q, 0, GO_ON);
}

SCENARIO(next_dates, "R90", "the next fire date of a mode") {
    next_date(P);
    timer("t", FAR, 0, P, NULL);
    next_date(P);
    timer("u", FAR / 2, 0, P, ^{
      next_date(P);
    });
    next_date(P);
    next_date(Q);
    next_date(COMMON);
    invalidate("u");
    next_date(P);
    take_out("t", P);
    next_date(P);
}

SCENARIO(next_date_firing, "R90", "a firing timer counts") {
    timer("t", PAST, 0, P, ^{
      next_date(P);
    });
    timer("far", FAR, 0, P, NULL);
    run(P, 0, GO_ON);
    next_date(P);
}

SCENARIO(next_date_common, "R90", "the pseudo-mode has no next date") {
    timer("t", FAR, 0, COMMON, NULL);
    next_date(COMMON);
    next_date(DEFAULT);
    all_modes();
}

SCENARIO(timer_getters, "R77 R112", "interval and order as given; a negative interval is none") {
    ordered_timer("t", FAR, -5, 3, P, NULL);
    ordered_timer("u", FAR, 2500, -3, P, NULL);
    describe_item("t");
    describe_item("u");
    has_info("t");
}

SCENARIO(no_timer_callback, "R92", "a timer without a callback") {
    CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() - 1, 0, 0, 0, NULL, NULL);
    CFRunLoopAddTimer(loop(), timer, mode_string(P));
    nap(1);
    watch(P);
    run(P, 5, GO_ON);
    say("%s", CFRunLoopTimerIsValid(timer) ? "valid" : "invalid");
    CFRelease(timer);
}

SCENARIO(timer_is_no_source, "R38 R76", "a run asked to return after a source continues after a timer") {
    watch(P);
    source("a", 0, P, NULL);
    timer("t", PAST, 0, P, ^{
      signal_source("a");
    });
    run(P, 5, RETURN);
}

SCENARIO(due_timer_of_unrun_mode, "R87", "a due timer of another mode doesn't fire") {
    watch(P);
    quiet(P);
    timer("t", PAST, 0, Q, NULL);
    run(P, .02, GO_ON);
    is_valid("t");
}

SCENARIO(common_timer, "R18 R20", "a timer in all common modes fires once") {
    make_common(P);
    timer("t", PAST, 1e6, COMMON, NULL);
    contains("t", COMMON);
    contains("t", P);
    contains("t", DEFAULT);
    run(P, 0, GO_ON);
    run(DEFAULT, 0, GO_ON);
    make_common(Q);
    contains("t", Q);
    date("t", PAST);
    run(Q, 0, GO_ON);
    take_out("t", COMMON);
    contains("t", Q);
}

SCENARIO(timer_date_from_asleep, "R83", "another thread gives a timer a distant date") {
    watch(P);
    timer("t", 2 * FAR, 0, P, NULL);
    when_asleep(^{
      date("t", FAR);
    });
    when_asleep(^{
      stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(distant_timer, "R77", "no date is too distant") {
    quiet(P);
    timer("t", 1e15, 0, P, NULL);
    run(P, .01, GO_ON);
    is_valid("t");
}
