// tree.h — what a watch knows of the disk: the entries of the directories in its scope, the kernel's watches for these directories, and the
// entries that have to be looked at again.
//
// Why nothing is lost: a directory is watched before it is read, and an entry is looked at after its mark was taken away. So whatever happens
// to an entry after the last look marks it again. A look needs the directory at the path that the tree has for it. If it isn't there (its
// inode is compared), it was moved, a notification of that is under way, and the mark stays until the move has been understood.
#ifndef RUNLOOP_TREE_H
#define RUNLOOP_TREE_H

#include "files/changes.h"
#include "files/instance.h"

struct tree_entry;

/// What the kernel watches: a directory, or the file that has the path of the watch.
struct directory {
    /// Of nothing: the kernel's watch is over. Several are of the same where mounts, or moves under way, give a directory two paths.
    struct interest interest;
    bool is_read; ///< its entries are in the tree
    uint64_t device, inode;
    struct tree_entry *entry;
    struct tree_entry *entries;
};

/// What identifies an entry.
struct entry_key {
    struct directory *parent; ///< NULL for the root, which has the path of the watch
    const char *name;
};

struct tree_entry {
    struct entry_key key; ///< the first member
    bool is_present, is_directory;
    uint64_t device, inode;
    int64_t changed_ns;
    struct directory *directory; ///< if the kernel watches it
    uint64_t scan;               ///< the last one that has seen it
    uint32_t marks;              ///< of the kernel's notifications, and those below
    uint32_t from_cookie, to_cookie;
    struct tree_entry *next, *previous;               ///< in the parent
    struct tree_entry *next_marked, *previous_marked; ///< in order
    char name[];
};

/// Marks that what is in the entry has changed, and further ones: look at the entry; look at everything in it, too.
enum { MARKS_OF_CONTENTS = IN_MODIFY | IN_ATTRIB, MARK_LOOK = 1 << 16, MARK_SCAN = 1 << 17 };

/// A name on the way to the path. The interests are of nothing where that can't be read, or is not there.
struct step {
    struct interest directory; ///< in which the name is
    struct interest own;       ///< in what has the name
    struct step *next;
    char name[];
};

struct tree {
    struct instance *instance; ///< whose lock guards all of the tree
    struct list in_instance;
    runloop_watch_scope scope;
    bool follows_link;
    bool is_new GUARDED; ///< what is found is not reported
    char *path;          ///< as given
    char *absolute;      ///< without slashes at the end
    struct tree_entry *root GUARDED;
    void *names GUARDED; ///< entries by key, of tsearch
    struct tree_entry *first_marked GUARDED, *last_marked GUARDED;
    struct tree_entry *first_stale GUARDED; ///< of those that were marked again because they could not be found
    struct step *steps GUARDED;
    bool way_is_stale GUARDED; ///< something has happened to a name on the way
    bool is_overflown GUARDED; ///< notifications were dropped
    uint64_t scans GUARDED;
    struct changes *changes GUARDED;
    struct directory *opened GUARDED; ///< whose descriptor the one below is
    int opened_descriptor GUARDED;
};

//===-- tree.c: entries and directories -----------------------------------------------------------------------------------------------===//

/// Makes an empty tree for a path that is not empty, which belongs to the instance from then on. -ENAMETOOLONG, -ENOMEM.
HOLDS_LOCK int runloop__tree_begin(struct tree *tree, struct instance *instance, const runloop_watch_config *config);
/// Frees one that is empty.
HOLDS_LOCK void runloop__tree_end(struct tree *tree);

/// An entry, made if necessary. NULL: no memory.
HOLDS_LOCK struct tree_entry *runloop__tree_entry(struct tree *tree, struct directory *parent, const char *name);
/// Frees an entry that is not there, unless it is marked, or the root.
HOLDS_LOCK void runloop__tree_free_if_unused(struct tree *tree, struct tree_entry *entry);

HOLDS_LOCK void runloop__tree_mark(struct tree *tree, struct tree_entry *entry, uint32_t marks, uint32_t cookie);
HOLDS_LOCK void runloop__tree_unmark(struct tree *tree, struct tree_entry *entry);

/// Watches what `descriptor` is open for (O_PATH suffices), as the directory of the entry. A negative errno value.
HOLDS_LOCK int runloop__tree_watch(struct tree *tree, struct tree_entry *entry, int descriptor);
/// Ends the watch of a directory, and frees it with what is in it. The removal of the entries is reported.
HOLDS_LOCK void runloop__tree_remove_directory(struct tree *tree, struct directory *directory);

/// `from`, for a move: the former path, from malloc.
HOLDS_LOCK void runloop__tree_tell(struct tree *tree, runloop_change_kind kind, const struct tree_entry *entry,
                                   char *from, int error);
/// The path of an entry, from malloc.
HOLDS_LOCK char *runloop__tree_path(const struct tree *tree, const struct tree_entry *entry);

//===-- path_watch.c, rescan.c ---------------------------------------------------------------------------------------------------------===//

/// Watches the directories that lead to the path, as far as they exist. -EACCES: the last of them can't be read.
HOLDS_LOCK int runloop__way_watch(struct tree *tree);
/// Ends the watches of the way and of the tree, in the kernel those that no other tree needs: nothing is noticed any more.
HOLDS_LOCK void runloop__tree_empty(struct tree *tree);

/// Looks at what is marked, and reports what has changed.
HOLDS_LOCK void runloop__tree_look(struct tree *tree);

#endif // RUNLOOP_TREE_H
