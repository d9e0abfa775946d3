// scenarios.c — the table of the scenarios, which are functions of scenarios.go.
#include <signal.h>

#include "_cgo_export.h"
#include "scenarios.h"

static const struct scenario scenarios[] = {
    {"a timer", aTimer},
    {"repeating timers", repeatingTimers},
    {"a signalled source", aSignalledSource},
    {"a descriptor", aDescriptor},
    {"an observer", anObserver},
    {"calls of another goroutine", callsOfAnotherGoroutine},
    {"a loop on a thread of its own", aLoopOnAThreadOfItsOwn},
    {"a nested run", aNestedRun},
    {"a panic of a callback", aPanicOfACallback},
    {0},
};

bool try_scenarios(int word_count, char **words) {
    // Go's handler does nothing when the driver's patience is at its end.
    signal(SIGALRM, SIG_DFL);
    const struct scenario *const groups[] = {scenarios};
    struct fault_plan plan = {
        .groups = groups,
        .group_count = 1,
        // What Go's heap and its threads are made of, and how its scheduler is woken. It ends the program without.
        .spared_kinds = "mmap madvise clone clone3 write",
        .works = fires,
        .executes = true};
    return fault_plan_try(&plan, word_count, words);
}
