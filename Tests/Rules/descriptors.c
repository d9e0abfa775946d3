// R68 to R73: descriptor sources.
#include "dsl.h"

SCENARIO(counter_reset, "R69", "several writes cause one call, and the callback finds the counter reset") {
    watch(P);
    counter("c", P, NULL);
    ready("c");
    ready("c");
    ready("c");
    run(P, .02, GO_ON);
}

SCENARIO(counter_writes_itself, "R71", "a counter made ready in its own callback is served again") {
    __block int count = 0;
    watch(P);
    counter("c", P, ^{
      if (++count < 3)
          ready("c");
      else
          stop();
    });
    ready("c");
    run(P, 5, GO_ON);
}

SCENARIO(counters_alternate, "R71 R43", "and is served after those that were ready before it") {
    __block int count = 0;
    counter("c", P, ^{
      if (++count < 3)
          ready("c");
    });
    counter("d", P, ^{
      if (count == 3)
          stop();
      else
          ready("d");
    });
    ready("c");
    ready("d");
    run(P, 5, GO_ON);
}

SCENARIO(counter_ready_when_added, "R71", "a counter that is ready when it is added is served") {
    counter("c", NULL, NULL);
    ready("c");
    add("c", P);
    run(P, 5, RETURN);
}

SCENARIO(no_port_at_all, "R68", "a source without a port is a member that is never called") {
    watch(P);
    no_port("n", P);
    contains("n", P);
    run(P, 0, GO_ON);
    run(P, .01, GO_ON);
    take_out("n", P);
    run(P, .01, GO_ON);
}

SCENARIO(signal_on_counter, "R72", "signalling a descriptor source calls nothing") {
    watch(P);
    counter("c", P, NULL);
    signal_source("c");
    run(P, 0, GO_ON);
    run(P, .01, GO_ON);
}

SCENARIO(counter_silent, "R72", "a descriptor source has neither schedule nor cancel") {
    loud();
    counter("c", P, NULL);
    contains("c", P);
    take_out("c", P);
    contains("c", P);
    add("c", P);
    invalidate("c");
    is_valid("c");
    contains("c", P);
    describe_item("c");
}

SCENARIO(counter_removed, "R73", "a removed counter isn't called until it is added again") {
    quiet(P);
    counter("c", P, NULL);
    take_out("c", P);
    ready("c");
    run(P, .01, RETURN);
    add("c", P);
    run(P, 5, RETURN);
}

SCENARIO(counter_of_other_mode, "R43 R73", "a ready counter of another mode waits") {
    watch(P);
    quiet(P);
    counter("c", Q, NULL);
    ready("c");
    run(P, .02, GO_ON);
    run(Q, 5, RETURN);
}

SCENARIO(counter_in_two_modes, "R73", "an event goes to whichever mode runs") {
    counter("c", P, NULL);
    add("c", Q);
    ready("c");
    run(Q, 0, RETURN);
    run(P, 0, RETURN);
    ready("c");
    run(P, 0, RETURN);
    run(Q, 0, RETURN);
}

SCENARIO(counter_in_nested_run, "R26 R71", "a counter in a run nested in another counter's callback") {
    counter("c", P, ^{
      run(P, 0, GO_ON);
    });
    counter("d", P, NULL);
    ready("c");
    ready("d");
    run(P, 0, RETURN);
    run(P, 0, RETURN);
}

SCENARIO(counter_invalidates_itself, "R67 R36", "a counter that invalidates itself") {
    watch(P);
    counter("c", P, ^{
      invalidate("c");
    });
    ready("c");
    run(P, 5, GO_ON);
}

SCENARIO(counter_removes_another, "R43 R73", "a counter that removes a ready one") {
    watch(P);
    counter("c", P, ^{
      take_out("d", P);
    });
    counter("d", P, NULL);
    ready("c");
    ready("d");
    run(P, .02, GO_ON);
}

SCENARIO(common_counter, "R18 R43", "a counter in all common modes") {
    make_common(P);
    counter("c", COMMON, NULL);
    ready("c");
    run(P, 0, RETURN);
    ready("c");
    run(DEFAULT, 0, RETURN);
    make_common(Q);
    ready("c");
    run(Q, 0, RETURN);
}

SCENARIO(pipe_bytes, "R69", "the data of a pipe is left to its owner") {
    watch(P);
    pipe_source("p", P, ^{
      say("the pipe is ready");
      stop();
    });
    ready("p");
    run(P, 5, GO_ON);
}
