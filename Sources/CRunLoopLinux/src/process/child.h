// child.h — children, for those who make them.
#ifndef RUNLOOP_CHILD_OBJECT_H
#define RUNLOOP_CHILD_OBJECT_H

#include "runloop_child.h"

/// Makes a child of a pidfd, which is the child's from now on, also after an error. An errno value in its place is the result.
int runloop__child_make(const runloop_child_config *config, int pidfd, runloop_child **out);
/// Gives a child that nobody knows yet its process. The pidfd takes the place of the descriptor that it was made with.
void runloop__child_begin(runloop_child *child, int32_t pid, int pidfd);

#endif // RUNLOOP_CHILD_OBJECT_H
