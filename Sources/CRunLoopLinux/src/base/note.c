// note.c — diagnostics on standard error, and the language in which a program calls what they name.

#ifdef __linux__
#include "base/note.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern void *swift_retain(void *object) __attribute__((weak));

enum language runloop__language(void) {
    if (swift_retain || dlsym(RTLD_DEFAULT, "swift_retain"))
        return LANGUAGE_SWIFT;
    return dlsym(RTLD_DEFAULT, "Py_IsInitialized") ? LANGUAGE_PYTHON : LANGUAGE_C;
}

void runloop__write_note(const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    static const char after[] = " (Written once. RUNLOOP_DIAGNOSTICS=0 in the environment, or "
                                "runloop_set_diagnostics_enabled(false), disables diagnostics.)\n";
    if (length < 0 || (size_t)length + sizeof after > sizeof text)
        return;
    memcpy(text + length, after, sizeof after);
    // A single write, so that no other output comes between. Its failure could be reported to nobody.
    ssize_t count = write(STDERR_FILENO, text, (size_t)length + sizeof after - 1);
    (void)count;
}
#endif // __linux__
