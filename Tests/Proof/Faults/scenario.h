// scenario.h — what a scenario is, in each language that can call C. driver.c says what must come of its failures.
#ifndef RUNLOOP_SCENARIO_H
#define RUNLOOP_SCENARIO_H

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// AS_EXPECTED: the scenario cannot tell that anything failed. TOLD: a call, or a call-out, gave an error. LOST: neither.
enum outcome { AS_EXPECTED, TOLD, LOST };

struct scenario {
    const char *name;
    enum outcome (*run)(void);
    bool spares_allocations; ///< the C library itself does not survive failures of those that it makes here
};

/// How a program tries its scenarios.
struct fault_plan {
    const struct scenario *const *groups; ///< Each ends with a scenario without a name.
    size_t group_count;
    /// Kinds of calls, separated by spaces, that the language's own runtime makes as well and does not survive without; or NULL.
    const char *spared_kinds;
    /// Does a loop still work, whatever a scenario has gone through? Or NULL: that the scenario works again says it.
    bool (*works)(void);
    /// What the program may say when it ends because of a failure, which its documentation announces; ends with NULL. Or NULL.
    const char *const *announced_ends;
    /// A runtime with threads of its own does not survive a fork: each failure executes the program anew.
    bool executes;
};

/// Tries all scenarios whose names contain one of the words, or all. The table goes to standard output. False if something is lost.
bool fault_plan_try(const struct fault_plan *plan, int word_count, char **words);
/// The table has only what may not be.
extern bool fault_table_is_short;

/// Failures begin here, or go on: what the scenario does before is its own.
void begin_faults(void);
/// What the scenario does itself in between does not fail.
void pause_faults(void);
/// Nor does what a child of its own does.
void leave_alone(pid_t pid);
/// After an allocation that fails all others fail, too.
void let_memory_run_out(void);
/// The scenario was told this error, a negative errno value.
enum outcome told(int error);

#ifdef __cplusplus
}
#endif

#endif // RUNLOOP_SCENARIO_H
