// start.h — the start of a program: what the parent prepares, and what the child says of its failure.
#ifndef RUNLOOP_START_H
#define RUNLOOP_START_H

#include <limits.h>

#include "process/foreground.h"
#include "runloop_child_start.h"

/// A process that was started.
struct process {
    int32_t pid;
    int pidfd;
    struct foreground foreground;
};

/// A descriptor of the child.
struct place {
    int number;
    int source; ///< the parent's, which becomes it, and which the child may move out of the way; -1: what exec leaves there
    int opened;     ///< what was opened for it, and is closed when the child has been started; -1
    int parent_end; ///< of a pipe; -1
    runloop_child_descriptor asked;
};

/// In memory that parent and child share, also where a sanitizer or an emulator makes a fork of it. The parent writes it before there is a
/// child, and reads it when that has executed the program or ended.
struct start {
    const runloop_child_start_config *config;
    const char *program;
    char *const *environment;
    const char *search_path; ///< NULL: the program is a path
    int32_t parent;
    int pidfd;
    int32_t group;
    int terminal;          ///< which the child controls from a session of its own, or has the foreground of; -1: none
    bool has_own_terminal; ///< which is new
    struct foreground foreground;
    // What the child has failed at. 0: it has not.
    int error;
    const char *subject;   ///< at what: a path, or a noun for `number`
    int number;            ///< -1: none
    char path[PATH_MAX];   ///< the last file that was tried
    char denied[PATH_MAX]; ///< the first that was found and may not be executed
    size_t place_count;
    struct place places[]; ///< ordered by number
};

/// Starts a program. `prepare` makes what the process is for, when it is known that the descriptors are open which are asked for, and before
/// anything else is opened: after the start nothing fails any more. What it made is the caller's after an error as well. The thread is not
/// cancelled meanwhile. A negative errno value, and what it is about in `failed`.
int runloop__start(const runloop_child_start_config *config, int (*prepare)(void *info), void *info,
                   struct process *out);
/// Kills a process that nobody is to have, and waits for its end.
void runloop__start_undo(struct process *process);

/// Orders the descriptors that are asked for, and finds what they are made of. A negative errno value, and what it is about in `start`.
int runloop__places_plan(struct start *start);
/// Opens what they need.
int runloop__places_open(struct start *start);
/// Closes what is the child's by now, and what the caller gets only if there is a child.
void runloop__places_close(struct start *start, bool succeeded);

/// In the child: executes the program, or notes why not and ends. For clone.
int runloop__start_execute(void *start);

#endif // RUNLOOP_START_H
