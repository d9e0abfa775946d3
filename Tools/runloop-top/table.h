// table.h — a sample as lines for people.
#ifndef RUNLOOP_TOP_TABLE_H
#define RUNLOOP_TOP_TABLE_H

#include <stdio.h>

#include "sample.h"

/// A line for each loop, below one that names the columns. Rates and shares are those since `before`; for loops that it doesn't have,
/// since their statistics were started. Lines have `width` bytes at most, for which the columns that tell least are left out, and end with
/// `end`; at most `height` are written.
void table_write(FILE *out, const struct sample *sample, const struct sample *before, int width, int height,
                 const char *end);

#endif // RUNLOOP_TOP_TABLE_H
