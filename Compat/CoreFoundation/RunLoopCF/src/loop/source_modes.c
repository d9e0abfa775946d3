// source_modes.c — sources come into modes and leave them, and exclude each other there if they are equal (R60).
//
// The core compares sources by identity. A source that has an `equal` is compared here, before it is added, removed or looked for, with the
// members of the mode and with the sources that other threads are adding to it. `equal` and `hash` are the program's, so they are called
// with no lock held.
//
// Of equal sources that several threads add to a mode at once, one must join it. Each addition gets a number under the lock before it
// looks, and is visible until its source is a member, or was refused. So of two additions the later one finds the earlier one's source,
// in the list or in the mode: it looks at the list first. If the earlier one was refused, a member equals both.

#include "loop/source.h"

#include <pthread.h>

/// An addition under way, on the stack of its thread.
struct addition {
    CFRunLoopSourceRef source;
    runloop *loop;
    const char *mode;
    uint64_t number;
    struct addition *next;
};

/// What is looked for, and where.
struct search {
    CFRunLoopSourceRef source;
    runloop *loop;
    const char *mode;
    bool is_common;        ///< the pseudo-mode: members of any mode that are common
    runloop_source *found; ///< retained
};

static struct process_lock lock;
static struct addition *additions GUARDED_BY(lock);
static uint64_t last_number GUARDED_BY(lock);

//===-- comparing ----------------------------------------------------------------------------------------------------===//

/// As in any set, equal sources must have equal hashes; without a `hash` they must have the same info.
static bool are_equal(CFRunLoopSourceRef source, CFRunLoopSourceRef other) {
    return source == other || (CFEqual(source, other) && CFHash(source) == CFHash(other));
}

/// The core source, and with it its source, lives until this returns.
static void compare(void *context, runloop_item_kind kind, void *item) {
    struct search *search = context;
    if (search->found || (kind != RUNLOOP_ITEM_SIGNALLED_SOURCE && kind != RUNLOOP_ITEM_DESCRIPTOR_SOURCE))
        return;
    CFRunLoopSourceRef other = cf__source_of_core(item);
    if (other && (!search->is_common || runloop_contains_source(search->loop, item, search->mode)) &&
        are_equal(search->source, other))
        search->found = runloop_source_retain(item);
}

static int find_in_all_modes(struct search *search) {
    // Modes may be added meanwhile, but are never removed. A new one has no member that was common before.
    size_t count = runloop_get_modes(search->loop, NULL, 0);
    const char **modes = malloc((count ? count : 1) * sizeof *modes);
    if (!modes)
        return -ENOMEM;
    size_t known = runloop_get_modes(search->loop, modes, count);
    int error = 0;
    pthread_cleanup_push(free, modes);
    for (size_t i = 0; i < (known < count ? known : count) && error >= 0; i++)
        error = runloop_visit_items(search->loop, modes[i], compare, search);
    pthread_cleanup_pop(true);
    return error;
}

/// Sets `found`. A negative errno value: it is not known.
static int find_member(struct search *search) {
    search->is_common = strcmp(search->mode, RUNLOOP_COMMON_MODES) == 0;
    int error = search->is_common ? find_in_all_modes(search)
                                  : runloop_visit_items(search->loop, search->mode, compare, search);
    return search->found || error > 0 ? 0 : error;
}

//===-- adding one that has an `equal` -------------------------------------------------------------------------------===//

static void begin_addition(struct addition *addition) {
    process_lock(&lock);
    addition->number = ++last_number;
    addition->next = additions;
    additions = addition;
    process_unlock(&lock);
}

static void end_addition(void *ended) {
    process_lock(&lock);
    struct addition **link = &additions;
    while (*link != ended)
        link = &(*link)->next;
    *link = (*link)->next;
    process_unlock(&lock);
}

/// The source of the latest addition before that number to the same mode, retained, and its number; or NULL. The caller that adds it has a
/// reference.
static CFRunLoopSourceRef copy_earlier(const struct addition *addition, uint64_t *number) {
    process_lock(&lock);
    const struct addition *earlier = additions; // the latest first
    while (earlier && !(earlier->number < *number && earlier->loop == addition->loop &&
                        strcmp(earlier->mode, addition->mode) == 0))
        earlier = earlier->next;
    CFRunLoopSourceRef source = earlier ? (CFRunLoopSourceRef)(uintptr_t)CFRetain(earlier->source) : NULL;
    if (earlier)
        *number = earlier->number;
    process_unlock(&lock);
    return source;
}

static void release(void *source) {
    CFRelease(source);
}

static bool equals_and_release(CFRunLoopSourceRef source, CFRunLoopSourceRef other) {
    bool equals;
    pthread_cleanup_push(release, other);
    equals = source != other && are_equal(source, other);
    pthread_cleanup_pop(true);
    return equals;
}

static bool is_being_added(const struct addition *addition) {
    bool found = false;
    uint64_t number = addition->number;
    for (CFRunLoopSourceRef other; !found && (other = copy_earlier(addition, &number));)
        found = equals_and_release(addition->source, other);
    return found;
}

static int add_unless_equal(CFRunLoopSourceRef source, runloop *loop, runloop_source *core, const char *mode) {
    if (!mode)
        return -EINVAL;
    struct search search = {.source = source, .loop = loop, .mode = mode};
    struct addition addition = {.source = source, .loop = loop, .mode = mode};
    int error;
    begin_addition(&addition);
    pthread_cleanup_push(end_addition, &addition);
    error = is_being_added(&addition) ? -EEXIST : find_member(&search);
    // It may come back into common modes that it was removed from by name.
    if (search.found && search.found != core)
        error = -EEXIST;
    runloop_source_release(search.found);
    if (!error)
        error = runloop_add_source(loop, core, mode);
    pthread_cleanup_pop(true);
    return error;
}

//===-- removing, asking ---------------------------------------------------------------------------------------------===//

static void end_removal(void *outer) {
    runloop_source *core = cf__removal.core;
    cf__removal = *(struct cf_removal *)outer;
    runloop_source_release(core);
}

static void remove_equal(CFRunLoopSourceRef source, runloop *loop, const char *mode) {
    struct search search = {.source = source, .loop = loop, .mode = mode};
    if (!mode || find_member(&search) || !search.found)
        return;
    struct cf_removal outer = cf__removal;
    cf__removal = (struct cf_removal){.core = search.found, .named = source};
    // A `cancel` may end the thread, and that the thread's loop.
    pthread_cleanup_push(end_removal, &outer);
    runloop_remove_source(loop, search.found, mode);
    pthread_cleanup_pop(true);
}

static bool has_equal(CFRunLoopSourceRef source, runloop *loop, const char *mode) {
    struct search search = {.source = source, .loop = loop, .mode = mode};
    bool found = mode && find_member(&search) == 0 && search.found;
    runloop_source_release(search.found);
    return found;
}

//===-- the interface -----------------------------------------------------------------------------------------------===//

static void release_core(void *core) {
    runloop_source_release(core);
}

static void add(CFRunLoopSourceRef source, runloop *loop, runloop_source *core, const char *mode) {
    int error =
        source->context.v0.equal ? add_unless_equal(source, loop, core, mode) : runloop_add_source(loop, core, mode);
    // Nobody is notified, so it joins paused. If another thread has it watched meanwhile, that is undone until the next try.
    if (source->ready && is_refusal(error)) {
        runloop_source_set_events(core, 0);
        runloop_add_source(loop, core, mode);
        cf__source_try_again(source, error);
    }
}

// The program's callbacks may end the thread: what an operation holds then is released by a cleanup handler.

static void add_and_release(CFRunLoopSourceRef source, runloop *loop, runloop_source *core, const char *mode) {
    pthread_cleanup_push(release_core, core);
    add(source, loop, core, mode);
    pthread_cleanup_pop(true);
}

static void remove_and_release(runloop *loop, runloop_source *core, const char *mode) {
    pthread_cleanup_push(release_core, core);
    runloop_remove_source(loop, core, mode);
    pthread_cleanup_pop(true);
}

void CFRunLoopAddSource(CFRunLoopRef rl, CFRunLoopSourceRef source, CFRunLoopMode mode) {
    runloop *loop = cf__core_of_loop(rl);
    if (!loop || !CF_IS(source, CF_TYPE_SOURCE))
        return;
    pthread_cleanup_push(release, (void *)(uintptr_t)CFRetain(source));
    if (is_port(source))
        cf__source_refresh_port(source);
    add_and_release(source, loop, copy_core(source), cf__mode_name(mode));
    pthread_cleanup_pop(true);
}

void CFRunLoopRemoveSource(CFRunLoopRef rl, CFRunLoopSourceRef source, CFRunLoopMode mode) {
    runloop *loop = cf__core_of_loop(rl);
    if (!loop || !CF_IS(source, CF_TYPE_SOURCE))
        return;
    if (source->context.v0.equal)
        remove_equal(source, loop, cf__mode_text(mode));
    else
        remove_and_release(loop, copy_core(source), cf__mode_text(mode));
}

Boolean CFRunLoopContainsSource(CFRunLoopRef rl, CFRunLoopSourceRef source, CFRunLoopMode mode) {
    runloop *loop = cf__core_of_loop(rl);
    if (!loop || !CF_IS(source, CF_TYPE_SOURCE))
        return false;
    if (source->context.v0.equal)
        return has_equal(source, loop, cf__mode_text(mode));
    runloop_source *core = copy_core(source);
    bool contains = runloop_contains_source(loop, core, cf__mode_text(mode));
    runloop_source_release(core);
    return contains;
}
