// command.h — a program that is run to its end: what it has, and one step of it, which a loop makes or a thread.
#ifndef RUNLOOP_LINUX_COMMAND_H
#define RUNLOOP_LINUX_COMMAND_H

#include "base/lock.h"
#include "base/object.h"
#include "commands/collected.h"
#include "process/child.h"
#include "process/ending.h"
#include "process/start.h"

struct command {
    struct object object; ///< of one that a loop runs
    struct steady_lock lock;
    void (*ended)(runloop_command *command, const runloop_command_result *result, void *info);
    int set;
    struct process process; ///< its pidfd is open until the object is freed
    int64_t timeout_ns, output_limit_ns;
    bool leads_group;
    // What follows is guarded by the lock.
    int input_descriptor; ///< -1: it has taken everything, or no more
    const char *input;
    char *input_copy; ///< NULL: the input is the caller's
    size_t input_left;
    struct collected outputs[2];
    bool has_ended;
    bool timed_out;
    runloop_child_exit exit;
    int64_t timeout_due_ns, output_due_ns; ///< RUNLOOP_NEVER: not counted, or passed
    struct ending ending;
};

static inline struct ended_process process_of(const struct command *command) {
    return (struct ended_process){.pidfd = command->process.pidfd, .pid = command->process.pid, .is_ours = true};
}

static inline int64_t later(int64_t now_ns, int64_t duration_ns) {
    int64_t instant_ns;
    return __builtin_add_overflow(now_ns, duration_ns, &instant_ns) ? RUNLOOP_NEVER : instant_ns;
}

static inline bool has_output(const struct command *command) {
    return command->outputs[0].descriptor >= 0 || command->outputs[1].descriptor >= 0;
}

//===-- its steps (command_steps.c), under the lock ------------------------------------------------------------------===//

void runloop__command_close_pipes(struct command *command);
/// Does what can be done now. true: it is over.
bool runloop__command_step(struct command *command, int64_t now_ns);
/// When to come next, though nothing is ready.
int64_t runloop__command_next_due(struct command *command, int64_t now_ns);

#endif // RUNLOOP_LINUX_COMMAND_H
