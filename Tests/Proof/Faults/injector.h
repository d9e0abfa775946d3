// injector.h — one call of the kernel or of the allocator that fails, in the process that asks for it.
#ifndef RUNLOOP_INJECTOR_H
#define RUNLOOP_INJECTOR_H

#include <stdbool.h>

#include "scenario.h"

/// A kind of call, and the errors that it may plausibly have. Kind 0 is the allocator.
struct kind {
    const char *name;
    long number;
    int errors[6];
    /// With this error from some call on, a descriptor is left whose number seems to stand for a file of the program's by now.
    int leaves_descriptor;
    bool is_needed; ///< no program starts where it is refused for good
};
extern const struct kind *kinds;
extern int kind_count;
/// Takes the place of the usual ones. `refuses`: what removes something fails as well, as in a sandbox that refuses the whole call.
void injector_use(const struct kind *table, int count, bool refuses);

/// The `number`-th call of the kind fails, from 1; 0: none. `stays`: and all after it.
struct fault {
    int kind, number, error;
    bool stays;
    const struct condition *condition; ///< or no call fails, but `number` is the value of this
};
/// Do programs that are started now lack what they need, by the condition? What they then do is their own.
bool injector_starves_programs(void);

/// Once in a process, before any scenario. False if this kernel can't.
bool injector_open(void);
/// What is called where failures begin (true) and pause; and a folder or file that is not there meanwhile. Or NULL.
extern void (*injector_switched)(bool is_on);
extern const char *injector_hidden;
void injector_set(struct fault fault);
/// No further call fails.
void injector_clear(void);
/// Calls of the kind since `begin_faults`; and whether the one that was to fail has been made.
int injector_count(int kind);
bool injector_struck(void);
/// Is the error of a call that of the failure, where that has one name only? A loop that could not be made has no error but -ENOMEM, and what
/// fcntl was asked for may be told otherwise.
bool injector_fits(int error);
/// Blocks of the allocator that are not freed yet.
int injector_live_blocks(void);
/// What the last call of `told` or `told_of` was given. The function, or the structure with its call-outs: "" after `told`.
int injector_told_error(void);
const char *injector_told_function(void);

/// The test's own: a failure here is a fault of the test.
#define MUST(condition) ((condition) ? (void)0 : must_not_fail(#condition, __FILE__, __LINE__))
_Noreturn void must_not_fail(const char *condition, const char *file, int line);

#endif // RUNLOOP_INJECTOR_H
