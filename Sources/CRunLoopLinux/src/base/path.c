// path.c — the path of something from the root.

#ifdef __linux__
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *runloop__absolute_path(const char *path) {
    char *current = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
    char *absolute = NULL;
    if (current && asprintf(&absolute, "%s/%s", current, path) < 0)
        absolute = NULL;
    free(current);
    for (size_t length = absolute ? strlen(absolute) : 0; length > 1 && absolute[length - 1] == '/'; length--)
        absolute[length - 1] = 0;
    return absolute;
}
#endif // __linux__
