// R24 and R106 to R110: the main thread and its dispatch queue. Each scenario has a process of its own.
#include "dsl.h"

#include <dispatch/dispatch.h>

static void to_main(const char *name, action body) {
    dispatch_async(dispatch_get_main_queue(), ^{
      say("%s", name);
      if (body)
          body();
    });
}

MAIN_SCENARIO(main_default_never_empty, "R24", "the main default mode is never empty") {
    watch(DEFAULT);
    run(DEFAULT, 0, GO_ON);
    timed_run(DEFAULT, .02, GO_ON);
    finished(DEFAULT);
    elsewhere(^{
      finished(DEFAULT);
    });
    run(P, 0, GO_ON);
}

MAIN_SCENARIO(main_private_mode, "R106", "a run in a mode that isn't common doesn't serve the main queue") {
    watch(P);
    quiet(P);
    to_main("block", NULL);
    run(P, .02, RETURN);
    run(DEFAULT, 0, RETURN);
}

MAIN_SCENARIO(main_common_mode, "R106", "a run in another common mode does") {
    make_common(P);
    watch(P);
    quiet(P);
    to_main("block", NULL);
    run(P, 5, RETURN);
}

MAIN_SCENARIO(main_batch, "R107", "blocks are served as one batch; blocks that they queue come later") {
    watch(DEFAULT);
    to_main("f", ^{
      to_main("h", ^{
        stop();
      });
    });
    to_main("g", NULL);
    run(DEFAULT, 5, GO_ON);
}

MAIN_SCENARIO(main_stop_in_batch, "R107", "a stop in a batch ends the run after it") {
    watch(DEFAULT);
    to_main("f", ^{
      stop();
    });
    to_main("g", NULL);
    run(DEFAULT, 5, GO_ON);
}

MAIN_SCENARIO(main_polled, "R107 R43", "a polling run serves the main queue") {
    watch(DEFAULT);
    to_main("f", NULL);
    run(DEFAULT, 0, GO_ON);
    run(DEFAULT, 0, RETURN);
}

MAIN_SCENARIO(main_block_from_source, "R108", "a block that a source queues") {
    watch(DEFAULT);
    source("a", 0, DEFAULT, ^{
      to_main("f", ^{
        stop();
      });
    });
    signal_source("a");
    run(DEFAULT, 5, GO_ON);
}

MAIN_SCENARIO(main_requeues_itself, "R108", "a block that queues itself again doesn't starve a timer") {
    __block int count = 0;
    __block action again = NULL;
    watch(DEFAULT);
    again = Block_copy(^{
      if (++count == 2)
          timer("t", PAST, 0, DEFAULT, ^{
            stop();
          });
      to_main("block", again);
    });
    to_main("block", again);
    run(DEFAULT, 5, GO_ON);
    Block_release(again);
}

MAIN_SCENARIO(main_requeues_itself_counter, "R108 R43", "nor a counter") {
    __block int count = 0;
    __block action again = NULL;
    watch(DEFAULT);
    counter("c", DEFAULT, ^{
      stop();
    });
    again = Block_copy(^{
      if (++count == 2)
          ready("c");
      to_main("block", again);
    });
    to_main("block", again);
    run(DEFAULT, 5, GO_ON);
    Block_release(again);
}

MAIN_SCENARIO(main_nested_in_block, "R109", "a run nested in a block neither serves nor counts the queue") {
    watch(DEFAULT);
    to_main("f", ^{
      run(DEFAULT, 5, GO_ON);
    });
    to_main("g", NULL);
    run(DEFAULT, 5, RETURN);
    run(DEFAULT, .01, GO_ON);
}

MAIN_SCENARIO(main_nested_in_block_with_item, "R109",
              "a run nested in a block sleeps to its limit though blocks are queued") {
    watch(DEFAULT);
    quiet(DEFAULT);
    to_main("f", ^{
      to_main("h", NULL);
      timed_run(DEFAULT, .02, GO_ON);
    });
    to_main("g", NULL);
    run(DEFAULT, 5, RETURN);
    run(DEFAULT, 5, RETURN);
}

MAIN_SCENARIO(main_nested_in_source, "R109", "a run nested in a source's callback serves the queue") {
    watch(DEFAULT);
    source("a", 0, DEFAULT, ^{
      run(DEFAULT, 5, RETURN);
    });
    signal_source("a");
    to_main("f", NULL);
    run(DEFAULT, 5, RETURN);
}

MAIN_SCENARIO(main_nested_in_timer, "R109", "so does one nested in a timer's") {
    watch(DEFAULT);
    timer("t", PAST, 0, DEFAULT, ^{
      to_main("f", NULL);
      run(DEFAULT, 5, RETURN);
    });
    run(DEFAULT, .02, GO_ON);
}

MAIN_SCENARIO(main_from_elsewhere, "R110", "a block from another thread wakes the main loop") {
    watch(DEFAULT);
    when_asleep(^{
      to_main("f", NULL);
    });
    run(DEFAULT, 5, RETURN);
}

MAIN_SCENARIO(main_sync_from_elsewhere, "R110", "also a block that the other thread waits for") {
    watch(DEFAULT);
    elsewhere(^{
      dispatch_async(dispatch_get_global_queue(0, 0), ^{
        dispatch_sync(dispatch_get_main_queue(), ^{
          say("f");
          stop();
        });
      });
    });
    observer("o", "W", 0, P, NULL);
    run_default();
}

MAIN_SCENARIO(main_function_and_block, "R103 R107", "a block queues a task, a task queues a block") {
    watch(DEFAULT);
    to_main("block", ^{
      block("f", DEFAULT, ^{
        to_main("second block", ^{
          stop();
        });
      });
    });
    run(DEFAULT, 5, GO_ON);
}

MAIN_SCENARIO(main_identity, "R1 R2", "the main thread's loop is the main loop") {
    say("%s", CFRunLoopGetCurrent() == CFRunLoopGetMain() ? "the same" : "another");
    all_modes();
}

MAIN_SCENARIO(main_stop_and_run, "R27 R46", "CFRunLoopRun on the main thread until it is stopped") {
    watch(DEFAULT);
    when_asleep(^{
      to_main("f", NULL);
    });
    when_asleep(^{
      stop();
    });
    run_default();
}
