// clock_timer.h — a timer of the kernel's on a clock that can jump. Everything that this library asks of such clocks is here and
// in runloop_clock_get_now_ns: the tests, which can't set the clock of their machine, put clocks of their own in the place of
// these functions.
#ifndef RUNLOOP_CLOCK_TIMER_H
#define RUNLOOP_CLOCK_TIMER_H

#include "runloop_alarm.h"

/// A descriptor, or a negative errno value.
int runloop__clock_timer_open(runloop_clock_id clock);
/// The descriptor is readable from the instant on, by whatever the clock shows then, and not before. RUNLOOP_NEVER: not any more. A
/// negative errno value in a sandbox that refuses it.
int runloop__clock_timer_set(int timer, int64_t date_ns);
/// The descriptor, of the wall clock, is readable when that was set or the machine has resumed, again and again. -ENOSYS: the
/// kernel can't.
int runloop__clock_timer_set_for_jumps(int timer);
/// Not readable any more until the next jump.
void runloop__clock_timer_take_jump(int timer);

#endif // RUNLOOP_CLOCK_TIMER_H
