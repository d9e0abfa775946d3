// unread.c — an output pipe of a child that is full, that nobody has read for a while, and for which nothing in the running mode reads, is named
// on standard error.
//
// The parent's end is the caller's, which may have closed it; so it is known by its number and its inode, which must be that of the child's
// start still. A reader is a source in the loop's mode that has the number: a slow reader has one, as have all readers of this library
// that have ever read. A pipe that is read by other means is full for a moment only.

#ifdef __linux__
#include "process/unread.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/kernel_text.h"
#include "base/note.h"
#include "base/object.h"
#include "base/open.h"

/// Until the first look, and from one that finds a pipe full to the next.
#define FIRST_PAUSE_NS INT64_C(1000000000)
#define PATIENCE_NS INT64_C(1000000000)

struct file {
    uint64_t inode;
    uint32_t major, minor; ///< of its device
};

struct pipe {
    int number; ///< the child's
    int end;    ///< the parent's
    struct file file;
    /// How many bytes were in it when it was seen full at the last look. 0: it was not.
    _Atomic int former;
};

struct unread_pipes {
    _Atomic uint32_t references;
    int32_t process;
    size_t count;
    struct pipe pipes[];
};

static bool is_output(const runloop_child_descriptor *descriptor) {
    return descriptor->kind == RUNLOOP_CHILD_OUTPUT_PIPE && descriptor->parent_end;
}

// The number is the caller's, which may close it on another thread just now, and what is asked then is another file's: no harm, since its
// inode shows that. By `syscall`, because the thread sanitizer takes the functions of libc for uses that need an order.

/// The kernel's struct statx, which musl before 1.2.5 has not.
struct status {
    uint32_t unused[8];
    uint64_t inode, more[3], times[8];
    uint32_t device_of_special[2], major, minor;
    uint64_t reserved[14];
};
_Static_assert(sizeof(struct status) == 256 && offsetof(struct status, major) == 136, "The kernel's layout.");

static bool look_up(int descriptor, struct file *file) {
    enum { INODE = 0x100 }; // STATX_INO
    struct status status;
    if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, INODE, &status))
        return false;
    *file = (struct file){status.inode, status.major, status.minor};
    return true;
}

static bool is_same(const struct file *file, const struct file *other) {
    return file->inode == other->inode && file->major == other->major && file->minor == other->minor;
}

static void append(struct unread_pipes *all, const runloop_child_descriptor *descriptor) {
    struct pipe pipe = {.number = descriptor->number, .end = *descriptor->parent_end};
    if (look_up(pipe.end, &pipe.file))
        all->pipes[all->count++] = pipe;
}

struct unread_pipes *runloop__unread_make(const runloop_child_start_config *config, int32_t process) {
    size_t count = 0;
    for (size_t i = 0; i < config->descriptor_count; i++)
        count += is_output(&config->descriptors[i]);
    struct unread_pipes *all = count ? calloc(1, sizeof *all + count * sizeof *all->pipes) : NULL;
    if (!all)
        return NULL;
    atomic_init(&all->references, 1);
    all->process = process;
    for (size_t i = 0; i < config->descriptor_count; i++)
        if (is_output(&config->descriptors[i]))
            append(all, &config->descriptors[i]);
    return all;
}

static void *retain(void *info) {
    atomic_fetch_add_explicit(&((struct unread_pipes *)info)->references, 1, memory_order_relaxed);
    return info;
}

static void release(void *info) {
    struct unread_pipes *all = info;
    if (atomic_fetch_sub_explicit(&all->references, 1, memory_order_acq_rel) == 1)
        free(all);
}

/// How many bytes are in it, if that is so many that its writer waits; else 0.
static int count_if_full(const struct pipe *pipe) {
    struct file file;
    int count = 0;
    if (!look_up(pipe->end, &file) || !is_same(&file, &pipe->file))
        return 0;
    long capacity = syscall(SYS_fcntl, pipe->end, F_GETPIPE_SZ);
    // A write of up to a page is not split.
    return capacity > 0 && syscall(SYS_ioctl, pipe->end, FIONREAD, &count) == 0 && count > capacity - 4096 ? count : 0;
}

struct question {
    int number;
    bool is_read;
};

static void ask(void *context, runloop_item_kind kind, void *item) {
    struct question *question = context;
    if (kind == RUNLOOP_ITEM_DESCRIPTOR_SOURCE && runloop_source_get_descriptor(item) == question->number)
        question->is_read |= runloop__source_reads(item);
}

/// Does anything in the running mode read it? If that can't be found out, yes.
static bool is_read(const struct pipe *pipe) {
    runloop *loop = runloop_current();
    const char *mode = runloop_current_mode(loop);
    struct question question = {.number = pipe->end};
    return !mode || runloop_visit_items(loop, mode, ask, &question) < 0 || question.is_read;
}

/// How a program has all pipes of a child read, in its language.
static const char *cure(void) {
    switch (runloop__language()) {
    case LANGUAGE_SWIFT: return "RunLoop.Child.run reads all of them, and so does Output.collect; or read";
    case LANGUAGE_PYTHON: return "runloop.linux.run reads all of them; or read";
    default: return "A command (runloop_command.h) reads all of them; or read";
    }
}

/// What the child executes, as the kernel abbreviates it, in “ (…)”; nothing if it does not say.
static const char *executed_by(int32_t process, char *text, size_t size) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/comm", process);
    int file = open_whole(path, O_RDONLY);
    ssize_t length = file < 0 ? 0 : read(file, text + 2, size - 4);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return "";
    text[2 + length] = 0;
    text_make_printable(text + 2);
    if (!text[2])
        return "";
    text[0] = ' ', text[1] = '(';
    memcpy(text + strlen(text), ")", 2);
    return text;
}

static void note(const struct unread_pipes *all, const struct pipe *pipe, int count) {
    static _Atomic bool is_noted;
    char name[32];
    if (runloop_diagnostics_are_enabled() && !atomic_exchange(&is_noted, true))
        runloop__write_note(
            "runloop: The child process %d%s can't go on: its descriptor %d is a pipe that is full, with "
            "%d bytes, and nobody reads it. Whoever awaits the child's end, or reads another of its "
            "pipes, waits for ever. %s them at the same time, before its end is awaited, or give it "
            "/dev/null.",
            (int)all->process, executed_by(all->process, name, sizeof name), pipe->number, count, cure());
}

/// At the second look that finds the same, it is noted, and nobody looks any more.
static int64_t look(void *info, int64_t pause_ns) {
    struct unread_pipes *all = info;
    bool any = false;
    for (size_t i = 0; i < all->count; i++) {
        struct pipe *pipe = &all->pipes[i];
        int count = count_if_full(pipe), former = atomic_exchange(&pipe->former, count);
        if (count == 0 || is_read(pipe))
            continue;
        if (count == former) {
            note(all, pipe, count);
            return 0;
        }
        any = true;
    }
    return any ? PATIENCE_NS : pause_ns * 2;
}

const struct probe_kind runloop__unread = {
    .look = look, .first_pause_ns = FIRST_PAUSE_NS, .retain = retain, .release = release};
#endif // __linux__
