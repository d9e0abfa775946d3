// runloop_code.h — the names and lines of a program's code, for reports. Part of runloop_diagnostics.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CODE_H
#define RUNLOOP_CODE_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The name of the function that contains `code`, from the symbol tables in the file of its library or of the program. Names of Swift are as in
/// the source if the process has the Swift runtime; those of C++ are mangled. Without a name, the file and the address in it for a
/// symbolizer, as "FILE+0xADDRESS". Any thread, but no signal handler: it allocates, waits for a dlopen that changes the list of
/// libraries, and reads the file, which stays mapped. O(symbols).
/// Returns: a text from malloc, which the caller frees; NULL for an address that is not in code, and if memory ran out.
RUNLOOP_EXPORT char *runloop_copy_code_name(const void *code);

/// The line of the source that `code` was compiled from, by the .debug_line section of its library or of the program (DWARF 3 to 5, not
/// compressed), and in `*file` and `*directory` its file, valid as long as the process. For the return address of a call, ask for the
/// byte before it. Any thread, as above. The first call for a library or the program reads all of its lines; after that O(log lines).
/// Returns: the line; 0, and nothing is written, for an address that is not in code, and without that section.
RUNLOOP_EXPORT unsigned runloop_find_code_line(const void *code, const char **directory, const char **file);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_CODE_H
