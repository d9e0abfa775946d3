// rescan.c — looks at what is marked, and reports the difference between what the tree has and what is on the disk.

#ifdef __linux__
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "files/tree.h"

enum { ARRIVALS = IN_CREATE | IN_MOVED_TO };

/// How many marks away the other name of a move may be. The kernel writes the two next to each other.
enum { MOST_MARKS_OF_MOVE = 256 };

//===-- the disk -----------------------------------------------------------------------------------------------------===//

/// What an open of a name that is not there, or not a directory, gives.
static bool is_absence(int result) {
    return result == -ENOENT || result == -ENOTDIR || result == -ELOOP;
}

/// A directory of the tree, open (O_PATH). -ESTALE: it does not have the path that the tree has for it.
HOLDS_LOCK static int open_directory(const struct tree *tree, const struct directory *directory) {
    // One step at a time: a path may be longer than a call takes.
    size_t depth = 0;
    for (const struct tree_entry *entry = directory->entry; entry->key.parent; entry = entry->key.parent->entry)
        depth++;
    const struct directory **way = calloc(depth + 1, sizeof(const struct directory *));
    if (!way)
        return -ENOMEM;
    for (size_t i = depth; i > 0; directory = directory->entry->key.parent)
        way[i--] = directory;
    way[0] = directory;
    int opened = open_whole(tree->absolute, O_PATH | O_DIRECTORY | (tree->follows_link ? 0 : O_NOFOLLOW));
    int result = opened < 0 ? -errno : 0;
    for (size_t i = 0; result == 0; i++) {
        struct stat status;
        if (fstat(opened, &status) < 0)
            result = -errno;
        else if (status.st_ino != way[i]->inode || status.st_dev != way[i]->device)
            result = -ESTALE;
        if (result < 0 || i == depth)
            break;
        int parent = opened;
        opened = openat_whole(parent, way[i + 1]->entry->name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
        if (opened < 0)
            result = -errno;
        close(parent);
    }
    free(way);
    if (result == 0)
        return opened;
    if (opened >= 0)
        close(opened);
    return is_absence(result) ? -ESTALE : result;
}

HOLDS_LOCK static void close_opened(struct tree *tree) {
    if (tree->opened_descriptor >= 0)
        close(tree->opened_descriptor);
    tree->opened_descriptor = -1;
    tree->opened = NULL;
}

/// The directory in which an entry is, for the calls that end in "at". It stays the right one if it is moved meanwhile, so it is kept
/// while the entries looked at are in the same one.
HOLDS_LOCK static int parent_of(struct tree *tree, const struct tree_entry *entry) {
    struct directory *parent = entry->key.parent;
    if (!parent)
        return AT_FDCWD;
    if (tree->opened == parent)
        return tree->opened_descriptor;
    close_opened(tree);
    int descriptor = open_directory(tree, parent);
    if (descriptor < 0)
        return descriptor;
    tree->opened = parent;
    return tree->opened_descriptor = descriptor;
}

HOLDS_LOCK static const char *name_of(const struct tree *tree, const struct tree_entry *entry) {
    return entry == tree->root ? tree->absolute : entry->name;
}

/// 1; 0: it is not there; else a negative errno value.
HOLDS_LOCK static int status_of(struct tree *tree, const struct tree_entry *entry, struct stat *status) {
    int parent = parent_of(tree, entry);
    if (parent < 0 && parent != AT_FDCWD)
        return parent;
    int flags = entry == tree->root && tree->follows_link ? 0 : AT_SYMLINK_NOFOLLOW;
    if (fstatat(parent, name_of(tree, entry), status, flags) == 0)
        return 1;
    return is_absence(-errno) ? 0 : -errno;
}

//===-- what has changed ---------------------------------------------------------------------------------------------===//

static int64_t changed_ns(const struct stat *status) {
    return status->st_ctim.tv_sec * INT64_C(1000000000) + status->st_ctim.tv_nsec;
}

static bool is_same(const struct tree_entry *entry, const struct stat *status) {
    return entry->is_present && entry->device == status->st_dev && entry->inode == status->st_ino &&
           entry->is_directory == S_ISDIR(status->st_mode);
}

HOLDS_LOCK static void forget_contents(struct tree *tree, struct tree_entry *entry) {
    if (entry->directory)
        runloop__tree_remove_directory(tree, entry->directory);
}

HOLDS_LOCK static void remove_entry(struct tree *tree, struct tree_entry *entry) {
    forget_contents(tree, entry);
    if (entry->is_present)
        runloop__tree_tell(tree, RUNLOOP_CHANGE_REMOVED, entry, NULL, 0);
    entry->is_present = false;
}

/// It is there, and not what was there before.
HOLDS_LOCK static void take_in(struct tree *tree, struct tree_entry *entry, const struct stat *status) {
    bool was_same = is_same(entry, status);
    if (!was_same && entry->is_present && (entry->is_directory || S_ISDIR(status->st_mode)))
        remove_entry(tree, entry);
    else if (!was_same)
        forget_contents(tree, entry);
    entry->is_present = true;
    entry->is_directory = S_ISDIR(status->st_mode);
    entry->device = status->st_dev;
    entry->inode = status->st_ino;
    entry->changed_ns = changed_ns(status);
    runloop__tree_tell(tree, RUNLOOP_CHANGE_CREATED, entry, NULL, 0);
}

/// After notifications were dropped. (A directory is reported by what has changed in it.)
HOLDS_LOCK static void compare(struct tree *tree, struct tree_entry *entry, const struct stat *status) {
    if (!entry->is_directory && entry->changed_ns != changed_ns(status))
        runloop__tree_tell(tree, RUNLOOP_CHANGE_MODIFIED, entry, NULL, 0);
    entry->changed_ns = changed_ns(status);
}

HOLDS_LOCK static bool is_in_scope(const struct tree *tree, const struct tree_entry *entry) {
    return entry == tree->root || (entry->is_directory && tree->scope == RUNLOOP_WATCH_TREE);
}

/// Compares what a directory has with what the tree has. Its subdirectories are marked, so that no more than one is open at a time.
HOLDS_LOCK static int scan(struct tree *tree, struct directory *directory, int descriptor) {
    int opened = openat_whole(descriptor, ".", O_RDONLY | O_DIRECTORY);
    DIR *stream = opened < 0 ? NULL : fdopendir(opened);
    if (!stream) {
        // What has just been opened is not bad: musl says so where a sandbox refuses fcntl.
        int result = opened >= 0 && errno == EBADF ? -EACCES : -errno;
        if (opened >= 0)
            close(opened);
        return result;
    }
    uint64_t number = ++tree->scans;
    int result = 0;
    for (struct dirent *found; errno = 0, (found = readdir(stream));) {
        struct stat status;
        const char *name = found->d_name;
        bool is_dot = name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
        bool is_known = !is_dot && fstatat(opened, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
        if (is_dot || (!is_known && is_absence(-errno)))
            continue;
        struct tree_entry *entry = runloop__tree_entry(tree, directory, name);
        if (!entry) {
            result = -ENOMEM;
            break;
        }
        entry->scan = number;
        if (is_known && is_same(entry, &status))
            compare(tree, entry, &status);
        else if (is_known)
            take_in(tree, entry, &status);
        // One that could not be looked at is looked at once more, by itself, and what fails then is reported.
        if (!is_known || is_in_scope(tree, entry))
            runloop__tree_mark(tree, entry, MARK_SCAN, 0);
    }
    if (result == 0)
        result = -errno;
    closedir(stream);
    for (struct tree_entry *entry = directory->entries; entry && result == 0; entry = entry->next)
        if (entry->is_present && entry->scan != number)
            runloop__tree_mark(tree, entry, MARK_LOOK, 0);
    return result;
}

/// Whether the kernel has dropped the watch of a directory, and what it said of that was dropped, too: then it watches it anew.
HOLDS_LOCK static bool is_dropped(struct tree *tree, const struct directory *directory, int descriptor) {
    struct interest again = directory->interest;
    if (runloop__interest_begin(tree->instance, &again, descriptor, directory->interest.events) < 0)
        return false;
    bool is_other = again.of != directory->interest.of;
    runloop__interest_end(tree->instance, &again);
    return is_other;
}

/// Watches a directory that is in the scope, if it is not watched yet, and then reads it. (Of the root, also a file is watched.)
HOLDS_LOCK static int enter(struct tree *tree, struct tree_entry *entry) {
    int parent = parent_of(tree, entry);
    if (parent < 0 && parent != AT_FDCWD)
        return parent;
    int flags = O_PATH | (entry == tree->root && tree->follows_link ? 0 : O_NOFOLLOW);
    int descriptor = openat_whole(parent, name_of(tree, entry), flags);
    if (descriptor < 0)
        return is_absence(-errno) ? 0 : -errno;
    struct stat status;
    int result = fstat(descriptor, &status) < 0 ? -errno : 0;
    // It has been replaced since it was looked at; a notification of that is under way.
    bool is_other = result == 0 && !is_same(entry, &status);
    if (result == 0 && !is_other && entry->directory && is_dropped(tree, entry->directory, descriptor))
        forget_contents(tree, entry);
    if (result == 0 && !is_other && !entry->directory)
        result = runloop__tree_watch(tree, entry, descriptor);
    if (result == 0 && !is_other && entry->directory->is_read)
        result = scan(tree, entry->directory, descriptor);
    close(descriptor);
    return result;
}

//===-- moves --------------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static struct tree_entry *find_other_name(const struct tree *tree, const struct tree_entry *entry,
                                                     bool is_from, uint32_t cookie) {
    int count = 0;
    for (struct tree_entry *other = tree->first_marked; other && count < MOST_MARKS_OF_MOVE;
         other = other->next_marked, count++)
        if (other != entry && (is_from ? other->from_cookie : other->to_cookie) == cookie)
            return other;
    return NULL;
}

static bool is_below(const struct tree_entry *entry, const struct directory *directory) {
    for (; entry->key.parent; entry = entry->key.parent->entry)
        if (entry->key.parent == directory)
            return true;
    return false;
}

/// Moves what the tree has at one name to another name that has it on the disk. False: it does not.
HOLDS_LOCK static bool move(struct tree *tree, struct tree_entry *from, struct tree_entry *to) {
    struct stat status;
    if (!from->is_present || (from->directory && (!from->directory->interest.of || is_below(to, from->directory))) ||
        (to->directory && is_below(from, to->directory)) || status_of(tree, to, &status) != 1 ||
        !is_same(from, &status) || is_same(to, &status))
        return false;
    if (to->is_directory)
        remove_entry(tree, to);
    char *path = runloop__tree_path(tree, from);
    forget_contents(tree, to);
    to->is_present = true;
    to->is_directory = from->is_directory;
    to->device = from->device;
    to->inode = from->inode;
    to->changed_ns = changed_ns(&status);
    to->directory = from->directory;
    if (to->directory)
        to->directory->entry = to;
    from->directory = NULL;
    from->is_present = false;
    runloop__tree_tell(tree, RUNLOOP_CHANGE_MOVED, to, path, path ? 0 : -ENOMEM);
    return true;
}

/// If the two names of a move are both marked.
HOLDS_LOCK static void look_for_move(struct tree *tree, struct tree_entry *entry, uint32_t from_cookie,
                                     uint32_t to_cookie) {
    struct tree_entry *to = from_cookie ? find_other_name(tree, entry, false, from_cookie) : NULL;
    if (to && move(tree, entry, to)) {
        uint32_t rest = to->marks & MARKS_OF_CONTENTS;
        runloop__tree_unmark(tree, to);
        runloop__tree_mark(tree, to, is_in_scope(tree, to) && !to->directory ? MARK_LOOK : rest, 0);
    }
    struct tree_entry *from = to_cookie ? find_other_name(tree, entry, true, to_cookie) : NULL;
    if (from)
        move(tree, from, entry);
}

//===-- looks --------------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static void tell_contents(struct tree *tree, const struct tree_entry *entry, uint32_t marks) {
    if (marks & IN_MODIFY)
        runloop__tree_tell(tree, RUNLOOP_CHANGE_MODIFIED, entry, NULL, 0);
    if (marks & IN_ATTRIB)
        runloop__tree_tell(tree, RUNLOOP_CHANGE_ATTRIBUTES, entry, NULL, 0);
}

HOLDS_LOCK static int look_at_disk(struct tree *tree, struct tree_entry *entry, uint32_t marks) {
    struct stat status;
    int result = status_of(tree, entry, &status);
    if (result < 0)
        return result;
    if (result == 0) {
        remove_entry(tree, entry);
        return 0;
    }
    // The same inode with a watch that is over was freed and used again, or mounted again.
    if (entry->directory && !entry->directory->interest.of) {
        forget_contents(tree, entry);
        marks |= IN_CREATE;
    }
    if (!is_same(entry, &status) || marks & ARRIVALS)
        take_in(tree, entry, &status);
    else if (marks & MARK_SCAN)
        compare(tree, entry, &status);
    else
        tell_contents(tree, entry, marks);
    if (is_in_scope(tree, entry) && (!entry->directory || marks & MARK_SCAN))
        return enter(tree, entry);
    return 0;
}

static bool is_shortage(int result) {
    return result == -EMFILE || result == -ENFILE || result == -ENOMEM;
}

/// Looks at one entry, which is marked. -ESTALE: it can't be found now, or there was a shortage, and it is marked again.
HOLDS_LOCK static int look(struct tree *tree, struct tree_entry *entry) {
    uint32_t marks = entry->marks, from_cookie = entry->from_cookie, to_cookie = entry->to_cookie;
    runloop__tree_unmark(tree, entry);
    bool is_watched = entry->directory || !is_in_scope(tree, entry);
    if (!(marks & ~(uint32_t)MARKS_OF_CONTENTS) && entry->is_present && is_watched) {
        tell_contents(tree, entry, marks);
        return 0;
    }
    if (from_cookie || to_cookie) {
        bool was_present = entry->is_present;
        look_for_move(tree, entry, from_cookie, to_cookie);
        // The move to this place has been reported.
        if (!was_present && entry->is_present)
            marks &= ~(uint32_t)ARRIVALS;
    }
    int result = look_at_disk(tree, entry, marks);
    if (is_shortage(result))
        runloop__tree_tell(tree, RUNLOOP_CHANGE_FAILED, entry, NULL, result);
    if (result == -ESTALE || is_shortage(result)) {
        runloop__tree_mark(tree, entry, marks | (from_cookie ? IN_MOVED_FROM : 0), from_cookie);
        entry->to_cookie = to_cookie;
        return -ESTALE;
    }
    if (result < 0)
        runloop__tree_tell(tree, RUNLOOP_CHANGE_FAILED, entry, NULL, result);
    runloop__tree_free_if_unused(tree, entry);
    return result;
}

HOLDS_LOCK static void look_at_way(struct tree *tree) {
    int result = runloop__way_watch(tree);
    tree->way_is_stale = is_shortage(result);
    if (result < 0)
        runloop__tree_tell(tree, RUNLOOP_CHANGE_FAILED, tree->root, NULL, result);
    runloop__tree_mark(tree, tree->root, MARK_LOOK, 0);
}

void runloop__tree_look(struct tree *tree) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    if (tree->is_overflown) {
        tree->is_overflown = false;
        tree->way_is_stale = true;
        runloop__tree_tell(tree, RUNLOOP_CHANGE_OVERFLOW, tree->root, NULL, 0);
        runloop__tree_mark(tree, tree->root, MARK_SCAN, 0);
    }
    if (tree->way_is_stale)
        look_at_way(tree);
    // Until there is nothing, or nothing that can be found: the first of these comes round again.
    tree->first_stale = NULL;
    for (struct tree_entry *entry; (entry = tree->first_marked) && entry != tree->first_stale;) {
        if (look(tree, entry) != -ESTALE)
            tree->first_stale = NULL;
        else if (!tree->first_stale)
            tree->first_stale = entry;
    }
    close_opened(tree);
}
#endif // __linux__
