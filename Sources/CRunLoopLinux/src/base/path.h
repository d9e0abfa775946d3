// path.h — paths that are used later, when the process may have another working directory.
#ifndef RUNLOOP_PATH_H
#define RUNLOOP_PATH_H

/// The path from the root, from malloc, without slashes at the end: what it names does not change with the working directory. NULL: see errno.
char *runloop__absolute_path(const char *path);

#endif // RUNLOOP_PATH_H
