// child.h — children, for the files that make them.
#ifndef RUNLOOP_CHILD_OBJECT_H
#define RUNLOOP_CHILD_OBJECT_H

#include "process/start.h"
#include "runloop_child.h"

/// Makes a child of a pidfd, which is the child's from now on, also after an error. An errno value in its place is the result.
int runloop__child_make(const runloop_child_config *config, int pidfd, runloop_child **out);
/// Has the process of a pidfd ended? Then how, and it is reaped if it is to be.
bool runloop__child_take_exit(int pidfd, bool reaps, runloop_child_exit *exit);
/// Gives a child that nobody knows yet its process, which is the child's from now on. The pidfd takes the place of the descriptor that it was
/// made with. What it was asked to have is still open.
void runloop__child_begin(runloop_child *child, const struct process *process,
                          const runloop_child_start_config *config);

#endif // RUNLOOP_CHILD_OBJECT_H
