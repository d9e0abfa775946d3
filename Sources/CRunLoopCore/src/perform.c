// perform.c — performed functions ("posts"): pushed by anybody, drained in order by the loop's thread (R100–R105).
//
// Producers push onto `inbox`, a stack; the thread takes it whole and appends it, oldest first, to `posts`, which only it touches.
// Posts are numbered as they are appended. A drain in a mode performs those that match it, in order, up to the last number there
// was when it began. `post_floor` hides the posts of an outer drain from a run nested in it, and a mode remembers up to which
// number nothing matches it, so that posts for other modes are not looked at again and again.

#include "internal.h"

struct post {
    union {
        struct post *next_in_inbox; ///< atomic, with loop->inbox
        struct list in_posts;       ///< thread
    } link;
    uint64_t number;
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
    struct post *head = atomic_load(&loop->inbox);
    do {
        if (head == POSTS_CLOSED)
            return -ESHUTDOWN;
        post->link.next_in_inbox = head;
    } while (!atomic_compare_exchange_weak(&loop->inbox, &head, post));
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
    return LIST_ENTRY(node, struct post, link.in_posts);
}

static void take_inbox(runloop *loop) {
    struct post *head = atomic_load(&loop->inbox);
    if (!head || head == POSTS_CLOSED)
        return;
    struct post *newest = atomic_exchange(&loop->inbox, NULL), *oldest = NULL;
    while (newest) {
        struct post *next = newest->link.next_in_inbox;
        newest->link.next_in_inbox = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct post *next = oldest->link.next_in_inbox;
        oldest->number = ++loop->post_serial;
        list_append(&loop->posts, &oldest->link.in_posts);
        oldest = next;
    }
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

/// Up to which number no post matches the mode; what a mode learnt before it became common doesn't hold for it any more.
static uint64_t scanned(struct mode *mode, bool is_common) {
    return mode->posts_scanned_as_common == is_common ? mode->posts_scanned : 0;
}

static void remember_scan(runloop *loop, struct mode *mode, bool is_common) {
    // Only if nothing below was hidden from this scan.
    if (scanned(mode, is_common) < loop->post_floor)
        return;
    mode->posts_scanned = loop->post_serial;
    mode->posts_scanned_as_common = is_common;
}

/// The oldest post after number `after`. Found from the newest backwards: what is new is what is wanted.
static struct list *first_after(runloop *loop, uint64_t after) {
    struct list *node = &loop->posts;
    while (node->previous != &loop->posts && post_at(node->previous)->number > after)
        node = node->previous;
    return node;
}

static struct list *first_candidate(runloop *loop, struct mode *mode, bool is_common) {
    uint64_t known = scanned(mode, is_common);
    return first_after(loop, known > loop->post_floor ? known : loop->post_floor);
}

bool runloop__perform_any_pending(runloop *loop, struct mode *mode) {
    if (!runloop__perform_may_have_work(loop))
        return false;
    take_inbox(loop);
    bool is_common = atomic_load(&mode->is_common);
    for (struct list *node = first_candidate(loop, mode, is_common); node != &loop->posts; node = node->next) {
        if (matches(post_at(node), mode, is_common))
            return true;
    }
    remember_scan(loop, mode, is_common);
    return false;
}

static void call(struct post *post) {
    list_remove(&post->link.in_posts);
    runloop_function function = post->function;
    void *info = post->info;
    free_post(post);
    runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(function, info);
}

void runloop__perform_batch(struct run *run) {
    runloop *loop = run->loop;
    if (!runloop__perform_any_pending(loop, run->mode))
        return;
    bool is_common = atomic_load(&run->mode->is_common);
    uint64_t outer_floor = loop->post_floor, last = loop->post_serial;
    struct list *node = first_candidate(loop, run->mode, is_common);
    // Nested runs see only what comes from now on; so they can't remove what this drain is about to look at.
    loop->post_floor = last;
    while (node != &loop->posts && post_at(node)->number <= last) {
        struct list *next = node->next;
        bool is_last = next == &loop->posts || post_at(next)->number > last;
        if (matches(post_at(node), run->mode, is_common))
            call(post_at(node));
        if (is_last || runloop__is_inherited(loop))
            break;
        node = next;
    }
    loop->post_floor = outer_floor;
}

//===-- the end ------------------------------------------------------------------------------------------------------===//

void runloop__perform_close(runloop *loop) {
    take_inbox(loop);
    // What is pushed between the two steps is taken with the exchange that closes the inbox.
    struct post *late = atomic_exchange(&loop->inbox, POSTS_CLOSED);
    struct list *node;
    while ((node = list_take_first(&loop->posts))) {
        struct post *post = post_at(node);
        if (post->discard)
            runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(post->discard, post->info);
        free_post(post);
    }
    while (late && late != POSTS_CLOSED) {
        struct post *next = late->link.next_in_inbox;
        if (late->discard)
            runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(late->discard, late->info);
        free_post(late);
        late = next;
    }
}
