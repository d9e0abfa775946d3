// R56 to R67: signalled sources.
#include "dsl.h"

SCENARIO(order_after_performing, "R62 R63", "a source's place in line is that of its first signal since it performed") {
    source("a", 0, P, NULL);
    source("b", 0, P, NULL);
    signal_source("a");
    run(P, 0, GO_ON);
    signal_source("b");
    nap(.01);
    signal_source("a");
    run(P, 0, GO_ON);
}

SCENARIO(signals_are_one, "R62", "any number of signals counts as one") {
    source("a", 0, P, NULL);
    is_signalled("a");
    signal_source("a");
    signal_source("a");
    elsewhere(^{
      signal_source("a");
    });
    is_signalled("a");
    run(P, 0, GO_ON);
    is_signalled("a");
    run(P, 0, GO_ON);
}

SCENARIO(signal_in_no_mode, "R62 R63", "a source that is in no mode keeps a signal, and its place in line") {
    source("a", 0, NULL, NULL);
    source("b", 0, P, NULL);
    signal_source("a");
    nap(.01);
    signal_source("b");
    add("a", P);
    run(P, 0, GO_ON);
}

SCENARIO(signal_in_other_mode, "R62", "and so does one whose mode doesn't run") {
    source("a", 0, P, NULL);
    quiet(Q);
    signal_source("a");
    run(Q, 0, GO_ON);
    is_signalled("a");
    run(P, 0, GO_ON);
}

SCENARIO(signal_survives_removal, "R62", "a signal survives a removal and an addition") {
    source("a", 0, P, NULL);
    signal_source("a");
    take_out("a", P);
    add("a", Q);
    run(Q, 0, GO_ON);
}

SCENARIO(signalled_in_callback, "R62 R64", "the mark is cleared before the callback") {
    source("a", 0, P, ^{
      is_signalled("a");
    });
    signal_source("a");
    run(P, 0, GO_ON);
}

SCENARIO(signal_itself, "R64", "a source that signals itself performs in the next iteration, without a sleep") {
    __block int count = 0;
    watch(P);
    source("a", 0, P, ^{
      if (++count < 3)
          signal_source("a");
      else
          stop();
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(signal_itself_polled, "R64", "in a polling run, it performs in the next run") {
    __block int count = 0;
    source("a", 0, P, ^{
      if (++count < 3)
          signal_source("a");
    });
    signal_source("a");
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(signal_a_later_one, "R64", "a source signalled by another during the dispatch waits for the next iteration") {
    watch(P);
    source("a", 0, P, ^{
      signal_source("b");
    });
    source("b", 1, P, ^{
      stop();
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(signal_an_earlier_one, "R64", "and so does one of lower order") {
    watch(P);
    source("a", 0, P, ^{
      signal_source("b");
    });
    source("b", -1, P, ^{
      stop();
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(removed_in_pass, "R64 R59", "a source removed during the dispatch still performs, after its cancel") {
    loud();
    source("a", 0, P, ^{
      take_out("b", P);
    });
    source("b", 1, P, NULL);
    signal_source("a");
    signal_source("b");
    run(P, 0, GO_ON);
}

SCENARIO(invalidated_in_pass, "R44 R64", "a source invalidated during the dispatch doesn't perform") {
    source("a", 0, P, ^{
      invalidate("b");
    });
    source("b", 1, P, NULL);
    source("c", 2, P, NULL);
    signal_source("a");
    signal_source("b");
    signal_source("c");
    run(P, 0, RETURN);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(last_invalidated_in_pass, "R44", "the dispatch reports that a source performed although the last did not") {
    watch(P);
    source("a", 0, P, ^{
      invalidate("b");
      block("f", P, NULL);
    });
    source("b", 1, P, NULL);
    signal_source("a");
    signal_source("b");
    run(P, .02, GO_ON);
}

SCENARIO(one_source_and_return, "R65", "if asked to return, the dispatch ends with the first source") {
    watch(P);
    source("a", 0, P, NULL);
    source("b", 0, P, NULL);
    source("c", INT32_MIN, P, NULL);
    signal_source("a");
    nap(.01);
    signal_source("b");
    nap(.01);
    signal_source("c");
    run(P, 5, RETURN);
    run(P, 5, RETURN);
    run(P, 5, RETURN);
    run(P, 0, RETURN);
}

SCENARIO(recursive_source, "R66", "a source signalled in its callback performs again in a nested run") {
    __block int count = 0;
    watch(P);
    source("a", 0, P, ^{
      if (++count < 4) {
          signal_source("a");
          run(P, 0, GO_ON);
      }
    });
    signal_source("a");
    run(P, 0, GO_ON);
}

SCENARIO(performed_by_nested, "R64", "a source that a nested run performed isn't performed again") {
    source("a", 0, P, ^{
      run(P, 0, GO_ON);
    });
    source("b", 1, P, NULL);
    source("c", 2, P, NULL);
    signal_source("a");
    signal_source("b");
    run(P, 0, GO_ON);
    signal_source("c");
    run(P, 0, GO_ON);
}

SCENARIO(performed_by_nested_resignalled, "R64", "unless it was signalled again") {
    __block bool again = true;
    source("a", 0, P, ^{
      run(P, 0, GO_ON);
      if (again)
          signal_source("b");
      again = false;
    });
    source("b", 1, P, NULL);
    signal_source("a");
    signal_source("b");
    run(P, 0, GO_ON);
}

SCENARIO(two_modes_one_source, "R58 R59", "a source in two modes") {
    loud();
    source("a", 0, P, NULL);
    add("a", Q);
    add("a", Q);
    contains("a", P);
    contains("a", Q);
    contains("a", DEFAULT);
    signal_source("a");
    run(Q, 0, GO_ON);
    run(P, 0, GO_ON);
    take_out("a", P);
    contains("a", P);
    contains("a", Q);
    take_out("a", P);
    invalidate("a");
    contains("a", Q);
}

SCENARIO(add_in_callback, "R58", "a source that a callback adds performs in the next iteration if it is signalled") {
    watch(P);
    source("a", 0, P, ^{
      source("b", -5, P, ^{
        stop();
      });
      signal_source("b");
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(invalidate_everywhere, "R67", "invalidation cancels once for each mode") {
    loud();
    source("a", 0, P, NULL);
    add("a", Q);
    add("a", DEFAULT);
    signal_source("a");
    invalidate("a");
    is_valid("a");
    is_signalled("a");
    invalidate("a");
    contains("a", P);
    run(P, 0, GO_ON);
    signal_source("a");
    is_signalled("a");
    add("a", P);
    contains("a", P);
    has_info("a");
    describe_item("a");
}

SCENARIO(invalidate_in_callback, "R67", "a source may invalidate itself") {
    loud();
    source("a", 7, P, ^{
      invalidate("a");
      is_valid("a");
      say("goes on");
    });
    signal_source("a");
    run(P, 5, GO_ON);
}

SCENARIO(invalidate_elsewhere, "R67 R116", "another thread invalidates a source of a sleeping loop") {
    loud();
    watch(P);
    quiet(P);
    source("a", 0, P, NULL);
    when_asleep(^{
      invalidate("a");
    });
    when_asleep(^{
      stop();
    });
    run(P, 5, GO_ON);
}

SCENARIO(equal_sources, "R60", "equal sources exclude each other") {
    loud();
    equal_source("a", 0, 1, P, NULL);
    equal_source("b", 0, 1, P, NULL);
    contains("a", P);
    contains("b", P);
    signal_source("b");
    run(P, 0, GO_ON);
    signal_source("a");
    run(P, 0, GO_ON);
    add("b", Q);
    take_out("b", P);
    contains("a", P);
    contains("b", P);
}

SCENARIO(unequal_sources, "R60", "sources of different numbers, orders or validity aren't equal") {
    equal_source("a", 0, 1, P, NULL);
    equal_source("b", 0, 2, P, NULL);
    equal_source("c", 1, 1, P, NULL);
    contains("b", P);
    contains("c", P);
    signal_source("a");
    nap(.01);
    signal_source("b");
    signal_source("c");
    run(P, 0, GO_ON);
    equal_source("d", 0, 1, NULL, NULL);
    contains("d", P);
    invalidate("a");
    contains("d", P);
    add("d", P);
    contains("d", P);
}

SCENARIO(source_context, "R56 R57", "a source's context is retained once and released with the source") {
    count_references();
    source("a", 0, P, NULL);
    invalidate("a");
    say("invalidated");
    let_go("a");
    say("let go");
}

SCENARIO(source_kept_by_mode, "R11 R57", "a mode keeps a source that its creator released") {
    count_references();
    source("a", 0, P, NULL);
    signal_source("a");
    let_go("a");
    say("let go");
    run(P, 0, GO_ON);
}

SCENARIO(source_let_go_in_callback, "R57", "a source removed and released in its own callback") {
    quiet(P);
    count_references();
    source("a", 0, P, ^{
      take_out("a", P);
      let_go("a");
      say("goes on");
    });
    signal_source("a");
    run(P, 0, GO_ON);
    say("after the run");
}

SCENARIO(source_without_mode, "R57", "a source that was never in a loop") {
    count_references();
    source("a", 3, NULL, NULL);
    describe_item("a");
    has_info("a");
    let_go("a");
}

SCENARIO(source_end_of_thread, "R8 R9", "at the end of its thread a loop cancels its sources once per mode") {
    loud();
    source("a", 0, P, NULL);
    add("a", Q);
    source("b", 0, P, NULL);
    source("c", 0, COMMON, NULL);
}

SCENARIO(source_freed_at_end, "R8 R9", "items that only the loop held are released at the end of the thread") {
    count_references();
    source("a", 0, P, NULL);
    source("b", 0, P, NULL);
    timer("t", FAR, 0, P, NULL);
    observer("o", "E", 0, P, NULL);
    let_go("a");
    let_go("t");
    let_go("o");
}

SCENARIO(two_loops_one_source, "R58 R116", "a source in two loops is performed by whichever runs first") {
    loud();
    source("a", 0, P, NULL);
    elsewhere(^{
      add_to_other_loop("a", P);
      signal_source("a");
    });
    contains("a", P);
    run(P, 0, GO_ON);
}

SCENARIO(alike_sources, "R58 R60", "sources without equal are compared by identity") {
    loud();
    source("a", 0, P, NULL);
    source("b", 0, P, NULL);
    contains("a", P);
    contains("b", P);
    take_out("a", P);
    contains("b", P);
}

SCENARIO(same_info_sources, "R60", "even if they have the same info") {
    CFRunLoopSourceContext context = {.info = NULL};
    CFRunLoopSourceRef a = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopSourceRef b = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop(), a, mode_string(P));
    say("%s", CFRunLoopContainsSource(loop(), b, mode_string(P)) ? "contained" : "not contained");
    CFRelease(a);
    CFRelease(b);
}
