// fatal.c — ends a program that broke a rule in a way that cannot be repaired.

#ifdef __linux__
#include <unistd.h>

#include "base/base.h"

void runloop__fatal(const char *sentence) {
    ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
    written += write(STDERR_FILENO, "\n", 1);
    (void)written;
    abort();
}
#endif // __linux__
