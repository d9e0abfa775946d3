// input_set.h — what an input waits for: an epoll set with its descriptor, and, while there is something to do without that, an eventfd that
// is always readable, the stirrer.
#ifndef RUNLOOP_INPUT_SET_H
#define RUNLOOP_INPUT_SET_H

#include <stdbool.h>

struct input_set {
    int set;         ///< -1: none
    int stirrer;     ///< -1 before it is needed
    bool is_stirred; ///< the stirrer is in the set
};

/// Makes the set, with the descriptor in it; or, if the kernel can't watch that (`is_always_ready`), with the stirrer. A negative errno
/// value: what was made is to be closed as well.
int runloop__input_set_open(struct input_set *set, int descriptor, bool *is_always_ready);
void runloop__input_set_close(struct input_set *set);

/// There is a stirrer then. -EMFILE, -ENFILE, -ENOMEM.
int runloop__input_set_reserve(struct input_set *set);
/// Makes the set readable in any case, or no more. As above, and -ENOSPC.
int runloop__input_set_stir(struct input_set *set, bool stirs);

#endif // RUNLOOP_INPUT_SET_H
