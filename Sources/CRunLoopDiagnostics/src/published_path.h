// published_path.h — where processes are published unless they say where. runloop-top looks there, too.
#ifndef RUNLOOP_PUBLISHED_PATH_H
#define RUNLOOP_PUBLISHED_PATH_H

#include <stdbool.h>
#include <stddef.h>

/// The names of the sockets, with a process's id between.
#define PUBLISHED_PREFIX "runloop-"
#define PUBLISHED_SUFFIX ".sock"

/// The folder of published processes. If it is to be made, it is, and it must be this user's alone. 0, -EPERM, -ENAMETOOLONG, or why it
/// can't be made.
int published_folder(char *folder, size_t size, bool is_to_be_made);

#endif // RUNLOOP_PUBLISHED_PATH_H
