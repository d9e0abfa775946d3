// tree.c — entries by name, directories, marks, and what notifications mark.

#ifdef __linux__
#define _FILE_OFFSET_BITS 64
#include "files/tree.h"
#include "base/path.h"

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

/// Marks what a notification of a directory is about.
HOLDS_LOCK static bool note(struct interest *interest, const struct inotify_event *event, const char *name) {
    struct tree *tree = interest->tree;
    struct directory *directory = LIST_ENTRY(interest, struct directory, interest);
    struct tree_entry *entry = directory->entry;
    uint32_t marks = event->mask & IN_ALL_EVENTS;
    if (event->mask & IN_IGNORED) {
        marks = MARK_LOOK;
    } else if (*name == 0) {
        // Below the root, the notification for the directory has the name.
        marks &= entry == tree->root ? (uint32_t)MARKS_OF_CONTENTS : 0;
    } else if (!directory->is_read) {
        return false;
    } else if (!(entry = runloop__tree_entry(tree, directory, name))) {
        tree->is_overflown = true;
        return true;
    }
    runloop__tree_mark(tree, entry, marks, event->cookie);
    return marks != 0;
}

int runloop__tree_watch(struct tree *tree, struct tree_entry *entry, int descriptor) {
    ASSERT_HOLDS(&tree->instance->lock.lock);
    struct stat status;
    if (fstat(descriptor, &status) < 0)
        return -errno;
    bool is_read = S_ISDIR(status.st_mode) && tree->scope != RUNLOOP_WATCH_FILE;
    // In a directory that is not read, every entry would be reported as new.
    uint32_t events = is_read ? EVENTS_IN_DIRECTORY : S_ISDIR(status.st_mode) ? IN_ATTRIB : EVENTS_OF_FILE;
    struct directory *directory = malloc(sizeof *directory);
    if (!directory)
        return -ENOMEM;
    *directory = (struct directory){.interest = {.tree = tree, .note = note},
                                    .is_read = is_read,
                                    .device = status.st_dev,
                                    .inode = status.st_ino,
                                    .entry = entry};
    int result = runloop__interest_begin(tree->instance, &directory->interest, descriptor, events);
    if (result < 0)
        free(directory);
    else
        entry->directory = directory;
    return result;
}

/// Ends the watch of one that has no entries any more.
HOLDS_LOCK static void free_directory(struct tree *tree, struct directory *directory) {
    if (tree->opened == directory)
        tree->opened = NULL;
    runloop__interest_end(tree->instance, &directory->interest);
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

int runloop__tree_begin(struct tree *tree, struct instance *instance, const runloop_watch_config *config) {
    *tree = (struct tree){.instance = instance, .opened_descriptor = -1, .is_new = true};
    list_insert_before(&instance->trees, &tree->in_instance);
    tree->scope = config->scope;
    tree->follows_link = config->follows_link;
    tree->absolute = runloop__absolute_path(config->path);
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
    if (tree->root)
        free_entry(tree, tree->root);
    if (!tree->instance->is_over)
        list_remove(&tree->in_instance);
    free(tree->absolute);
    free(tree->path);
}

//===-- what is reported ---------------------------------------------------------------------------------------------===//

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
#endif // __linux__
