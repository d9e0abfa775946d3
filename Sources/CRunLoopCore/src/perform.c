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

#include "internal.h"

struct post {
    struct list
        link; ///< thread; in the inbox `previous` alone, which is the next older post, published with loop->inbox
    uint64_t batch;
    runloop_function function, discard;
    void *info;
    uint32_t mode_count;
    bool is_common;
    union {
        struct mode *one;
        struct mode **many; ///< if there are several
    } modes;
};
_Static_assert(sizeof(struct post) <= RUNLOOP__BLOCK_SIZE, "A post is one block.");

static void free_post(struct post *post) {
    if (post->mode_count > 1)
        free(post->modes.many);
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

static int find_mode(runloop *loop, struct post *post, const char *name) {
    post->modes.one = runloop__find_mode(loop, name);
    post->is_common = !post->modes.one && runloop__is_common_name(name);
    if (!post->is_common && !post->modes.one && !(post->modes.one = mode_named(loop, name)))
        return -ENOMEM;
    post->mode_count = !post->is_common;
    return 0;
}

static RUNLOOP__COLD int find_modes(runloop *loop, struct post *post, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!names[i])
            return -EINVAL;
    }
    if (count <= 1)
        return count == 1 ? find_mode(loop, post, names[0]) : 0;
    struct mode **modes = calloc(count, sizeof(struct mode *));
    if (!modes)
        return -ENOMEM;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (runloop__is_common_name(names[i])) {
            post->is_common = true;
        } else if (!(modes[found++] = mode_named(loop, names[i]))) {
            free(modes);
            return -ENOMEM;
        }
    }
    post->mode_count = found;
    if (found > 1) {
        post->modes.many = modes;
        return 0;
    }
    post->modes.one = modes[0];
    free(modes);
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

/// With one name or, if that is NULL, with several.
static inline int perform(runloop *loop, const char *name, const char *const *names, size_t count,
                          runloop_function function, void *info, runloop_function discard) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!function)
        return -EINVAL;
    if (atomic_load_explicit(&loop->is_finished, memory_order_acquire))
        return -ESHUTDOWN;
    struct post *post = runloop__block_new();
    if (!post)
        return -ENOMEM;
    post->function = function;
    post->discard = discard;
    post->info = info;
    post->mode_count = 0;
    post->is_common = false;
    error = name ? find_mode(loop, post, name) : find_modes(loop, post, names, count);
    if (!error)
        error = push(loop, post);
    if (error)
        free_post(post);
    return error;
}

int runloop_perform_in_modes(runloop *loop, const char *const *modes, size_t count, runloop_function function,
                             void *info, runloop_function discard) {
    if (loop && ((!modes && count) || count > UINT32_MAX))
        return -EINVAL;
    return perform(loop, NULL, modes, count, function, info, discard);
}

int runloop_perform(runloop *loop, const char *mode, runloop_function function, void *info, runloop_function discard) {
    return mode ? perform(loop, mode, NULL, 0, function, info, discard) : -EINVAL;
}

int runloop_post_in_modes(runloop *loop, const char *const *modes, size_t count, runloop_function function, void *info,
                          runloop_function discard) {
    int error = runloop_perform_in_modes(loop, modes, count, function, info, discard);
    if (!error)
        runloop_wake_up(loop);
    return error;
}

int runloop_post(runloop *loop, const char *mode, runloop_function function, void *info, runloop_function discard) {
    int error = runloop_perform(loop, mode, function, info, discard);
    if (!error)
        runloop_wake_up(loop);
    return error;
}

//===-- draining -----------------------------------------------------------------------------------------------------===//

static struct post *post_at(struct list *node) {
    return LIST_ENTRY(node, struct post, link);
}

/// Turns a stack of posts round, behind all others.
static void append_batch(runloop *loop, struct list *newest) {
    struct list *newer = &loop->posts, *oldest = newest;
    uint64_t batch = ++loop->post_serial;
    for (struct list *node = newest; node; node = node->previous) {
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

static bool matches(const struct post *post, const struct mode *mode, bool mode_is_common) {
    if (post->is_common && mode_is_common)
        return true;
    if (post->mode_count <= 1)
        return post->mode_count == 1 && post->modes.one == mode;
    for (uint32_t i = 0; i < post->mode_count; i++) {
        if (post->modes.many[i] == mode)
            return true;
    }
    return false;
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

static void call(struct post *post) {
    list_remove(&post->link);
    runloop_function function = post->function;
    void *info = post->info;
    free_post(post);
    runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(function, info);
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
        __builtin_prefetch(next, 1);
        if (matches(post_at(node), run->mode, is_common))
            call(post_at(node));
        node = next;
    }
    loop->post_floor = outer_floor;
}

//===-- the end ------------------------------------------------------------------------------------------------------===//

void runloop__perform_close(runloop *loop) {
    struct list *rest = atomic_exchange(&loop->inbox, POSTS_CLOSED), *node;
    if (rest && rest != POSTS_CLOSED)
        append_batch(loop, rest);
    while ((node = list_take_first(&loop->posts))) {
        struct post *post = post_at(node);
        if (post->discard)
            runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(post->discard, post->info);
        free_post(post);
    }
}
