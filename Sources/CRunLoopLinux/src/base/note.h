// note.h — diagnostics on standard error.
#ifndef RUNLOOP_NOTE_H
#define RUNLOOP_NOTE_H

/// The languages in which a program may know this library, and by whose names a diagnostic calls things. Others have those of C.
enum language { LANGUAGE_C, LANGUAGE_SWIFT, LANGUAGE_PYTHON };
/// That of this program.
enum language runloop__language(void);
/// Writes a sentence, and how diagnostics are disabled. The caller has checked that they are enabled, and calls once for a subject.
__attribute__((format(printf, 1, 2))) void runloop__write_note(const char *format, ...);

#endif // RUNLOOP_NOTE_H
