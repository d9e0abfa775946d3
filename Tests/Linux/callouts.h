// callouts.h — what is done in a call-out: the object is invalidated, the process forked, or the thread ended.
#ifndef RUNLOOP_TEST_CALLOUTS_H
#define RUNLOOP_TEST_CALLOUTS_H

#include "linux_items.h"

static enum action { INVALIDATE, FORK, EXIT } action;
static _Atomic int calls;
static pid_t child = -1;
static int child_status;

static inline void begin_calls(void) {
    calls = 0;
    child = child_status = -1;
}

/// In each call-out. The process is forked in the first one, and the thread ended.
static inline void act(runloop_source *object) {
    bool is_first = ++calls == 1;
    if (action == INVALIDATE) {
        runloop_source_invalidate(object);
    } else if (action == FORK && is_first) {
        fflush(NULL);
        child = fork();
        // The child comes first to what both have.
        EXPECT(child == 0 || waitpid(child, &child_status, 0) == child);
    } else if (action == EXIT && is_first) {
        pthread_exit(NULL);
    }
}

/// Runs until there were so many calls, and what comes too often has come. A child comes here, too, and ends.
static inline int run_through(int most) {
    int result = 0;
    while (calls < most && result >= 0)
        result = runloop_run_in_mode(MODE, 30 * SECOND, true);
    if (result >= 0)
        result = poll_mode(MODE);
    if (child == 0)
        _exit(result == -ECHILD && calls == 1 && test_failures == 0 ? 0 : 1);
    return result;
}

//===-- contexts that are counted ------------------------------------------------------------------------------------===//

static _Atomic int contexts;

static inline void *retain_context(void *info) {
    contexts++;
    return info;
}

static inline void release_context(void *info) {
    (void)info;
    contexts--;
}

#define COUNTED                                                                                                        \
    { .retain = retain_context, .release = release_context }

#endif // RUNLOOP_TEST_CALLOUTS_H
