// task.c — tasks: functions that any thread enqueues, performed in order by the loop's thread (R100–R105).
//
// Producers push onto `inbox`, a stack; the thread takes it whole and appends it, oldest first, to `tasks.queue`, which only it touches.
// What is taken at a time is a batch, and its tasks have its number. Numbers are only compared with that of the last batch taken at
// some moment: they separate what the thread had by then from what it took later. So a drain in a mode performs the tasks that match it,
// in order, up to the last one there is when it begins; `tasks.floor` hides the batches of an outer drain from a run nested in it;
// and a mode remembers up to which batch nothing matches it, so that tasks for other modes are not looked at again and again.
//
// A drain performs at most TASKS_PER_DRAIN tasks, so that timers and descriptors get their turn under a flood. The rest are performed by
// the next drains, and the loop does not sleep before that.

#ifdef __linux__
#include "items/items.h"

enum { TASKS_PER_DRAIN = 1024 };

struct task {
    /// thread; in the inbox `previous` alone: the next older task, published with loop->inbox
    struct list link;
    uint64_t batch;
    uintptr_t modes; ///< in which it may be performed: the mode, if it is one, with these flags
    runloop_function function, discard;
    void *info[2];
};
_Static_assert(sizeof(struct task) <= SLAB_TASK_SIZE, "A task fits into a block.");

enum {
    IN_COMMON = 1, ///< in all common modes
    IN_MANY = 2,   ///< in those of a `struct modes`, to which it points then
    IS_PAIR = 4,   ///< the function is given the address of two words of info
    FLAGS = IN_COMMON | IN_MANY | IS_PAIR,
};

struct modes {
    size_t count;
    struct mode *modes[];
};

#define INBOX_CLOSED ((struct list *)(uintptr_t)1)

static struct modes *many_of(uintptr_t modes) {
    return (struct modes *)(modes & ~(uintptr_t)FLAGS);
}

static void free_task(struct task *task) {
    if (task->modes & IN_MANY)
        free(many_of(task->modes));
    runloop__slab_free(SLAB_TASK, task);
}

//===-- enqueueing ---------------------------------------------------------------------------------------------------===//

/// The mode, made if it is new; NULL when memory ran out.
static struct mode *mode_named(runloop *loop, const char *name) {
    struct mode *mode = mode_find(loop, name);
    if (!mode) {
        loop_lock(loop);
        mode = mode_make(loop, name);
        loop_unlock(loop);
    }
    return mode;
}

static inline int find_mode(runloop *loop, const char *name, uintptr_t *modes) {
    struct mode *mode = mode_find(loop, name);
    if (!mode && !is_common_name(name) && !(mode = mode_named(loop, name)))
        return -ENOMEM;
    *modes = mode ? (uintptr_t)mode : IN_COMMON;
    return 0;
}

static COLD int find_modes(runloop *loop, const char *const *names, size_t count, uintptr_t *modes) {
    for (size_t i = 0; i < count; i++) {
        if (!names[i])
            return -EINVAL;
    }
    if (count <= 1)
        return count == 1 ? find_mode(loop, names[0], modes) : 0;
    struct modes *many = calloc(1, sizeof(struct modes) + count * sizeof(struct mode *));
    if (!many)
        return -ENOMEM;
    *modes = (uintptr_t)many | IN_MANY;
    for (size_t i = 0; i < count; i++) {
        if (is_common_name(names[i])) {
            *modes |= IN_COMMON;
        } else if (!(many->modes[many->count++] = mode_named(loop, names[i]))) {
            free(many);
            return -ENOMEM;
        }
    }
    return 0;
}

static COLD void note_time(runloop *loop) {
    atomic_store_explicit(&loop->posted_ns, monotonic_ns(), memory_order_relaxed);
}

static inline int push(runloop *loop, struct task *task) {
    struct list *head = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    do {
        if (head == INBOX_CLOSED)
            return -ESHUTDOWN;
        task->link.previous = head;
        // Before the task can be seen, so that whoever takes it finds this, or what another thread writes at the same time.
        if (!head && atomic_load_explicit(&loop->times_posts, memory_order_relaxed))
            note_time(loop);
    } while (!atomic_compare_exchange_weak(&loop->inbox, &head, &task->link));
    return 0;
}

/// What is enqueued, and for which modes: the one named `mode` or, if that is NULL, several.
struct request {
    const char *mode, *const *modes;
    size_t count;
    runloop_function function, discard;
    void *info[2];
    uintptr_t flags;
};

/// Inlined, so that a request is never in memory: a post knows most of its own.
INLINE int enqueue(runloop *loop, const struct request *request) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!request->function)
        return -EINVAL;
    if (atomic_load_explicit(&loop->is_finished, memory_order_acquire))
        return -ESHUTDOWN;
    struct task *task = runloop__slab_new(SLAB_TASK);
    if (!task)
        return -ENOMEM;
    uintptr_t modes = 0;
    error = request->mode ? find_mode(loop, request->mode, &modes)
                          : find_modes(loop, request->modes, request->count, &modes);
    if (error) {
        runloop__slab_free(SLAB_TASK, task);
        return error;
    }
    task->modes = modes | request->flags;
    task->function = request->function;
    task->discard = request->discard;
    task->info[0] = request->info[0];
    task->info[1] = request->info[1];
    error = push(loop, task);
    if (error)
        free_task(task);
    return error;
}

INLINE int enqueue_and_leave(runloop *loop, const struct request *request) {
    int error = enqueue(loop, request);
    if (!error)
        loop_leave_to_host();
    return error;
}

INLINE int enqueue_and_wake(runloop *loop, const struct request *request) {
    int error = enqueue(loop, request);
    if (!error) {
        wake_up(&loop->wake, &loop->poller);
        loop_sent(loop, RUNLOOP__SENT_TASK,
                  request->flags & IS_PAIR ? request->info[0] : (const void *)(uintptr_t)request->function);
    }
    return error;
}

int runloop_perform_in_modes(runloop *loop, const char *const *modes, size_t count, runloop_function function,
                             void *info, runloop_function discard) {
    if ((!modes && count) || count > UINT32_MAX)
        return -EINVAL;
    return enqueue_and_leave(
        loop,
        &(struct request){.modes = modes, .count = count, .function = function, .info = {info}, .discard = discard});
}

int runloop_perform(runloop *loop, const char *mode, runloop_function function, void *info, runloop_function discard) {
    if (!mode)
        return -EINVAL;
    return enqueue_and_leave(loop,
                             &(struct request){.mode = mode, .function = function, .info = {info}, .discard = discard});
}

int runloop_post_in_modes(runloop *loop, const char *const *modes, size_t count, runloop_function function, void *info,
                          runloop_function discard) {
    if ((!modes && count) || count > UINT32_MAX)
        return -EINVAL;
    return enqueue_and_wake(
        loop,
        &(struct request){.modes = modes, .count = count, .function = function, .info = {info}, .discard = discard});
}

int runloop_post(runloop *loop, const char *mode, runloop_function function, void *info, runloop_function discard) {
    if (!mode)
        return -EINVAL;
    return enqueue_and_wake(loop,
                            &(struct request){.mode = mode, .function = function, .info = {info}, .discard = discard});
}

int runloop__post_pair(runloop *loop, const char *mode, const char *const *modes, size_t count,
                       runloop_function function, const void *pair, runloop_function discard) {
    struct request request = {.mode = mode, .modes = modes, .count = count, .function = function, .discard = discard};
    request.flags = IS_PAIR;
    memcpy(request.info, pair, sizeof request.info);
    return enqueue_and_wake(loop, &request);
}

//===-- draining -----------------------------------------------------------------------------------------------------===//

static struct task *task_at(struct list *node) {
    return LIST_ENTRY(node, struct task, link);
}

/// Turns a stack of tasks round, behind all others.
static void append_batch(runloop *loop, struct list *newest) {
    struct list *queue = &loop->tasks.queue, *newer = queue, *oldest = newest;
    uint64_t batch = ++loop->tasks.serial;
    for (struct list *node = newest, *older; node; node = older) {
        older = node->previous;
        node->next = newer;
        task_at(node)->batch = batch;
        oldest = newer = node;
    }
    // Each node's `previous` is right already: in the stack it was the next older task.
    oldest->previous = queue->previous;
    oldest->previous->next = oldest;
    queue->previous = newest;
}

static void take_inbox(runloop *loop) {
    struct list *head = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    if (!head || head == INBOX_CLOSED)
        return;
    append_batch(loop, atomic_exchange(&loop->inbox, NULL));
    if (atomic_load_explicit(&loop->times_posts, memory_order_relaxed))
        trace_point(RUNLOOP_TRACE_TASKS, NULL, atomic_load_explicit(&loop->posted_ns, memory_order_relaxed));
}

static COLD bool matches_otherwise(uintptr_t modes, const struct mode *mode, bool mode_is_common) {
    if ((modes & IN_COMMON) && mode_is_common)
        return true;
    struct modes *many = modes & IN_MANY ? many_of(modes) : NULL;
    for (size_t i = 0; many && i < many->count; i++) {
        if (many->modes[i] == mode)
            return true;
    }
    return false;
}

static inline bool matches(const struct task *task, const struct mode *mode, bool mode_is_common) {
    if ((task->modes & ~(uintptr_t)FLAGS) == (uintptr_t)mode)
        return true;
    return (task->modes & (IN_COMMON | IN_MANY)) && matches_otherwise(task->modes, mode, mode_is_common);
}

/// Up to which batch no task matches the mode; what a mode learnt before it became common doesn't hold for it any more.
static uint64_t scanned(const struct mode *mode, bool is_common) {
    return mode->tasks_scanned_as_common == is_common ? mode->tasks_scanned : 0;
}

/// The oldest task of a batch after `batch`: mostly the oldest of all. Otherwise found from the newest backwards, since what is new is
/// what is wanted.
static struct list *first_after(runloop *loop, uint64_t batch) {
    struct list *queue = &loop->tasks.queue, *node = queue->next;
    if (node == queue || task_at(node)->batch > batch)
        return node;
    node = queue;
    while (node->previous != queue && task_at(node->previous)->batch > batch)
        node = node->previous;
    return node;
}

/// The oldest task that matches the mode and isn't hidden, or the end of the list.
static struct list *first_match(runloop *loop, struct mode *mode, bool is_common) {
    take_inbox(loop);
    uint64_t known = scanned(mode, is_common), floor = loop->tasks.floor;
    struct list *node = first_after(loop, known > floor ? known : floor);
    for (; node != &loop->tasks.queue; node = node->next) {
        if (matches(task_at(node), mode, is_common))
            return node;
    }
    // Remembered only if nothing below was hidden from this scan.
    if (known >= floor) {
        mode->tasks_scanned = loop->tasks.serial;
        mode->tasks_scanned_as_common = is_common;
    }
    return node;
}

bool runloop__tasks_any(runloop *loop, struct mode *mode) {
    return tasks_may_wait(loop) && first_match(loop, mode, atomic_load(&mode->is_common)) != &loop->tasks.queue;
}

static inline void take_out(struct task *task) {
    task->link.previous->next = task->link.next;
    task->link.next->previous = task->link.previous;
    free_task(task);
}

static inline void perform(runloop_function function, void *info) {
    if (function)
        TRACED(RUNLOOP_TRACE_TASK, (const void *)(uintptr_t)function, 0,
               runloop__IS_CALLING_OUT_TO_A_TASK(function, info));
}

static __attribute__((noinline)) void call_with_pair(struct task *task, runloop_function function) {
    void *pair[2] = {task->info[0], task->info[1]};
    take_out(task);
    perform(function, pair);
}

/// Calls its function or its `discard`, if it has one. The task is freed first, since what is called may take as long as it likes.
static inline void call(struct task *task, runloop_function function) {
    if (task->modes & IS_PAIR) {
        call_with_pair(task, function);
        return;
    }
    void *info = task->info[0];
    take_out(task);
    perform(function, info);
}

/// A hosted run's budget is used up.
static inline bool is_over_time(const runloop *loop, uint32_t performed) {
    return loop->tasks.end_ns != RUNLOOP_NEVER && loop->run == loop->hosted && performed > 0 &&
           monotonic_ns() >= loop->tasks.end_ns;
}

void runloop__tasks_drain(runloop *loop, struct mode *mode) {
    // After a fork in a call-out, the child returns through here.
    if (is_from_parent_process(loop))
        return;
    ASSERT_LOOP_THREAD(loop);
    bool is_common = atomic_load(&mode->is_common);
    struct list *node = first_match(loop, mode, is_common);
    if (node == &loop->tasks.queue)
        return;
    // Nested runs see only batches that are taken from now on. So none can remove what is between here and the last task, which is how
    // this drain may keep hold of both; only the task that is performed last may find others behind it, and they may go.
    struct list *last = loop->tasks.queue.previous;
    uint64_t outer_floor = loop->tasks.floor, serial = loop->tasks.serial;
    loop->tasks.floor = serial;
    uint32_t performed = 0;
    bool is_last = false;
    while (!is_last && performed < TASKS_PER_DRAIN && !is_from_parent_process(loop) && !is_over_time(loop, performed)) {
        struct list *next = node->next;
        is_last = node == last;
        if (matches(task_at(node), mode, is_common)) {
            performed++;
            call(task_at(node), task_at(node)->function);
        }
        node = next;
    }
    loop->tasks.floor = outer_floor;
    // Nothing that matches is left of what there was, unless an outer drain hid some of it.
    uint64_t known = scanned(mode, is_common);
    if (is_last && known >= outer_floor && serial > known) {
        mode->tasks_scanned = serial;
        mode->tasks_scanned_as_common = is_common;
    }
}

void runloop__tasks_close(runloop *loop) {
    struct list *rest = atomic_exchange(&loop->inbox, INBOX_CLOSED), *node;
    if (rest && rest != INBOX_CLOSED)
        append_batch(loop, rest);
    while ((node = loop->tasks.queue.next) != &loop->tasks.queue)
        call(task_at(node), task_at(node)->discard);
}
#endif // __linux__
