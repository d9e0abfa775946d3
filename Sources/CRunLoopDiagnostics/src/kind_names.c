// kind_names.c — the words for kinds, in the order of their numbers.

#include "kind_names.h"

const char *const item_kind_names[] = {"signalled source", "descriptor source", "timer", "observer"};
const char *const callout_kind_names[] = {"observer",          "timer", "signalled source",
                                          "descriptor source", "task",  "main queue"};
