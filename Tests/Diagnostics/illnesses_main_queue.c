// illnesses_main_queue.c — programs that don't end, or starve the main queue: what is said of them, word by word. The article
// Troubleshooting has these texts. Linked with libdispatch.
#include "../Core/main_queue.h"
#include "illnesses.h"

TEST("a program that doesn't end: the report says what keeps the run going; to a watchdog nothing is wrong") {
    watch_for_illness(NULL);
    add_named_timer("refresh", RUNLOOP_DEFAULT_MODE, 100 * MS, do_nothing);
    run_for_report(RUNLOOP_DEFAULT_MODE,
                   "run loop 0x# of the main thread: asleep in mode kCFRunLoopDefaultMode, for # s\n"
                   "  mode kCFRunLoopDefaultMode (common), the current one: a run in it goes on because of the main "
                   "dispatch queue, # sources and # timer; # observers\n"
                   "    timer “refresh”, every # s, due in # s\n");
}

static void work(void *info) {
    (void)info;
}

static void show_dialog(void *info) {
    (void)info;
    enqueue(work, NULL);
    // Until the diagnosis stops it.
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    runloop_stop(runloop_current());
}

static void show_dialog_before_more(void *info) {
    (void)info;
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    runloop_stop(runloop_current());
}

TEST("a main queue that was filled before it starved: the report and the watchdog say what may be behind") {
    runloop_set_diagnostics_enabled(false);
    watch_for_illness(
        "run loop 0x# of the main thread: asleep in mode test, for # s\n"
        "  inside work of the main dispatch queue in mode kCFRunLoopDefaultMode, for # s\n"
        "  the main dispatch queue performs several pieces of work: what is behind the one that the loop runs inside "
        "waits until it has returned\n"
        "  mode kCFRunLoopDefaultMode (common), whose run waits for the one inside it: a run in it goes on because of "
        "the main dispatch queue, # sources and # timers; # observers\n"
        "  mode test, the current one: a run in it goes on because of # sources and # timer; # observers\n"
        "    timer “dialog”, every # s, due in # s\n");
    add_named_timer("dialog", MODE, 100 * MS, do_nothing);
    enqueue(show_dialog_before_more, NULL);
    enqueue(work, NULL);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(diagnoses, 1);
    EXPECT_TEXT(sentence, "run loop 0x# of the main thread has been run for # s from inside work for the main dispatch "
                          "queue: whatever was queued behind that goes on only when it has returned.");
}

TEST("a starved main queue: the report and the watchdog say why it isn't served") {
    runloop_set_diagnostics_enabled(false);
    watch_for_illness(
        "run loop 0x# of the main thread: asleep in mode test, for # s\n"
        "  inside work of the main dispatch queue in mode kCFRunLoopDefaultMode, for # s\n"
        "  the main dispatch queue has work, which waits: the loop runs inside such work, and serves it only when that "
        "has returned\n"
        "  mode kCFRunLoopDefaultMode (common), whose run waits for the one inside it: a run in it goes on because of "
        "the main dispatch queue, # sources and # timers; # observers\n"
        "  mode test, the current one: a run in it goes on because of # sources and # timer; # observers\n"
        "    timer “dialog”, every # s, due in # s\n");
    add_named_timer("dialog", MODE, 100 * MS, do_nothing);
    enqueue(show_dialog, NULL);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(diagnoses, 1);
    EXPECT_TEXT(sentence,
                "run loop 0x# of the main thread has left work for the main dispatch queue waiting for # s: it "
                "is run from inside such work, and the queue goes on only when that has returned.");
}
