// faults.c — scenarios of Tests/Proof/Faults: each of their allocations and of their calls of the kernel fails once, and some from then on.
#include "../Proof/Faults/c/faults.h"
#include "test.h"

/// A sanitizer's allocator does not survive failures of these. It also takes its time, which is left to the scenario that has most in it.
#ifndef SPARED_KINDS
#define SPARED_KINDS NULL
#endif
static const char *const spared_kinds = SPARED_KINDS;

static void try_all(const struct scenario *const *groups, size_t count) {
    test_end_after(600);
    need_proc();
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(!injector_open());
    REQUIRE(waitpid(child, &status, 0) == child);
    if (status != 0)
        LEAVE_OUT("A thread can't be asked about the calls of others here.");
    runloop_set_diagnostics_enabled(false);
    fault_table_is_short = true;
    struct fault_plan plan = {
        .size = sizeof plan, .groups = groups, .group_count = count, .spared_kinds = spared_kinds, .works = fires};
    char *most_of_it = "everything";
    EXPECT(fault_plan_try(&plan, spared_kinds ? 1 : 0, &most_of_it));
}

TEST("R121 the core reports each failure or does without, leaks nothing, and its loop works") {
    const struct scenario *const groups[] = {core_scenarios};
    try_all(groups, 1);
}

TEST("the library for Linux reports each failure or does without, leaks nothing, and its loop works") {
    if (spared_kinds)
        LEAVE_OUT("Under a sanitizer the core's scenario stands for all.");
    const struct scenario *const groups[] = {linux_scenarios, stream_scenarios, message_scenarios};
    try_all(groups, 3);
}
