// R100 to R105: tasks, which are blocks in CoreFoundation's interface.
#include "dsl.h"

SCENARIO(first_in_first_out, "R102", "tasks are performed in the order in which they were queued") {
    quiet(P);
    block("f", P, NULL);
    block("g", P, NULL);
    block("h", P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(other_mode_keeps_place, "R102", "a task that doesn't match keeps its position ahead of later ones") {
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

SCENARIO(function_in_function, "R102", "a task queued by a task is performed in the next drain") {
    watch(P);
    quiet(P);
    block("f", P, ^{
      block("h", P, NULL);
    });
    block("g", P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(function_of_several_modes, "R23 R100 R101", "a task of several modes keeps them from being empty, once") {
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

SCENARIO(function_of_no_mode, "R100", "a task of no mode is never performed") {
    quiet(P);
    block("f", "", NULL);
    run(P, 0, GO_ON);
    run(DEFAULT, 0, GO_ON);
}

SCENARIO(function_makes_modes, "R14 R100", "tasks create the modes that they name") {
    block("f", "P,Q", NULL);
    all_modes();
}

SCENARIO(function_keeps_mode, "R23", "a queued task keeps a mode from being empty, once") {
    watch(P);
    block("f", P, NULL);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(function_of_other_mode, "R23", "a task of another mode doesn't") {
    watch(P);
    block("f", Q, NULL);
    run(P, 0, GO_ON);
    run(Q, 0, GO_ON);
}

SCENARIO(common_function, "R101", "a task of the pseudo-mode is performed in a common mode") {
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

SCENARIO(common_function_later, "R101", "also in a mode that became common later") {
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

SCENARIO(function_is_no_source, "R105 R38", "a task is not a handled source") {
    watch(P);
    quiet(P);
    block("f", P, NULL);
    run(P, .01, RETURN);
}

SCENARIO(nested_in_function, "R105", "a run nested in a task performs only tasks queued since the batch began") {
    quiet(P);
    block("f", P, ^{
      block("h", P, NULL);
      run(P, 0, GO_ON);
    });
    block("g", P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(nested_in_function_empty, "R23 R105", "the rest of a batch doesn't keep a mode from being empty") {
    block("f", P, ^{
      run(P, 0, GO_ON);
    });
    block("g", P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(nested_keeps_place, "R102 R105", "tasks that a nested drain leaves keep their position") {
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

SCENARIO(function_removes_last_item, "R36 R105", "a task of the last drain empties the mode") {
    watch(P);
    timer("t", PAST, 1e6, P, ^{
      block("f", P, ^{
        invalidate("t");
      });
    });
    run(P, 5, GO_ON);
}

SCENARIO(function_from_elsewhere, "R116 R102", "tasks queued by another thread") {
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

SCENARIO(function_before_source, "R103", "tasks are performed before the sources of the iteration") {
    source("a", 0, P, ^{
      block("h", P, NULL);
    });
    signal_source("a");
    block("f", P, ^{
      block("g", P, NULL);
    });
    run(P, 0, GO_ON);
}

SCENARIO(functions_and_two_sources, "R103", "the second drain comes after the whole dispatch of sources") {
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

SCENARIO(functions_at_end_of_thread, "R8", "tasks that were not performed are released") {
    block("f", P, NULL);
    say("queued");
}

SCENARIO(no_function, "R100", "a missing block is ignored") {
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

SCENARIO(common_function_by_value, "R21 R101", "and so is the pseudo-mode of tasks") {
    block("f", "=kCFRunLoopCommonModes", NULL);
    run(DEFAULT, 0, GO_ON);
}
