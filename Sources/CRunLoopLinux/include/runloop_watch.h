// runloop_watch.h — changes of files, directories and trees. Part of runloop_linux.h, whose general rules hold.
//
// A watch is a view of the disk that is brought up to date: a notification of the kernel (inotify) only says which name to look at again, and
// what is reported is the difference between what was there at the last look and what is there now. So the changes that were reported,
// applied in order to what was there at the creation, always lead to what is on the disk once that is quiet. Something that came and went
// in between may be reported or not; something may be reported as created twice.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_WATCH_H
#define RUNLOOP_WATCH_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A path whose changes are reported.
/// If it is in several loops, one of them reports a change, in no order among them. A change costs its loop O(depth), a directory that is new
/// O(entries). Changes that wait at its end are dropped.
/// While it is paused (runloop_source_set_events with 0), changes are noticed and not reported; runloop_source_wake after the pause reports them.
typedef runloop_source runloop_watch;

/// How much of the path is watched.
typedef enum RUNLOOP_CLOSED runloop_watch_scope {
    RUNLOOP_WATCH_FILE = 0,      ///< What has the path, whatever that is, and not what is in it.
    RUNLOOP_WATCH_DIRECTORY = 1, ///< That, and if it is a directory, its entries.
    RUNLOOP_WATCH_TREE = 2,      ///< That, and if it is a directory, everything below it.
} runloop_watch_scope;

/// What has happened to a path.
typedef enum RUNLOOP_CLOSED runloop_change_kind {
    /// It is there, and is new: created, moved here from elsewhere, or in the place of a former file.
    RUNLOOP_CHANGE_CREATED = 0,
    /// It is not there any more: removed, moved elsewhere, or unmounted. Entries before their directory.
    RUNLOOP_CHANGE_REMOVED = 1,
    /// It had the path `from` before. What was in a directory has moved along, and is not reported.
    RUNLOOP_CHANGE_MOVED = 2,
    /// It was written to, or truncated: not through a mapping, nor by another name of it in another directory.
    RUNLOOP_CHANGE_MODIFIED = 3,
    /// Its permissions, owner, times, extended attributes or number of links have changed.
    RUNLOOP_CHANGE_ATTRIBUTES = 4,
    /// The kernel has dropped notifications (fs.inotify.max_queued_events, for all watches of an instance). Everything was looked at again, and
    /// the changes that were found follow in the same call; a file that has changed is reported as modified, without details. `path` is the
    /// watch's.
    RUNLOOP_CHANGE_OVERFLOW = 5,
    /// The path could not be watched or looked at, for the reason in `error`. -EACCES: there is no permission to read it; -ENOSPC:
    /// fs.inotify.max_user_watches; nothing in it is reported until it changes itself. -EMFILE, -ENFILE, -ENOMEM: it is tried again with the next
    /// change of any path. -ENOMEM with the watch's own path: changes were left out of this call, so what is known has to be read again.
    RUNLOOP_CHANGE_FAILED = 6,
} runloop_change_kind;

/// A change of a path. The texts are valid during the call.
typedef struct runloop_change {
    runloop_change_kind kind;
    const char *path;  ///< Below the watch's path as it was given, with any bytes and of any length.
    const char *from;  ///< The former path, if it was moved; else NULL.
    int32_t error;     ///< A negative errno value, if it failed; else 0.
    bool is_directory; ///< What was there, if it was removed.
} runloop_change;

/// The configuration of a watch, which is copied.
typedef struct runloop_watch_config {
    runloop_context context;
    /// The path, which need not exist yet. The watch follows the path and not the file: what is moved away is reported once, and what comes
    /// to be there is watched then. If it is relative, it is one of the current directory at the creation.
    const char *path;
    runloop_watch_scope scope;
    /// Follows the path to the target if it is a symbolic link; a change of any link on the way is noticed. Otherwise the link itself
    /// is what is watched. Links on the way to the last name are followed in any case, those inside a tree never.
    bool follows_link;
    /// 0: changes are reported as they are noticed. Otherwise they are reported together, once nothing has been noticed for so long, or ten times
    /// as long after the first, by the clock of the loop; what could not be watched at the creation is reported at once.
    int64_t settle_ns;
    /// On the loop's thread, in the modes of the source, with at least one change. May be NULL.
    void (*RUNLOOP_SENDABLE changed)(runloop_watch *watch, const runloop_change *changes, size_t count, void *info);
} runloop_watch_config;

/// Watches a path from now on: changes wait until the source is in a mode that runs. It has no descriptor of its own: all watches that a
/// thread makes, however many, in whatever loops and modes, share an inotify instance, which ends with the last of them. Of the kernel's
/// watches it uses one for each directory that is watched, or for the file, and one for each directory on the way to it (those that can't
/// be read are left out), unless another watch of the instance has it already. Directories that are mounted over later are not noticed.
/// Needs /proc.
///
/// The instance is a source by itself, named "inotify", in the modes in which any of its watches is. So a loop is woken by what concerns
/// any watch that the same thread has made, also one of another loop or mode, and a run that returns after a source returns then. It is
/// read once for all: a change costs O(watches that it concerns), an overflow O(watches of the instance). Leaving a mode is O(1) as a rule,
/// and O(watches of the instance) for the last one there.
///
/// Events of other files wake the loop only where the kernel can't separate them: what comes into the last directory that exists, while
/// the path does not; removals beside it, and moves to the directory above, if that last directory may be empty, or is the path itself; and
/// changes of attributes in a directory on the way that not everybody may write to. A file that is there costs
/// nothing in /tmp. In a directory whose entries are watched, all that happens to them does. O(entries), in time and in memory.
/// Errors: -EINVAL: no path, no such scope, or a negative settle time; -ENAMETOOLONG: the path is too long; -EMFILE: the process has no
/// descriptor left, or the user no inotify instance for another thread (fs.inotify.max_user_instances); -ENOSPC: the user has no watches
/// left (fs.inotify.max_user_watches); -ENFILE; -ENOMEM; -EACCES: the path can't be read, or the directory in which it is or will be;
/// -ENOENT: the path is relative, and the working directory was removed, or there is no /proc.
RUNLOOP_EXPORT int runloop_watch_create(const runloop_watch_config *config, runloop_watch **out);

/// The path of a watch, as created. O(1).
/// Returns: the path, valid as long as the object.
RUNLOOP_EXPORT const char *runloop_watch_get_path(runloop_watch *watch);

/// Names the limit that is reached, and the sysctl that raises it: for a result of runloop_watch_create and for `error` of a change. O(1).
/// Returns: a text that is never freed; NULL for other results.
RUNLOOP_EXPORT const char *runloop_watch_describe_limit(int result);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_WATCH_H
