// R41 and related rules: what one iteration does, and in which order.
#include "dsl.h"

SCENARIO(everything, "R40 R41 R42", "task, source and timer, then a sleep") {
    watch(P);
    source("a", 0, P, NULL);
    timer("t", PAST, 0, P, NULL);
    block("f", P, NULL);
    signal_source("a");
    run(P, .02, GO_ON);
}

SCENARIO(counter_return, "R38 R43", "a counter is a handled source") {
    watch(P);
    counter("a", P, NULL);
    counter("b", P, NULL);
    ready("b");
    ready("a");
    run(P, 5, RETURN);
    run(P, 5, RETURN);
    run(P, 0, RETURN);
}

SCENARIO(counters_polled, "R43 R31", "a polling run serves one event") {
    watch(P);
    counter("a", P, NULL);
    counter("b", P, NULL);
    ready("b");
    ready("a");
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(function_from_source, "R103", "a task queued by a source is performed in the same iteration") {
    watch(P);
    source("a", 0, P, ^{
      block("f", P, NULL);
    });
    signal_source("a");
    run(P, 0, RETURN);
}

SCENARIO(function_from_timer, "R103 R36", "a task queued by a timer is performed before the decision") {
    watch(P);
    quiet(P);
    timer("t", PAST, 0, P, ^{
      block("f", P, ^{
        stop();
      });
    });
    run(P, 5, GO_ON);
}

SCENARIO(function_from_counter, "R103", "a task queued by a counter's callback is performed in its iteration") {
    watch(P);
    counter("c", P, ^{
      block("f", P, NULL);
    });
    ready("c");
    run(P, 5, RETURN);
}

SCENARIO(function_from_observers, "R103 R104", "tasks queued by observers before the first drain and after the wait") {
    quiet(P);
    observer("o", "ETSAX", 0, P, ^{
      if (activity() == 'E')
          block("of E", P, NULL);
      if (activity() == 'T')
          block("of T", P, NULL);
      if (activity() == 'S')
          block("of S", P, NULL);
      if (activity() == 'A')
          block("of A", P, NULL);
      if (activity() == 'X')
          block("of X", P, NULL);
    });
    when_asleep(^{
      stop();
    });
    run(P, 5, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(source_from_source_drain, "R41 R63", "a task of the first drain signals a source of the same iteration") {
    watch(P);
    source("a", 0, P, NULL);
    block("f", P, ^{
      signal_source("a");
    });
    run(P, 5, RETURN);
}

SCENARIO(source_from_observers, "R41", "observers of T and S signal a source of the same iteration") {
    source("a", 0, P, NULL);
    source("b", 0, P, NULL);
    observer("o", "TS", 0, P, ^{
      signal_source(activity() == 'T' ? "a" : "b");
    });
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(second_drain, "R41 R103", "a task that queues another one, with and without a source between them") {
    watch(P);
    source("a", 0, P, NULL);
    block("f", P, ^{
      block("g", P, ^{
        block("h", P, NULL);
      });
    });
    signal_source("a");
    run(P, 0, GO_ON);
    block("f2", P, ^{
      block("g2", P, ^{
        block("h2", P, NULL);
      });
    });
    run(P, 0, GO_ON);
    run(P, 0, GO_ON);
}

SCENARIO(source_spares_sleep, "R41 R42", "an iteration that performed a source neither sleeps nor notifies W and A") {
    watch(P);
    source("a", 0, P, NULL);
    source("b", 1, P, ^{
      stop();
    });
    signal_source("a");
    signal_source("b");
    run(P, 5, GO_ON);
}

SCENARIO(timer_after_source, "R40 R41", "an iteration with a source still serves the timers") {
    watch(P);
    source("a", 0, P, NULL);
    timer("t", PAST, 0, P, NULL);
    signal_source("a");
    run(P, 5, RETURN);
}

SCENARIO(counter_after_source, "R40", "an iteration with a source still serves a counter") {
    watch(P);
    source("a", 0, P, NULL);
    counter("c", P, NULL);
    signal_source("a");
    ready("c");
    run(P, 5, RETURN);
    run(P, 0, RETURN);
}

SCENARIO(timers_are_one_port, "R43 R74", "all due timers are served in one iteration, without observers between") {
    watch(P);
    quiet(P);
    timer("t", PAST, 0, P, NULL);
    timer("u", PAST, 0, P, NULL);
    timer("v", PAST, 0, P, NULL);
    timer("far", FAR, 0, P, NULL);
    run(P, .02, GO_ON);
}

SCENARIO(wait_though_ready, "R42", "W and A are notified although a timer is due") {
    watch(P);
    timer("t", PAST, 0, P, ^{
      stop();
    });
    run(P, 5, GO_ON);
}
