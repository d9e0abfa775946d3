// start.h — the start of a program: what the parent prepares, and what the child says of its failure.
#ifndef RUNLOOP_START_H
#define RUNLOOP_START_H

#include <limits.h>

#include "runloop_child_start.h"

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
    // What the child has failed at. 0: it has not.
    int error;
    const char *subject;   ///< at what: a path, or a noun for `number`
    int number;            ///< -1: none
    char path[PATH_MAX];   ///< the last file that was tried
    char denied[PATH_MAX]; ///< the first that was found and may not be executed
    size_t place_count;
    struct place places[]; ///< ordered by number
};

/// In the child: executes the program, or notes why not and ends. For clone.
int runloop__start_execute(void *start);

#endif // RUNLOOP_START_H
