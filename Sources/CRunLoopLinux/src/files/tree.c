// tree.c — entries by name, directories by wd, and marks.

#define _FILE_OFFSET_BITS 64
#include "files/tree.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS_IN_DIRECTORY = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_ATTRIB,
    EVENTS_OF_FILE = IN_MODIFY | IN_ATTRIB,
};

//===-- entries ------------------------------------------------------------------------------------------------------===//

static int compare_entries(const void *a, const void *b) {
    const struct entry_key *one = a, *other = b;
    if (one->parent != other->parent)
        return (uintptr_t)one->parent < (uintptr_t)other->parent ? -1 : 1;
    return strcmp(one->name, other->name);
}

struct tree_entry *runloop__tree_entry(struct tree *tree, struct directory *parent, const char *name) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    const struct entry_key key = {parent, name};
    void *found = tfind(&key, &tree->names, compare_entries);
    if (found)
        return *(struct tree_entry **)found;
    size_t size = strlen(name) + 1;
    struct tree_entry *entry = calloc(1, sizeof *entry + size);
    if (!entry)
        return NULL;
    memcpy(entry->name, name, size);
    entry->key = (struct entry_key){parent, entry->name};
    if (!tsearch(&entry->key, &tree->names, compare_entries)) {
        free(entry);
        return NULL;
    }
    if (parent) {
        entry->next = parent->entries;
        if (entry->next)
            entry->next->previous = entry;
        parent->entries = entry;
    }
    return entry;
}

HOLDS_LOCK static void free_entry(struct tree *tree, struct tree_entry *entry) {
    runloop__tree_unmark(tree, entry);
    tdelete(&entry->key, &tree->names, compare_entries);
    if (entry->next)
        entry->next->previous = entry->previous;
    if (entry->previous)
        entry->previous->next = entry->next;
    else if (entry->key.parent)
        entry->key.parent->entries = entry->next;
    free(entry);
}

void runloop__tree_free_if_unused(struct tree *tree, struct tree_entry *entry) {
    if (!entry->is_present && !entry->marks && entry != tree->root)
        free_entry(tree, entry);
}

void runloop__tree_mark(struct tree *tree, struct tree_entry *entry, uint32_t marks, uint32_t cookie) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    if (!marks)
        return;
    if (!entry->marks) {
        entry->next_marked = NULL;
        entry->previous_marked = tree->last_marked;
        if (tree->last_marked)
            tree->last_marked->next_marked = entry;
        else
            tree->first_marked = entry;
        tree->last_marked = entry;
    }
    entry->marks |= marks;
    if (marks & IN_MOVED_FROM)
        entry->from_cookie = cookie;
    if (marks & IN_MOVED_TO)
        entry->to_cookie = cookie;
}

void runloop__tree_unmark(struct tree *tree, struct tree_entry *entry) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    if (!entry->marks)
        return;
    if (tree->first_stale == entry)
        tree->first_stale = NULL;
    entry->marks = entry->from_cookie = entry->to_cookie = 0;
    *(entry->previous_marked ? &entry->previous_marked->next_marked : &tree->first_marked) = entry->next_marked;
    *(entry->next_marked ? &entry->next_marked->previous_marked : &tree->last_marked) = entry->previous_marked;
}

//===-- directories --------------------------------------------------------------------------------------------------===//

static int compare_directories(const void *a, const void *b) {
    const struct directory *one = a, *other = b;
    return (one->wd > other->wd) - (one->wd < other->wd);
}

HOLDS_LOCK static struct directory **find_directories(struct tree *tree, int wd) {
    const struct directory key = {.wd = wd};
    return tfind(&key, &tree->directories, compare_directories);
}

struct directory *runloop__tree_directory(struct tree *tree, int wd) {
    struct directory **found = find_directories(tree, wd);
    return found ? *found : NULL;
}

static int watch_exactly(int inotify, int descriptor, uint32_t events) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int wd = inotify_add_watch(inotify, path, events);
    return wd < 0 ? -errno : wd;
}

int runloop__watch_descriptor(int inotify, int descriptor, uint32_t events) {
    return watch_exactly(inotify, descriptor, events | IN_MASK_ADD);
}

HOLDS_LOCK static uint32_t needed_by(struct tree *tree, int wd) {
    uint32_t events = 0;
    for (const struct step *step = tree->steps; step < tree->steps + tree->step_count; step++)
        events |= (step->wd == wd ? step->events : 0) | (step->own_wd == wd ? step->own_events : 0);
    for (const struct directory *directory = runloop__tree_directory(tree, wd); directory; directory = directory->next)
        events |= directory->events;
    return events;
}

/// Of all trees.
HOLDS_LOCK static uint32_t needed(struct tree *tree, int wd) {
    uint32_t events = needed_by(tree, wd);
    const struct link *trees = &tree->instance->trees;
    for (struct link *link = trees->next; link != trees; link = link->next)
        events |= needed_by(LINK_OWNER(link, struct tree, in_instance), wd);
    return events;
}

void runloop__tree_narrow(struct tree *tree, int wd, int descriptor) {
    uint32_t events = needed(tree, wd);
    if (events)
        watch_exactly(tree->inotify, descriptor, events);
}

HOLDS_LOCK static int add_directory(struct tree *tree, struct directory *directory) {
    struct directory **first = tsearch(directory, &tree->directories, compare_directories);
    if (!first)
        return -ENOMEM;
    if (*first != directory) {
        directory->next = (*first)->next;
        (*first)->next = directory;
    }
    return 0;
}

int runloop__tree_watch(struct tree *tree, struct tree_entry *entry, int descriptor) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    struct stat status;
    if (fstat(descriptor, &status) < 0)
        return -errno;
    bool is_read = S_ISDIR(status.st_mode) && tree->scope != RUNLOOP_WATCH_FILE;
    // Of a directory that is not read, its entries would be told.
    uint32_t events = is_read ? EVENTS_IN_DIRECTORY : S_ISDIR(status.st_mode) ? IN_ATTRIB : EVENTS_OF_FILE;
    int wd = runloop__watch_descriptor(tree->inotify, descriptor, events);
    if (wd < 0)
        return wd;
    struct directory *directory = calloc(1, sizeof *directory);
    if (directory)
        *directory = (struct directory){.wd = wd,
                                        .is_read = is_read,
                                        .events = events,
                                        .device = status.st_dev,
                                        .inode = status.st_ino,
                                        .entry = entry};
    if (!directory || add_directory(tree, directory) < 0) {
        runloop__tree_end_wd(tree, wd);
        free(directory);
        return -ENOMEM;
    }
    entry->directory = directory;
    return 0;
}

void runloop__tree_forget_wd(struct tree *tree, int wd) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    struct directory *directory = runloop__tree_directory(tree, wd);
    if (!directory)
        return;
    tdelete(directory, &tree->directories, compare_directories);
    for (struct directory *next; directory; directory = next) {
        next = directory->next;
        directory->wd = -1;
        directory->next = NULL;
        runloop__tree_mark(tree, directory->entry, MARK_LOOK, 0);
    }
}

void runloop__tree_end_wd(struct tree *tree, int wd) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    if (tree->inotify >= 0 && needed(tree, wd) == 0)
        inotify_rm_watch(tree->inotify, wd);
}

HOLDS_LOCK static void remove_from_directories(struct tree *tree, struct directory *directory) {
    struct directory **first = find_directories(tree, directory->wd);
    if (*first != directory) {
        struct directory *previous = *first;
        while (previous->next != directory)
            previous = previous->next;
        previous->next = directory->next;
    } else if (directory->next) {
        *first = directory->next;
    } else {
        tdelete(directory, &tree->directories, compare_directories);
        runloop__tree_end_wd(tree, directory->wd);
    }
}

/// Ends the watch of one that has no entries any more.
HOLDS_LOCK static void free_directory(struct tree *tree, struct directory *directory) {
    if (tree->opened == directory)
        tree->opened = NULL;
    if (directory->wd >= 0)
        remove_from_directories(tree, directory);
    directory->entry->directory = NULL;
    free(directory);
}

void runloop__tree_remove_directory(struct tree *tree, struct directory *top) {
    // Not a recursion, since a tree may be deeper than a stack.
    for (struct directory *directory = top; directory;) {
        struct tree_entry *entry = directory->entries;
        if (entry && entry->directory) {
            directory = entry->directory;
            continue;
        }
        if (entry) {
            if (entry->is_present)
                runloop__tree_tell(tree, RUNLOOP_CHANGE_REMOVED, entry, NULL, 0);
            free_entry(tree, entry);
            continue;
        }
        struct directory *parent = directory == top ? NULL : directory->entry->key.parent;
        free_directory(tree, directory);
        directory = parent;
    }
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

/// The path from the root, without slashes at the end. NULL: see errno.
static char *absolute_path(const char *path) {
    char *current = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
    char *absolute = NULL;
    if (current && asprintf(&absolute, "%s/%s", current, path) < 0)
        absolute = NULL;
    free(current);
    for (size_t length = absolute ? strlen(absolute) : 0; length > 1 && absolute[length - 1] == '/'; length--)
        absolute[length - 1] = 0;
    return absolute;
}

int runloop__tree_begin(struct tree *tree, struct instance *instance, const runloop_watch_config *config) {
    *tree = (struct tree){.instance = instance, .inotify = instance->inotify, .opened_descriptor = -1, .is_new = true};
    link_insert_before(&instance->trees, &tree->in_instance);
    tree->scope = config->scope;
    tree->follows_link = config->follows_link;
    tree->absolute = absolute_path(config->path);
    int error = errno;
    tree->path = strdup(config->path);
    int result = !tree->absolute ? -error : !tree->path ? -ENOMEM : 0;
    if (result == 0 && strlen(tree->absolute) >= PATH_MAX)
        result = -ENAMETOOLONG;
    tree->root = result == 0 ? runloop__tree_entry(tree, NULL, "") : NULL;
    if (result == 0 && !tree->root)
        result = -ENOMEM;
    return result;
}

void runloop__tree_end(struct tree *tree) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    if (tree->root) {
        if (tree->root->directory)
            runloop__tree_remove_directory(tree, tree->root->directory);
        free_entry(tree, tree->root);
    }
    // The others are those of a forked child's parent, which may have been changing the ring.
    if (tree->instance->generation == runloop_fork_generation())
        link_remove(&tree->in_instance);
    free(tree->absolute);
    free(tree->path);
}

//===-- what is told -------------------------------------------------------------------------------------------------===//

char *runloop__tree_path(const struct tree *tree, const struct tree_entry *entry) {
    size_t length = strlen(tree->path);
    // "/" is followed by no further slash.
    bool ends_in_slash = tree->path[length - 1] == '/';
    length -= ends_in_slash;
    for (const struct tree_entry *e = entry; e->key.parent; e = e->key.parent->entry)
        length += 1 + strlen(e->name);
    if (entry == tree->root)
        return strdup(tree->path);
    char *path = malloc(length + 1);
    if (!path)
        return NULL;
    path[length] = 0;
    for (const struct tree_entry *e = entry; e->key.parent; e = e->key.parent->entry) {
        size_t size = strlen(e->name);
        memcpy(path + (length -= size), e->name, size);
        path[--length] = '/';
    }
    memcpy(path, tree->path, length);
    return path;
}

void runloop__tree_tell(struct tree *tree, runloop_change_kind kind, const struct tree_entry *entry, char *from,
                        int error) {
    if (!tree->changes || (tree->is_new && kind != RUNLOOP_CHANGE_FAILED)) {
        free(from);
        return;
    }
    const runloop_change change = {
        .kind = kind,
        .path = runloop__tree_path(tree, entry),
        .from = from,
        .error = error,
        .is_directory = entry->is_directory,
    };
    runloop__changes_add(tree->changes, &change);
}
