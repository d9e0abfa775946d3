// What bindgen reads: runloop.h, and those of its constants whose macros are casts, as values, since it evaluates no casts.
#include "runloop.h"

enum {
    value_of_never = RUNLOOP_NEVER,
    value_of_forever = RUNLOOP_FOREVER,
};
#undef RUNLOOP_NEVER
#undef RUNLOOP_FOREVER
static const int64_t RUNLOOP_NEVER = value_of_never;
static const int64_t RUNLOOP_FOREVER = value_of_forever;
