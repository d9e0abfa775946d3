// way.c — the way to the path: each directory in which a name of it is, links included, is watched before the name is looked up.

#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"

enum { EVENTS_ON_WAY = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB, MOST_LINKS = 40 };

/// A walk along the path.
struct walk {
    int directory; ///< open (O_PATH)
    char *rest;    ///< the names that follow, from malloc
    int links;
    int last_result; ///< of the last step's watch
};

static int add_step(struct tree *tree, struct walk *walk, const char *name) {
    int wd = runloop__watch_descriptor(tree->inotify, walk->directory, EVENTS_ON_WAY);
    walk->last_result = wd < 0 ? wd : 0;
    // A directory that may be passed but not read has no watch.
    if (wd < 0 && wd != -EACCES)
        return wd;
    struct step *steps = realloc(tree->steps, (tree->step_count + 1) * sizeof *steps);
    char *copy = strdup(name);
    if (steps)
        tree->steps = steps;
    if (!steps || !copy) {
        free(copy);
        return -ENOMEM;
    }
    steps[tree->step_count++] = (struct step){wd < 0 ? -1 : wd, copy};
    return 0;
}

/// Takes the first name off the rest: "" at the end. `name` has the size of the longest name.
static bool next_name(struct walk *walk, char *name) {
    size_t skipped = strspn(walk->rest, "/");
    size_t length = strcspn(walk->rest + skipped, "/");
    // A longer name can't exist.
    if (length > NAME_MAX)
        return false;
    memcpy(name, walk->rest + skipped, length);
    name[length] = 0;
    memmove(walk->rest, walk->rest + skipped + length, strlen(walk->rest + skipped + length) + 1);
    return length > 0;
}

/// Goes to a directory that is open: a negative errno value closes nothing.
static int enter(struct walk *walk, int directory) {
    if (directory < 0)
        return -errno;
    close(walk->directory);
    walk->directory = directory;
    return 0;
}

static int follow(struct walk *walk, const char *target) {
    if (++walk->links > MOST_LINKS)
        return -ELOOP;
    char *rest = NULL;
    if (asprintf(&rest, "%s/%s", target, walk->rest) < 0)
        return -ENOMEM;
    free(walk->rest);
    walk->rest = rest;
    return target[0] == '/' ? enter(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

/// Walks until the end of the path, or until there is nothing to walk on: then that step will tell of what comes.
static int walk_on(struct tree *tree, struct walk *walk) {
    char name[NAME_MAX + 1], target[PATH_MAX];
    int result = 0;
    while (result == 0 && next_name(walk, name)) {
        bool is_last = walk->rest[strspn(walk->rest, "/")] == 0;
        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") != 0) {
            result = add_step(tree, walk, name);
            if (result < 0)
                return result;
        }
        ssize_t length = !is_last || tree->follows_link ? readlinkat(walk->directory, name, target, PATH_MAX - 1) : -1;
        if (length >= 0) {
            target[length] = 0;
            result = follow(walk, target);
        } else if (!is_last) {
            result = enter(walk, openat(walk->directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        }
    }
    bool is_short = result == -EMFILE || result == -ENFILE || result == -ENOMEM;
    return is_short ? result : walk->last_result;
}

int runloop__way_watch(struct tree *tree) {
    struct step *former = tree->steps;
    size_t former_count = tree->step_count;
    tree->steps = NULL;
    tree->step_count = 0;
    tree->way_is_stale = false;
    struct walk walk = {.directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), .rest = strdup(tree->absolute)};
    int result = walk.directory < 0 ? -errno : !walk.rest ? -ENOMEM : walk_on(tree, &walk);
    if (walk.directory >= 0)
        close(walk.directory);
    free(walk.rest);
    for (size_t i = 0; i < former_count; i++) {
        if (former[i].wd >= 0)
            runloop__tree_end_wd(tree, former[i].wd);
        free(former[i].name);
    }
    free(former);
    return result;
}

bool runloop__way_contains(const struct tree *tree, int wd, const char *name) {
    for (size_t i = 0; i < tree->step_count; i++)
        if (tree->steps[i].wd == wd && (!name || strcmp(tree->steps[i].name, name) == 0))
            return true;
    return false;
}

void runloop__way_end(struct tree *tree) {
    for (size_t i = 0; i < tree->step_count; i++)
        free(tree->steps[i].name);
    free(tree->steps);
    tree->steps = NULL;
    tree->step_count = 0;
}
