// call_frame.h — what .eh_frame says of a place in the code: where the caller's registers are.
#ifndef RUNLOOP_CALL_FRAME_H
#define RUNLOOP_CALL_FRAME_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

// DWARF's numbers of the registers.
#if defined(__x86_64__)
enum { BASE_REGISTER = 6, STACK_REGISTER = 7 };
#elif defined(__aarch64__)
enum { BASE_REGISTER = 29, STACK_REGISTER = 31 };
#else
// What another processor does with its registers is not known here: numbers that none has.
enum { BASE_REGISTER = 0x10000, STACK_REGISTER = 0x10001 };
#endif

enum saved { SAVED_NOWHERE, SAVED_IN_ITSELF, SAVED_AT_FRAME, SAVED_AT_REGISTER, SAVED_UNKNOWN };

/// A value in memory, or where there is none.
struct place {
    enum saved saved;
    int from; ///< the register that SAVED_AT_REGISTER counts from
    int64_t offset;
};

/// Of the function's frame, and of its caller's registers. The frame's address is that of the stack before the call.
struct call_frame {
    struct place
        frame; ///< SAVED_IN_ITSELF: the register's value and the offset are the address, else it is in memory there
    struct place base, code;
    uintptr_t function;  ///< where it begins
    bool is_interrupted; ///< the caller was interrupted by a signal, and has made no call
};

/// `code` is in the image. False if that has no note of it, or one that is not understood.
bool call_frame_find(const struct dl_phdr_info *image, uintptr_t code, struct call_frame *out);

#endif // RUNLOOP_CALL_FRAME_H
