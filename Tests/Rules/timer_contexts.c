// R11, R88, R89: what timers retain, and for how long.
#include "dsl.h"

SCENARIO(timer_context, "R88", "a timer's context is released at its invalidation") {
    count_references();
    timer("t", FAR, 0, P, NULL);
    invalidate("t");
    say("invalidated");
    let_go("t");
}

SCENARIO(timer_context_freed, "R88", "or when it is freed") {
    count_references();
    timer("t", FAR, 0, P, NULL);
    take_out("t", P);
    say("removed");
    let_go("t");
}

SCENARIO(timer_bracket, "R89", "each callback is bracketed by retain and release") {
    count_references();
    timer("t", PAST, 1e6, P, NULL);
    run(P, 0, GO_ON);
    date("t", PAST);
    run(P, 0, GO_ON);
}

SCENARIO(one_shot_bracket, "R89", "and so is that of a timer that fires once") {
    count_references();
    timer("t", PAST, 0, P, NULL);
    run(P, 0, GO_ON);
}

SCENARIO(timer_kept_by_mode, "R11", "a mode keeps a timer that its creator released") {
    count_references();
    timer("t", PAST, 0, P, NULL);
    let_go("t");
    run(P, 0, GO_ON);
    say("after the run");
}
