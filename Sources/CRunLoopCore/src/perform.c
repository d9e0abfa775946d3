// perform.c — performed functions ("posts"): pushed by anybody, drained in order by the loop's thread (R100–R105).
//
// Producers push onto `inbox`, a stack; the thread takes it whole and appends it, oldest first, to `posts`, which only it touches.
// What is taken at a time is a batch, and its posts have its number. Numbers are only compared with that of the last batch
// taken at some moment: they part what the thread had by then from what it took later, and no such line runs through a batch.
// So a drain in a mode performs those that match it, in order, up to the last post there is when it begins; `post_floor` hides the
// batches of an outer drain from a run nested in it; and a mode remembers up to which batch nothing matches it, so that posts
// for other modes are not looked at again and again.
//
// A long queue does not fit into a cache, so a post is touched as seldom as can be: when its batch is turned round, and
// when it is performed.

#include "wake.h"

struct post {
    struct list
        link; ///< thread; in the inbox `previous` alone, which is the next older post, published with loop->inbox
    uint64_t batch;
    uintptr_t modes; ///< in which it may be performed: the mode, if it is one, with these flags
    runloop_function function, discard;
    void *info[2];
};
_Static_assert(sizeof(struct post) == RUNLOOP__BLOCK_SIZE, "A post is one block.");

enum {
    IN_COMMON = 1,   ///< in all common modes
    IN_MANY = 2,     ///< in those of a `struct modes`, to which it points then
    INFO_INSIDE = 4, ///< The function is given the address of two words instead of one word.
    FLAGS = IN_COMMON | IN_MANY | INFO_INSIDE,
};

struct modes {
    size_t count;
    struct mode *modes[];
};

static struct modes *many_of(uintptr_t modes) {
    return (struct modes *)(modes & ~(uintptr_t)FLAGS);
}

static void free_post(struct post *post) {
    if (post->modes & IN_MANY)
        free(many_of(post->modes));
    runloop__block_free(post);
}

//===-- posting ------------------------------------------------------------------------------------------------------===//

/// The mode, made if it is new; NULL when memory ran out.
static struct mode *mode_named(runloop *loop, const char *name) {
    struct mode *mode = runloop__find_mode(loop, name);
    if (!mode) {
        runloop__lock(loop);
        mode = runloop__make_mode(loop, name);
        runloop__unlock(loop);
    }
    return mode;
}

static inline int find_mode(runloop *loop, const char *name, uintptr_t *modes) {
    struct mode *mode = runloop__find_mode(loop, name);
    if (!mode && !runloop__is_common_name(name) && !(mode = mode_named(loop, name)))
        return -ENOMEM;
    *modes = mode ? (uintptr_t)mode : IN_COMMON;
    return 0;
}

static RUNLOOP__COLD int find_modes(runloop *loop, const char *const *names, size_t count, uintptr_t *modes) {
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
        if (runloop__is_common_name(names[i])) {
            *modes |= IN_COMMON;
        } else if (!(many->modes[many->count++] = mode_named(loop, names[i]))) {
            free(many);
            return -ENOMEM;
        }
    }
    return 0;
}

static int push(runloop *loop, struct post *post) {
    struct list *head = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    do {
        if (head == POSTS_CLOSED)
            return -ESHUTDOWN;
        post->link.previous = head;
    } while (!atomic_compare_exchange_weak(&loop->inbox, &head, &post->link));
    return 0;
}

/// What is queued, and for which modes: the one named `mode` or, if that is NULL, several.
struct request {
    const char *mode, *const *modes;
    size_t count;
    runloop_function function, discard;
    void *info[2];
    uintptr_t flags;
};

/// In each of its callers for itself, who leave most of a request empty.
static inline __attribute__((always_inline)) int perform(runloop *loop, struct request request) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!request.function)
        return -EINVAL;
    if (atomic_load_explicit(&loop->is_finished, memory_order_acquire))
        return -ESHUTDOWN;
    struct post *post = runloop__block_new();
    if (!post)
        return -ENOMEM;
    uintptr_t modes = 0;
    error =
        request.mode ? find_mode(loop, request.mode, &modes) : find_modes(loop, request.modes, request.count, &modes);
    if (error) {
        runloop__block_free(post);
        return error;
    }
    post->modes = modes | request.flags;
    post->function = request.function;
    post->discard = request.discard;
    post->info[0] = request.info[0];
    post->info[1] = request.info[1];
    error = push(loop, post);
    if (error)
        free_post(post);
    return error;
}

int runloop_perform_in_modes(runloop *loop, const char *const *modes, size_t count, runloop_function function,
                             void *info, runloop_function discard) {
    if (loop && ((!modes && count) || count > UINT32_MAX))
        return -EINVAL;
    return perform(loop, (struct request){
                             .modes = modes, .count = count, .function = function, .info = {info}, .discard = discard});
}

int runloop_perform(runloop *loop, const char *mode, runloop_function function, void *info, runloop_function discard) {
    if (!mode)
        return -EINVAL;
    return perform(loop, (struct request){.mode = mode, .function = function, .info = {info}, .discard = discard});
}

int runloop_post_in_modes(runloop *loop, const char *const *modes, size_t count, runloop_function function, void *info,
                          runloop_function discard) {
    int error = runloop_perform_in_modes(loop, modes, count, function, info, discard);
    if (!error)
        runloop_wake_up(loop);
    return error;
}

int runloop_post(runloop *loop, const char *mode, runloop_function function, void *info, runloop_function discard) {
    if (!mode)
        return -EINVAL;
    int error = perform(loop, (struct request){.mode = mode, .function = function, .info = {info}, .discard = discard});
    if (!error && wake_is_needed(loop))
        runloop_wake_up(loop);
    return error;
}

int runloop__post_pair(runloop *loop, const char *mode, const char *const *modes, size_t count,
                       runloop_function function, const void *pair, runloop_function discard) {
    struct request request = {.mode = mode, .modes = modes, .count = count, .function = function, .discard = discard};
    request.flags = INFO_INSIDE;
    memcpy(request.info, pair, sizeof request.info);
    int error = perform(loop, request);
    if (!error && wake_is_needed(loop))
        runloop_wake_up(loop);
    return error;
}

//===-- draining -----------------------------------------------------------------------------------------------------===//

static struct post *post_at(struct list *node) {
    return LIST_ENTRY(node, struct post, link);
}

/// Asks the memory for what comes some steps after `next` if the steps are all alike, as they mostly are: a thread takes its blocks
/// in a row. Where they are not, that line is asked for in vain.
static inline void look_ahead(const struct list *node, const struct list *next) {
    enum { STEPS = 8 };
    uintptr_t step = (uintptr_t)next - (uintptr_t)node;
    __builtin_prefetch((const void *)((uintptr_t)node + STEPS * step));
}

/// Turns a stack of posts round, behind all others.
static void append_batch(runloop *loop, struct list *newest) {
    struct list *newer = &loop->posts, *oldest = newest;
    uint64_t batch = ++loop->post_serial;
    for (struct list *node = newest, *older; node; node = older) {
        older = node->previous;
        look_ahead(node, older);
        node->next = newer;
        post_at(node)->batch = batch;
        oldest = newer = node;
    }
    oldest->previous = loop->posts.previous;
    oldest->previous->next = oldest;
    loop->posts.previous = newest;
}

static void take_inbox(runloop *loop) {
    struct list *head = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    if (head && head != POSTS_CLOSED)
        append_batch(loop, atomic_exchange(&loop->inbox, NULL));
}

static RUNLOOP__COLD bool matches_otherwise(uintptr_t modes, const struct mode *mode, bool mode_is_common) {
    if ((modes & IN_COMMON) && mode_is_common)
        return true;
    struct modes *many = modes & IN_MANY ? many_of(modes) : NULL;
    for (size_t i = 0; many && i < many->count; i++) {
        if (many->modes[i] == mode)
            return true;
    }
    return false;
}

static inline bool matches(const struct post *post, const struct mode *mode, bool mode_is_common) {
    if ((post->modes & ~(uintptr_t)FLAGS) == (uintptr_t)mode)
        return true;
    return (post->modes & (IN_COMMON | IN_MANY)) && matches_otherwise(post->modes, mode, mode_is_common);
}

/// Up to which batch no post matches the mode; what a mode learnt before it became common doesn't hold for it any more.
static uint64_t scanned(struct mode *mode, bool is_common) {
    return mode->posts_scanned_as_common == is_common ? mode->posts_scanned : 0;
}

/// The oldest post of a batch after `batch`: mostly the oldest of all. Otherwise found from the newest backwards, since what is new is
/// what is wanted.
static struct list *first_after(runloop *loop, uint64_t batch) {
    struct list *node = loop->posts.next;
    if (node == &loop->posts || post_at(node)->batch > batch)
        return node;
    node = &loop->posts;
    while (node->previous != &loop->posts && post_at(node->previous)->batch > batch)
        node = node->previous;
    return node;
}

/// The oldest post that matches the mode and isn't hidden, or the end of the list.
static struct list *first_match(runloop *loop, struct mode *mode, bool is_common) {
    take_inbox(loop);
    uint64_t known = scanned(mode, is_common), floor = loop->post_floor;
    struct list *node = first_after(loop, known > floor ? known : floor);
    for (; node != &loop->posts; node = node->next) {
        if (matches(post_at(node), mode, is_common))
            return node;
    }
    // Remembered only if nothing below was hidden from this scan.
    if (known >= floor) {
        mode->posts_scanned = loop->post_serial;
        mode->posts_scanned_as_common = is_common;
    }
    return node;
}

bool runloop__perform_any_pending(runloop *loop, struct mode *mode) {
    return runloop__perform_may_have_work(loop) &&
           first_match(loop, mode, atomic_load(&mode->is_common)) != &loop->posts;
}

/// With its function or its `discard`, if it has one. The post is freed first, since what is called may take as long as it likes.
static void call(struct post *post, runloop_function function) {
    void *info[2] = {post->info[0], post->info[1]};
    bool is_inside = post->modes & INFO_INSIDE;
    post->link.previous->next = post->link.next;
    post->link.next->previous = post->link.previous;
    free_post(post);
    if (function)
        runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(function, is_inside ? info : info[0]);
}

void runloop__perform_batch(struct run *run) {
    runloop *loop = run->loop;
    bool is_common = atomic_load(&run->mode->is_common);
    struct list *node = first_match(loop, run->mode, is_common);
    if (node == &loop->posts)
        return;
    // Nested runs see only batches that are taken from now on. So none can remove what is between here and the last post, which
    // is how this drain may keep hold of both; only the one that is performed last may find others behind it, and they may go.
    struct list *last = loop->posts.previous;
    uint64_t outer_floor = loop->post_floor;
    loop->post_floor = loop->post_serial;
    for (bool is_last = false; !is_last && !runloop__is_inherited(loop);) {
        struct list *next = node->next;
        is_last = node == last;
        look_ahead(node, next);
        if (matches(post_at(node), run->mode, is_common))
            call(post_at(node), post_at(node)->function);
        node = next;
    }
    loop->post_floor = outer_floor;
}

//===-- the end ------------------------------------------------------------------------------------------------------===//

void runloop__perform_close(runloop *loop) {
    struct list *rest = atomic_exchange(&loop->inbox, POSTS_CLOSED), *node;
    if (rest && rest != POSTS_CLOSED)
        append_batch(loop, rest);
    while ((node = loop->posts.next) != &loop->posts)
        call(post_at(node), post_at(node)->discard);
}
