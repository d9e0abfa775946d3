// loop.h — modes, loops, and the items in them: sources, observers and timers.
#ifndef RUNLOOP_CF_LOOP_H
#define RUNLOOP_CF_LOOP_H

#include "base/base.h"

// As in the core: other C libraries can't load that by dlopen.
#if defined(__GNUC__) && defined(__GLIBC__)
#define FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define FAST_TLS
#endif

//===-- modes and loops (mode.c, loop.c) -----------------------------------------------------------------------------===//

/// The name of the mode for a call of the core. NULL if it is no string. `cf__mode_name` is for additions: if the mode is new, it
/// remembers this string object, and callbacks and getters pass on that very object.
const char *cf__mode_text(CFStringRef mode);
const char *cf__mode_name(CFStringRef mode);
/// The string for a name that the core returned; never freed. NULL when memory ran out.
CFStringRef cf__mode_string(const char *name);

runloop *cf__core_of_loop(CFRunLoopRef loop);
/// The object of a loop, retained. NULL when memory ran out.
CFRunLoopRef cf__copy_loop(runloop *core);

//===-- items: sources, observers and timers (item.c) ----------------------------------------------------------------===//

/// Each item has a core item, whose context is the item. While a loop contains the core item, the item lives on even if nothing
/// references it, and a callback may pass it to a program that references it again. So an item has two kinds of owners: all references
/// together are one owner, and each core item is one. As long as there are references, they own one reference of the core item. The
/// item is freed with its last owner.
struct cf_item {
    struct cf_object object;
    _Atomic int32_t owners; ///< 1 for all references together, and 1 for each core item
};

void cf__item_init(struct cf_item *item);
void cf__item_retain(struct cf_item *item);
/// True if this was the last owner: then the caller frees the item.
bool cf__item_release(struct cf_item *item);
int32_t cf__order(CFIndex order);
/// For runloop_context.describe.
char *cf__copy_info_description(CFStringRef (*describe)(const void *info), const void *info);

//===-- sources of version 0 that watch a descriptor (source.c) ------------------------------------------------------===//

/// On the loop's thread, with the conditions that hold, asked for or not. None: what could not be watched can be tried again, so the callback
/// says with cf__source_watch what it wants, as after every call.
typedef void (*cf_ready_callback)(void *info, runloop_readiness conditions);

struct cf_watch {
    int descriptor;
    bool together; ///< called in one iteration with others (R71)
    cf_ready_callback ready;
};

/// Watches for nothing at first. NULL when memory ran out.
CFRunLoopSourceRef cf__source_create_watching(CFIndex order, const CFRunLoopSourceContext *context,
                                              const struct cf_watch *watch);
/// From now on it is called when one of these conditions holds, or an error or a hang-up. What is always ready, a regular file, is called once
/// for each call of this. None: it is left alone, and no loop will name the descriptor to the kernel, which may be closed, even while another
/// thread invalidates the source. Any thread, under a lock that puts the calls in order.
void cf__source_watch(CFRunLoopSourceRef source, runloop_readiness conditions);

#endif // RUNLOOP_CF_LOOP_H
