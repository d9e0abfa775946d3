// collected.h — an output of a program: what is kept of it, and whether that is all.
#ifndef RUNLOOP_COLLECTED_H
#define RUNLOOP_COLLECTED_H

#include "runloop_command.h"

struct collected {
    int descriptor; ///< -1: at its end, or not there
    char *bytes;    ///< NULL: none, or space for `capacity` and a null
    char *scratch;  ///< where the rest is read; NULL: nothing was dropped yet
    size_t count, capacity, limit;
    uint64_t dropped;
    bool closes_at_limit;
    runloop_command_output_end end;
};

/// Reads what is there, though not for ever. Whether it is over: then the descriptor is to be closed.
bool runloop__collected_read(struct collected *output);
/// Reads what is there now, and no more. Without its end by then the rest is cut off.
void runloop__collected_cut_off(struct collected *output);
/// Its bytes remain the output's.
runloop_command_output runloop__collected_get(const struct collected *output);

#endif // RUNLOOP_COLLECTED_H
