// terminal.h — text of another process on the user's terminal, which it must not command.
#ifndef RUNLOOP_TOP_TERMINAL_H
#define RUNLOOP_TOP_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/// Writes UTF-8, with a question mark in the place of each byte that is none, and of each character that controls: those of C0 and C1, as
/// ESC, CSI and line ends are, those that reorder or hide text, and those that are no characters.
void terminal_write(FILE *out, const char *text, size_t length);

#endif // RUNLOOP_TOP_TERMINAL_H
