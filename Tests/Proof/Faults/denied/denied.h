// denied.h — every system call is refused at each place where a scenario makes it, and everything that a process may lack is lacking. What the
// driver (../driver.c) demands of a failure holds here, too, and that the headers list the error of the call that reports it.
#ifndef RUNLOOP_DENIED_H
#define RUNLOOP_DENIED_H

#include "../c/faults.h"

/// The calls of docs/SYSTEM-CALLS.md, with the errors that each can have.
extern const struct kind denied_calls[];
extern const int denied_call_count;
/// Those that are not refused, and why: NULL at the end.
struct spared_call {
    const char *name, *reason;
};
extern const struct spared_call spared_calls[];

/// What a process may lack.
extern const struct condition denied_conditions[];

/// Ends the process if it is what a scenario has executed.
void denied_continue_program(void);

#endif // RUNLOOP_DENIED_H
