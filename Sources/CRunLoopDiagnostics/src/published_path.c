// published_path.c — the folder of published processes.

#ifdef __linux__
#include "published_path.h"
#include "runloop_bionic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int published_folder(char *folder, size_t size, bool is_to_be_made) {
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    bool has_runtime = runtime && runtime[0] == '/';
    int length = has_runtime ? snprintf(folder, size, "%s", runtime)
                             : snprintf(folder, size, "/tmp/" PUBLISHED_PREFIX "%u", (unsigned)geteuid());
    if (length < 0 || (size_t)length >= size)
        return -ENAMETOOLONG;
    if (has_runtime)
        return 0;
    if (is_to_be_made && mkdir(folder, S_IRWXU) && errno != EEXIST)
        return -errno;
    // Anybody may have made it before.
    struct stat file;
    if (lstat(folder, &file))
        return -errno;
    bool is_ours = S_ISDIR(file.st_mode) && file.st_uid == geteuid() && (file.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    return is_ours ? 0 : -EPERM;
}
#endif // __linux__
