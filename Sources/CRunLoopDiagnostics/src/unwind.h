// unwind.h — from a function of another thread to its caller, by what the compiler has noted for exceptions (.eh_frame).
#ifndef RUNLOOP_UNWIND_H
#define RUNLOOP_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A part of a thread's stack as it was at one moment.
struct stack_copy {
    uintptr_t begin; ///< where it was
    size_t size;
    _Alignas(uintptr_t) char bytes[256 * 1024];
};

/// From `begin`, the stack pointer, as far as the copy and the stack go. Also in a signal handler.
void copy_stack(struct stack_copy *copy, uintptr_t begin);

/// A function that a thread has entered and not left.
struct frame {
    const struct stack_copy *copy; ///< read in place of that part of the stack, or NULL
    uintptr_t code;                ///< the instruction that comes next: for a caller, the one after its call
    uintptr_t stack;               ///< the stack pointer there
    uintptr_t base;                ///< the frame pointer there, if `has_base`
    bool has_base;
    bool is_caller; ///< `code` follows a call, which may be the last instruction of the function
};

/// Moves the frame to its caller. The thread is not stopped: what the copy does not have is read by a system call, which fails where there is no
/// memory by now, and what is found in that way is valid if the thread has not run since. False at the outermost function, and where nothing is
/// noted.
bool unwind(struct frame *frame);

/// Is there code of the program or of a library at that address?
bool is_code(uintptr_t address);

#endif // RUNLOOP_UNWIND_H
