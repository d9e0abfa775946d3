// values.h — what the library itself does with values.
#ifndef RUNLOOP_CF_VALUES_H
#define RUNLOOP_CF_VALUES_H

#include "base/base.h"

/// Ends the making of mutable data, whose first `length` bytes were stored through its pointer: it becomes immutable.
void cf__data_seal(CFMutableDataRef data, CFIndex length);

#endif // RUNLOOP_CF_VALUES_H
