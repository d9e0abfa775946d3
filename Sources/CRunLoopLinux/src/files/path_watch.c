// path_watch.c — the way to the path: each directory in which a name of it is, links included, is watched before the name is looked up.
//
// Other users' files may be in such a directory, and each notification of them would wake the loop. So what has the name is watched as well, and
// then the directory for less: a file that is moved, or loses a name, reports that itself. Only a directory that is open does not report when
// it is removed. So the directory above is asked about the last one that there is, and about no other, since only an empty one can go.

#ifdef __linux__
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "files/tree.h"

enum { MOST_LINKS = 40 };

/// What a directory is watched for at first, and what has the name.
enum {
    EVENTS_ON_WAY = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB,
    EVENTS_OF_STEP = IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB,
};

/// What a directory is watched for, if the name is there and is watched itself; if that is an empty directory; and if it is not there. The first is
/// something that does not happen to the entries.
enum {
    EVENTS_BESIDE_NAME = IN_MOVE_SELF,
    EVENTS_ABOVE_EMPTY = IN_DELETE | IN_MOVED_TO,
    EVENTS_BEFORE_NAME = IN_CREATE | IN_MOVED_TO,
};

/// A walk along the path.
struct walk {
    int directory; ///< open (O_PATH)
    char *rest;    ///< the names that follow, from malloc
    char *target;  ///< space for what a link says, PATH_MAX bytes from malloc
    int links;
    int last_result;   ///< of the last step's watch
    struct step *last; ///< of the tree's
    int above;         ///< the directory of the last step, if what has the name is one itself; -1: none
    bool has_entered;  ///< `directory` is what has that name
    bool is_public;    ///< anybody may change its entries, and the attributes of each would be reported
};

/// The last step's directory is watched for less. `is_empty`: what has its name may be.
HOLDS_LOCK static void finish_above(struct tree *tree, struct walk *walk, bool is_empty) {
    if (walk->above < 0)
        return;
    uint32_t events = (is_empty ? EVENTS_ABOVE_EMPTY : EVENTS_BESIDE_NAME) | (walk->is_public ? IN_ATTRIB : 0);
    runloop__interest_narrow(tree->instance, &walk->last->directory, walk->above, events);
    close(walk->above);
    walk->above = -1;
}

/// Watches what has the name of the step that follows the last one, if it is there. -ENOMEM.
HOLDS_LOCK static int watch_own(struct tree *tree, struct walk *walk, struct step *step) {
    struct stat status;
    int own = openat_whole(walk->directory, step->name, O_PATH | O_NOFOLLOW);
    bool is_there = own >= 0 || errno != ENOENT;
    finish_above(tree, walk, !walk->has_entered || !is_there);
    bool is_known = own >= 0 && fstat(own, &status) == 0, is_directory = is_known && S_ISDIR(status.st_mode);
    walk->is_public = is_directory && status.st_mode & S_IWOTH;
    int result = 0;
    if (is_known)
        result = runloop__interest_begin(tree->instance, &step->own, own,
                                         EVENTS_OF_STEP & ~(walk->is_public ? (uint32_t)IN_ATTRIB : 0));
    if (own >= 0)
        close(own);
    // What can't be watched itself leaves everything to its directory.
    if (!step->directory.of || (is_there && !step->own.of))
        return result == -ENOMEM ? result : 0;
    if (is_directory)
        walk->above = fcntl(walk->directory, F_DUPFD_CLOEXEC, 0);
    else
        runloop__interest_narrow(tree->instance, &step->directory, walk->directory,
                                 is_there ? EVENTS_BESIDE_NAME : EVENTS_BEFORE_NAME);
    return 0;
}

/// Of the directory in which the name is.
HOLDS_LOCK static bool note(struct interest *interest, const struct inotify_event *event, const char *name) {
    const struct step *step = LIST_ENTRY(interest, struct step, directory);
    bool concerns = event->mask & IN_IGNORED || (event->mask & EVENTS_ON_WAY && strcmp(step->name, name) == 0);
    interest->tree->way_is_stale |= concerns;
    return concerns;
}

/// Of what has the name.
HOLDS_LOCK static bool note_own(struct interest *interest, const struct inotify_event *event, const char *name) {
    bool concerns = event->mask & (EVENTS_OF_STEP | IN_IGNORED) && *name == 0;
    interest->tree->way_is_stale |= concerns;
    return concerns;
}

HOLDS_LOCK static int add_step(struct tree *tree, struct walk *walk, const char *name) {
    size_t size = strlen(name) + 1;
    struct step *step = malloc(sizeof *step + size);
    if (!step)
        return -ENOMEM;
    *step = (struct step){.directory = {.tree = tree, .note = note}, .own = {.tree = tree, .note = note_own}};
    memcpy(step->name, name, size);
    walk->last_result = runloop__interest_begin(tree->instance, &step->directory, walk->directory, EVENTS_ON_WAY);
    // A directory that may be passed but not read has no watch.
    if (walk->last_result < 0 && walk->last_result != -EACCES) {
        free(step);
        return walk->last_result;
    }
    int result = watch_own(tree, walk, step);
    *(walk->last ? &walk->last->next : &tree->steps) = step;
    walk->last = step;
    return result;
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
    return target[0] == '/' ? enter(walk, open_whole("/", O_PATH | O_DIRECTORY)) : 0;
}

/// Walks until the end of the path, or until there is nothing to walk on: then that step will report what comes.
HOLDS_LOCK static int walk_on(struct tree *tree, struct walk *walk) {
    char name[NAME_MAX + 1];
    int result = 0;
    while (result == 0 && next_name(walk, name)) {
        bool is_last = walk->rest[strspn(walk->rest, "/")] == 0;
        if (strcmp(name, ".") == 0)
            continue;
        bool is_up = strcmp(name, "..") == 0;
        if (!is_up) {
            result = add_step(tree, walk, name);
            if (result < 0)
                return result;
        }
        walk->has_entered = false;
        ssize_t length =
            !is_last || tree->follows_link ? readlinkat(walk->directory, name, walk->target, PATH_MAX - 1) : -1;
        if (length >= 0) {
            walk->target[length] = 0;
            result = follow(walk, walk->target);
        } else if (!is_last) {
            result = enter(walk, openat_whole(walk->directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
            walk->has_entered = result == 0 && !is_up;
        }
    }
    bool is_short = result == -EMFILE || result == -ENFILE || result == -ENOMEM;
    return is_short ? result : walk->last_result;
}

/// Frees steps, and ends the watches of the kernel that nothing else needs.
HOLDS_LOCK static void end_steps(struct tree *tree, struct step *step) {
    for (struct step *next; step; step = next) {
        next = step->next;
        runloop__interest_end(tree->instance, &step->directory);
        runloop__interest_end(tree->instance, &step->own);
        free(step);
    }
}

int runloop__way_watch(struct tree *tree) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    struct step *former = tree->steps;
    // They keep what the kernel watches, which the walk finds again, but not the events.
    for (struct step *step = former; step; step = step->next) {
        runloop__interest_narrow(tree->instance, &step->directory, -1, 0);
        runloop__interest_narrow(tree->instance, &step->own, -1, 0);
    }
    tree->steps = NULL;
    tree->way_is_stale = false;
    struct walk walk = {.directory = open_whole("/", O_PATH | O_DIRECTORY),
                        .rest = strdup(tree->absolute),
                        .target = malloc(PATH_MAX),
                        .above = -1};
    int result = walk.directory < 0 ? -errno : !walk.rest || !walk.target ? -ENOMEM : walk_on(tree, &walk);
    finish_above(tree, &walk, true);
    if (walk.directory >= 0)
        close(walk.directory);
    free(walk.rest);
    free(walk.target);
    end_steps(tree, former);
    return result;
}

void runloop__tree_empty(struct tree *tree) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    end_steps(tree, tree->steps);
    tree->steps = NULL;
    if (tree->root && tree->root->directory)
        runloop__tree_remove_directory(tree, tree->root->directory);
}
#endif // __linux__
