// runloop_child_start.h — a program is started as a child process. Part of runloop_linux.h, whose general rules hold.
//
// The child has what the configuration says, and nothing by chance: no descriptor that isn't listed, no blocked signal, no handler.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CHILD_START_H
#define RUNLOOP_CHILD_START_H
#ifdef __linux__
#include "runloop.h"
#include "runloop_child.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a descriptor of the child is.
typedef enum RUNLOOP_CLOSED runloop_child_descriptor_kind {
    RUNLOOP_CHILD_INHERITED = 0,   ///< The parent's of the same number, closed on exec or not.
    RUNLOOP_CHILD_NULL = 1,        ///< /dev/null, for reading and writing.
    RUNLOOP_CHILD_INPUT_PIPE = 2,  ///< The child reads what the parent writes to `*parent_end`.
    RUNLOOP_CHILD_OUTPUT_PIPE = 3, ///< The parent reads from `*parent_end` what the child writes.
    RUNLOOP_CHILD_DESCRIPTOR = 4,  ///< The parent's `from`, closed on exec or not, which remains the caller's.
    RUNLOOP_CHILD_SAME = 5,        ///< The same as the child's number `from`: for 2 from 1, what a shell calls 2>&1.
    /// A new pseudo-terminal, which becomes the controlling terminal of the child in a session of its own. The parent reads from `*parent_end`
    /// what the child writes, and writes to it what the child reads; the end is that nobody has the terminal any more (the kernel's error
    /// EIO, of which a runloop_input makes an end). Once; for further numbers there is RUNLOOP_CHILD_SAME.
    RUNLOOP_CHILD_TERMINAL = 6,
} runloop_child_descriptor_kind;

/// A descriptor of the child.
typedef struct runloop_child_descriptor {
    int number; ///< In the child.
    runloop_child_descriptor_kind kind;
    int from; ///< What the kind says.
    /// Where the parent's end of a pipe or terminal is written, if the child was started: non-blocking, closed on exec, the caller's to close.
    int *parent_end;
} runloop_child_descriptor;

/// A limit of the child, as of setrlimit. UINT64_MAX: none.
typedef struct runloop_child_limit {
    int32_t resource; ///< RLIMIT_CORE and the like.
    uint64_t soft;    ///< The limit.
    uint64_t hard;    ///< Up to which the child may raise it.
} runloop_child_limit;

/// The process group of the child, if it is no number of a group.
enum {
    RUNLOOP_CHILD_PARENTS_GROUP = 0, ///< That of the parent.
    RUNLOOP_CHILD_NEW_GROUP = -1,    ///< One whose number is the child's.
    RUNLOOP_CHILD_NEW_SESSION = -2,  ///< Such a group in a session of its own, without a terminal.
};

/// The configuration of a child that is started. Nothing of it is kept but `child`.
typedef struct runloop_child_start_config {
    runloop_child_config child;     ///< Its context, `exited` and `cancel`; the process is always reaped.
    const char *const *arguments;   ///< As of main, with NULL at the end: at least one.
    const char *const *environment; ///< "NAME=value", with NULL at the end. NULL: the parent's.
    /// The file that is executed; NULL: the first argument. It is searched for in the parent's PATH if it has no slash and
    /// `searches` is true; in /usr/local/bin, /bin and /usr/bin if PATH is not set, or must not be trusted (secure_getenv(3)). A file that
    /// is neither a program nor has a first line that names one is not given to a shell.
    const char *program;
    bool searches;
    const char *directory; ///< The working directory, for a relative `program`, too. NULL: the parent's.
    int32_t group;         ///< A process group of the parent's session, or one of the constants above.
    /// true: `terminal` is a descriptor of the parent's for a terminal, and the child has its foreground. With RUNLOOP_CHILD_NEW_SESSION it is
    /// one that has no session yet (the slave of a pty), and becomes the controlling terminal; its size and mode are the caller's business. With
    /// another group of its own it is the terminal of the parent's session: the group may read from it and is sent its ^C, and when the object
    /// sees the child's end, the former group has the foreground again. For the child to read from it and write to it, it is listed in
    /// `descriptors`, too.
    bool has_terminal;
    int terminal;
    /// The size of the terminal of a RUNLOOP_CHILD_TERMINAL; runloop_terminal_set_size changes it.
    uint16_t terminal_rows, terminal_columns;
    /// Each number once, in any order. If 0, 1 and 2 aren't listed they are the parent's, unless it closes them on exec. What else isn't listed
    /// is closed.
    const runloop_child_descriptor *descriptors;
    size_t descriptor_count;
    const runloop_child_limit *limits;
    size_t limit_count;
    /// Sent to the child when this process ends, by whatever, also if it has ended by now (prctl PR_SET_PDEATHSIG, whose restrictions apply: a
    /// program that gives itself other rights is not signalled). The kernel sends it when the thread ends that started the child; so that is a
    /// thread of its own, which sleeps as long as the child lives, and not the caller. 0: none, and no thread.
    int32_t parent_death_signal;
    /// The signals that the child ignores, n as bit n - 1. All others have their default action and are not blocked, also those that the
    /// parent ignores: a program under nohup passes SIGHUP here.
    uint64_t ignored_signals;
    /// Where it is written what an error is about, if that is known: the path of the program or of the directory, "descriptor 5", "limit 7",
    /// "terminal 5", "process group 12", "session", "signal 9", "signals", "no arguments". Otherwise, and without an error, an empty text. May be
    /// NULL.
    char *failed;
    size_t failed_size;
} runloop_child_start_config;

/// Starts a program, and returns when it is executed, or can't be. Any thread, which sleeps until then with all signals blocked, as long as
/// reading the program from its file system takes; other threads go on. The object is in no loop yet, so the caller adds it to one, by
/// which the child is reaped. No handler of pthread_atfork is called. Other threads do not change the environment meanwhile.
///
/// A new terminal comes from /dev/ptmx, and what can't be opened there is the error of that.
/// After an error there is no child, none to be reaped, and no descriptor. O(what the child has), independent of how much memory the parent has, and
/// of how many descriptors from Linux 5.9 on.
/// Errors: -ENOENT, -EACCES, -ENOEXEC, -E2BIG, -ENAMETOOLONG: what execve says of `program`, -EACCES also of a directory, and what chdir
/// says of `directory`, like others of the two; -ENOENT also where there is neither close_range(2) nor /proc; -EBADF: a descriptor that is
/// not open, or a number above the limit of the process; -EPERM: a group of another session, a terminal that has one already, or a limit that
/// may not be raised; -ENOTTY: `terminal` is not the terminal of this process; -EAGAIN: too many processes or threads; -EMFILE, -ENFILE: it
/// needs a descriptor, one for each pipe, and for a moment one more for each pipe, one for /dev/null, and one for each `from` whose number
/// becomes something else; -ENOMEM; -ENOSYS: the kernel is older than Linux 5.4, or a sandbox refuses waitid of a pidfd; -EINVAL: no
/// arguments, a number that is listed twice or is negative, a pipe without `parent_end`, what is the same as something that is neither listed
/// nor 0, 1 or 2, or is itself the same as another, a second terminal, one in another group than a new session's, SIGKILL or SIGSTOP among
/// the signals that are ignored, or `pid` or `pidfd` in `child`.
RUNLOOP_EXPORT int runloop_child_start(const runloop_child_start_config *config, runloop_child **out);

/// Changes the size of a terminal, by a descriptor of either side. The processes in its foreground are sent SIGWINCH if it is another one. O(1).
/// Errors: -EBADF; -ENOTTY: not a terminal.
RUNLOOP_EXPORT int runloop_terminal_set_size(int descriptor, uint16_t rows, uint16_t columns);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_CHILD_START_H
