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

/// What a process may lack from its beginning, or while failures are on, with some values.
struct condition {
    const char *name;
    const int *values; ///< -1 at the end
    /// In the process for it, before any scenario and for good. False: that can't be had here. Or NULL.
    bool (*set_up)(int value);
    /// Where failures begin, go on and pause. Or NULL.
    void (*switched)(bool is_on);
    const char *hidden;      ///< a path that is not there while failures are on; or NULL
    bool reaches_programs;   ///< programs that are started lack it as well
    bool ends_when_absorbed; ///< larger values change nothing, once three of them have changed nothing
    size_t stack;            ///< of a thread of its own for the scenario; 0: none
};

/// How a program tries its scenarios.
struct fault_plan {
    size_t size; ///< Of the structure, as the language has it: what is missing at its end is 0.
    const struct scenario *const *groups; ///< Each ends with a scenario without a name.
    size_t group_count;
    /// Kinds of calls, separated by spaces, that the language's own runtime makes as well and does not survive without; or NULL.
    const char *spared_kinds;
    /// Does a loop still work, whatever a scenario has gone through? Or NULL: that the scenario works again says it.
    bool (*works)(void);
    /// What the program may say when it ends because of a failure, which its documentation announces; ends with NULL. Or NULL.
    const char *const *announced_ends;
    int most_of_kind; ///< How many calls of a kind fail, one after the other; 0: 12.
    /// A runtime with threads of its own does not survive a fork: each failure executes the program anew.
    bool executes;
    /// May the function give the error, where that one was the kernel's (0: a condition)? Or NULL: that is not asked.
    bool (*is_documented)(const char *function, int error, int refusal);
    const struct condition *conditions; ///< The last one has no name. Or NULL.
};
/// The value of the condition that is tried.
extern int condition_value;

/// Tries all scenarios whose names contain one of the words, or are one after an equals sign, or all. The table goes to standard output. False if something is lost.
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
/// The scenario was told this error, a negative errno value; and by whom, a function of ours or the structure whose call-out it was. Of an
/// expression the first word that begins with runloop_ counts.
enum outcome told(int error);
enum outcome told_of(const char *function, int error);

#ifdef __cplusplus
}
#endif

#endif // RUNLOOP_SCENARIO_H
