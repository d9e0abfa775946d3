// code.h — a place in the code, for people.
#ifndef RUNLOOP_CODE_TEXT_H
#define RUNLOOP_CODE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/// Any thread: the function, and its file and line or its library, from malloc; NULL for an address that is not in code, or without memory.
/// `is_return` says that the place follows a call, which is the one that is meant.
char *code_copy_description(uintptr_t code, bool is_return);

#endif // RUNLOOP_CODE_TEXT_H
