// R100 to R105: performed functions, "blocks" in the C interface.
#include "dsl.h"

SCENARIO(first_in_first_out, "R102", "functions are performed in the order in which they were queued") {
    quiet(P);
    block("f", P, NULL);
    block("g", P, NULL);
    block("h", P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(other_mode_keeps_place, "R102", "what doesn't match keeps its place before all that come later") {
    quiet(P);
    quiet(Q);
    block("f of Q", Q, NULL);
    block("g of P", P, ^{
      block("i of Q", Q, NULL);
    });
    block("h of Q", Q, NULL);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
}

SCENARIO(function_in_function, "R102", "what a function queues is performed in the next drain") {
    watch(P);
    quiet(P);
    block("f", P, ^{
      block("h", P, NULL);
    });
    block("g", P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(function_of_several_modes, "R100 R101", "a function of several modes is performed once") {
    quiet(P);
    quiet(Q);
    block("f", "P,Q", NULL);
    block("g", "P,Q", NULL);
    run(Q, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(function_of_set, "R100", "the modes may be a set") {
    quiet(P);
    quiet(Q);
    block("f", "{P,Q}", NULL);
    run(Q, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(function_of_no_mode, "R100", "a function of no mode is never performed") {
    quiet(P);
    block("f", "", NULL);
    run(P, 0, GO_ON);
    run(DEFAULT, 0, GO_ON);
}

SCENARIO(function_makes_modes, "R14 R100", "functions make the modes they name") {
    block("f", "P,Q", NULL);
    all_modes();
}

SCENARIO(function_keeps_mode, "R23", "a queued function keeps a mode from being empty, once") {
    watch(P);
    block("f", P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(function_of_other_mode, "R23", "a function of another mode doesn't") {
    watch(P);
    block("f", Q, NULL);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
}

SCENARIO(common_function, "R101", "a function of the pseudo-mode is performed in a common mode") {
    quiet(P);
    quiet(Q);
    make_common(P);
    block("f", COMMON, NULL);
    run(Q, 0, GO_ON);
    run(P, 0, GO_ON);
    block("g", COMMON, NULL);
    quiet(DEFAULT);
    run(DEFAULT, 0, GO_ON);
}

SCENARIO(common_function_later, "R101", "also in one that became common later") {
    quiet(P);
    block("f", COMMON, NULL);
    run(P, 0, GO_ON);
    make_common(P);
    run(P, 0, GO_ON);
}

SCENARIO(common_function_keeps_mode, "R23 R101", "and keeps a common mode from being empty") {
    block("f", COMMON, NULL);
    watch(DEFAULT);
    run(P, 0, GO_ON);
    run(DEFAULT, 0, GO_ON);
    run(DEFAULT, 0, GO_ON);
}

SCENARIO(function_is_no_source, "R105 R38", "a function is no handled source") {
    watch(P);
    quiet(P);
    block("f", P, NULL);
    run(P, .01, RETURN);
}

SCENARIO(nested_in_function, "R105", "a run nested in a function sees only what was queued since the batch began") {
    quiet(P);
    block("f", P, ^{
      block("h", P, NULL);
      run(P, 0, GO_ON);
    });
    block("g", P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(nested_in_function_empty, "R23 R105", "the rest of a batch keeps no mode from being empty") {
    block("f", P, ^{
      run(P, 0, GO_ON);
    });
    block("g", P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(nested_keeps_place, "R102 R105", "what a nested drain puts back stays in front") {
    quiet(P);
    quiet(Q);
    block("f", P, ^{
      block("g of Q", Q, NULL);
      block("h of P", P, ^{
        block("i of Q", Q, NULL);
      });
      run(P, 0, GO_ON);
    });
    block("j of Q", Q, NULL);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
}

SCENARIO(function_removes_last_item, "R36 R105", "a function of the last drain empties the mode") {
    watch(P);
    timer("t", PAST, 1e6, P, ^{
      block("f", P, ^{
        invalidate("t");
      });
    });
    run(P, 5, GO_ON);
}

SCENARIO(function_from_elsewhere, "R116 R102", "functions queued by another thread") {
    watch(P);
    quiet(P);
    when_asleep(^{
      block("f", P, NULL);
      block("g", P, ^{
        stop();
      });
      wake();
    });
    run(P, 5, GO_ON);
}

SCENARIO(function_before_source, "R103", "functions are performed before the sources of the iteration") {
    source("a", 0, P, ^{
      block("h", P, NULL);
    });
    signal_source("a");
    block("f", P, ^{
      block("g", P, NULL);
    });
    run(P, 0, GO_ON);
}

SCENARIO(functions_and_two_sources, "R103", "the second drain comes after the whole pass") {
    source("a", 0, P, ^{
      block("f", P, NULL);
    });
    source("b", 1, P, ^{
      block("g", P, NULL);
    });
    timer("t", PAST, 0, P, ^{
      block("h", P, NULL);
    });
    signal_source("a");
    signal_source("b");
    run(P, 0, GO_ON);
}

SCENARIO(functions_at_end_of_thread, "R8", "functions that were not performed are let go") {
    block("f", P, NULL);
    say("queued");
}

SCENARIO(no_function, "R100", "a missing function is ignored") {
    CFRunLoopPerformBlock(loop(), mode_string(P), NULL);
    run(P, 0, GO_ON);
}

SCENARIO(function_by_value, "R101 R21", "modes are compared by value") {
    quiet(P);
    block("f", "=P", NULL);
    block("g", "=P", NULL);
    run(P, 0, GO_ON);
    source("a", 0, "=P", NULL);
    contains("a", P);
    signal_source("a");
    run("=P", 0, GO_ON);
    block("h", "=kCFRunLoopDefaultMode", NULL);
    run(DEFAULT, 0, GO_ON);
}

SCENARIO(common_function_by_value, "R21 R101", "so is the pseudo-mode by functions") {
    block("f", "=kCFRunLoopCommonModes", NULL);
    run(DEFAULT, 0, GO_ON);
}
