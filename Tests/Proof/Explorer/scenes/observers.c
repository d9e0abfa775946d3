// observers.c — the stack of call-outs, which may grow, and so move, when another thread adds an observer.

#include <errno.h>

#include "scene.h"

static runloop *loop;
static runloop_observer *first, *removed, *last, *added;
static int notified;

static void remove_next(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    EXPECT(runloop_remove_observer(loop, removed, MODE) == 0);
    notified++;
}

static void note(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    notified++;
}

/// What has left the mode is still notified, and looking whose it is lets go of the lock.
static void notify_removed(void) {
    loop = runloop_retain(runloop_current());
    first = observer_with(RUNLOOP_ACTIVITY_ENTRY, remove_next);
    removed = observer_with(RUNLOOP_ACTIVITY_ENTRY, note);
    last = observer_with(RUNLOOP_ACTIVITY_ENTRY, note);
    added = observer_with(RUNLOOP_ACTIVITY_EXIT, note);
    runloop_observer *const observers[] = {first, removed, last};
    for (int i = 0; i < 3; i++)
        EXPECT(runloop_add_observer(loop, observers[i], MODE) == 0);
    runloop_source *source = source_with(NULL, NULL);
    EXPECT(runloop_add_source(loop, source, MODE) == 0);
    meet();
    EXPECT(runloop_run_in_mode(MODE, 0, false) == RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(notified == 3 || notified == 4);
    runloop_source_release(source);
    for (int i = 0; i < 3; i++)
        runloop_observer_release(observers[i]);
    part();
}

static void add_another(void) {
    meet();
    int result = runloop_add_observer(loop, added, MODE);
    EXPECT(result == 0 || result == -ESHUTDOWN);
    runloop_observer_release(added);
    runloop_release(loop);
}

SCENE(observer_added_while_notified, "an observer is added while another one, that has left its mode, is notified",
      .threads = {notify_removed, add_another});
