// runloop_command.h — programs that are run to their end in one call: started, fed, read and awaited. Part of runloop_linux.h, whose general
// rules hold.
//
// Both outputs are read at once, and what is beyond a limit is dropped, so the program never waits for a reader.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_COMMAND_H
#define RUNLOOP_COMMAND_H
#ifdef __linux__
#include "runloop.h"
#include "runloop_child.h"
#include "runloop_child_start.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A program that runs, as a source. Its result is reported once, and then the object is invalid.
/// Invalidated before, its pipes are closed, and it stops waiting: the process goes on, and its owner has to wait for it. It keeps its modes from
/// being empty until then. If it is in several loops, one of them reports the result.
typedef runloop_source runloop_command;

/// What becomes of output beyond the limit.
typedef enum RUNLOOP_CLOSED runloop_command_excess {
    RUNLOOP_COMMAND_DROP = 0,  ///< It is read and dropped, so that the program goes on to its end.
    RUNLOOP_COMMAND_CLOSE = 1, ///< The pipe is closed: the program is sent SIGPIPE, or gets EPIPE, when it writes more.
} runloop_command_excess;

/// Whether an output is all that was written.
typedef enum RUNLOOP_CLOSED runloop_command_output_end {
    RUNLOOP_COMMAND_COMPLETE = 0,   ///< It is.
    RUNLOOP_COMMAND_OVER_LIMIT = 1, ///< There was more than the limit, or than memory sufficed for.
    /// Another process still had the pipe when `output_limit_ns` had passed, and may write more; or the pipe can't be read, in a sandbox.
    RUNLOOP_COMMAND_CUT_OFF = 2,
} runloop_command_output_end;

/// What a program has written to one of its outputs. All zeros, and "", for one that the program did not have from the command.
typedef struct runloop_command_output {
    const char *bytes;              ///< The first ones, followed by a null that is not counted.
    size_t count;                   ///< How many they are.
    uint64_t dropped;               ///< How many more were read.
    runloop_command_output_end end; ///< Whether that is all.
} runloop_command_output;

/// What has become of a program.
typedef struct runloop_command_result {
    int32_t pid;                   ///< The process has been reaped: the number may be in use again.
    runloop_child_exit exit;       ///< How it has ended.
    runloop_command_output output; ///< Of its descriptor 1.
    runloop_command_output error;  ///< Of its descriptor 2.
    size_t input_left; ///< How much of the input it has not taken. What the pipe had at its end counts as taken.
    bool timed_out;    ///< `timeout_ns` had passed before it ended.
} runloop_command_result;

/// The configuration of a command, which is copied, with the input.
typedef struct runloop_command_config {
    runloop_context context;
    /// The program; `child` is all zeros. Of its descriptors 0, 1 and 2, those that are not listed are the command's: 0 is a pipe with the input,
    /// or /dev/null if that is NULL; 1 and 2 are pipes, which are read.
    runloop_child_start_config start;
    const void *input;
    size_t input_count;
    size_t limit; ///< How much is kept of each output, in bytes.
    runloop_command_excess excess;
    /// In nanoseconds, from the start or the addition to a loop on: how long it may run. Then it is ended, by SIGTERM and, after five seconds, by
    /// SIGKILL, and if it leads a process group of its own, its group is. 0: no limit.
    int64_t timeout_ns;
    /// In nanoseconds: how long after the program's end another process may have its pipes, one that it has left in the background. Then what
    /// is in them is read, and they are cut off. 0: two seconds; RUNLOOP_NEVER: as long as it takes.
    int64_t output_limit_ns;
    /// On the loop's thread, in the modes of the source, once, when the program has ended and its outputs have. The result is valid during the
    /// call. May be NULL.
    void (*RUNLOOP_SENDABLE ended)(runloop_command *command, const runloop_command_result *result, void *info);
    /// After each removal from a mode, as of any source; at the end of its loop, too. May be NULL.
    void (*RUNLOOP_SENDABLE cancel)(runloop_command *command, runloop *loop, const char *mode, void *info);
} runloop_command_config;

/// Starts a program, and makes the object for it, in no loop yet: the program runs, and is fed, read and reaped when the object is in a mode that
/// runs. Any thread. The thread sleeps until the program is executed, as by runloop_child_start. After an error there is no child, and what it
/// is about is in `start.failed`. O(input, and what the child has).
/// Errors: those of runloop_child_start; -EINVAL: also a negative time, and `input_count` without an input; -ENOSPC.
RUNLOOP_EXPORT int runloop_command_create(const runloop_command_config *config, runloop_command **out);

/// The number of the process. O(1).
RUNLOOP_EXPORT int32_t runloop_command_get_pid(runloop_command *command);

/// Ends a program politely before its end, as runloop_child_end_by does with a child. Its result is reported as ever.
/// Errors: -ESRCH: a loop has seen its end, or it was reaped; -EPERM: it may not be signalled by this process; -EINVAL: no steps, more than
/// eight, no signal, or a negative pause, or a process whose group is to be signalled and that leads none; -ECHILD.
RUNLOOP_EXPORT int runloop_command_end_by(runloop_command *command, const runloop_child_step *steps, size_t count,
                                          bool of_group);

/// Runs a program to its end, and sleeps meanwhile, without a loop: no call-out of any loop comes on this thread. `context`, `ended` and
/// `cancel` are not used, and the input is not copied. If the thread is cancelled, the program is killed. Any thread. O(what it writes).
/// Returns: 0: the result is the caller's: free it by runloop_command_result_free.
/// Errors: those of runloop_command_create.
RUNLOOP_EXPORT int runloop_command_run(const runloop_command_config *config, runloop_command_result *out);
/// Frees what a result has, and makes it zeros. Twice has the effect of once. O(1).
RUNLOOP_EXPORT void runloop_command_result_free(runloop_command_result *result);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_COMMAND_H
