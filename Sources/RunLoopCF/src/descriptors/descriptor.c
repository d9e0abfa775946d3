// descriptor.c — CFFileDescriptor: the loop itself watches the descriptor, and each enabling leads to one call-out.
//
// Its run loop source is an ordinary signalled source. Through `schedule` and `cancel` it learns the modes and loops to which it belongs.
// As long as callbacks are enabled, these modes contain a core source for the descriptor, the `watch`. It is replaced when the set
// of enabled callbacks changes. A regular file can't be watched and is always ready; its source is signalled instead.

#include "descriptors/callouts.h"
#include "loop/loop.h"

#include <errno.h>
#include <unistd.h>

enum { BOTH = kCFFileDescriptorReadCallBack | kCFFileDescriptorWriteCallBack };

/// Stands for the locks of all descriptors; never defined.
extern struct process_lock descriptor_lock;

/// The info of a source; the source frees it.
struct link {
    CFFileDescriptorRef f; ///< retained
    CFRunLoopSourceRef source;
};

struct membership {
    struct membership *next;
    CFRunLoopRef loop; ///< lives at least until `cancel`
    CFStringRef mode;
};

struct __CFFileDescriptor {
    struct cf_object object;
    CFFileDescriptorCallBack callout;
    CFFileDescriptorContext context;
    bool closes;
    struct process_lock lock;                   ///< guards the fields below; never held while user code runs
    int descriptor GUARDED_BY(descriptor_lock); ///< -1 when invalid
    CFOptionFlags enabled GUARDED_BY(descriptor_lock);
    struct membership *memberships GUARDED_BY(descriptor_lock);
    runloop_source *watch GUARDED_BY(descriptor_lock); ///< for the enabled callbacks, in all memberships
    bool is_always_ready GUARDED_BY(descriptor_lock);
    struct cf_callouts callouts GUARDED_BY(descriptor_lock);
    struct link *link GUARDED_BY(descriptor_lock); ///< the info of the source, while the source lives
};

UNCHECKED static void take(CFFileDescriptorRef f) TAKES(descriptor_lock) {
    process_lock(&f->lock);
}

UNCHECKED static void give(CFFileDescriptorRef f) GIVES(descriptor_lock) {
    process_unlock(&f->lock);
}

CFTypeID CFFileDescriptorGetTypeID(void) {
    return CF_TYPE_DESCRIPTOR;
}

//===-- the watch ----------------------------------------------------------------------------------------------------===//

static void ready(runloop_source *core, runloop_readiness events, void *object);

static void release_object(void *object) {
    CFRelease(object);
}

static runloop_source *make_watch(CFFileDescriptorRef f) HOLDS(descriptor_lock) {
    struct runloop_descriptor_config config = {
        .context = {.info = f, .release = release_object}, .descriptor = f->descriptor, .ready = ready};
    if (f->enabled & kCFFileDescriptorReadCallBack)
        config.events |= RUNLOOP_READABLE;
    if (f->enabled & kCFFileDescriptorWriteCallBack)
        config.events |= RUNLOOP_WRITABLE;
    config.order = cf__order(CFRunLoopSourceGetOrder(f->link->source));
    runloop_source *watch = NULL;
    if (runloop_descriptor_source_create(&config, &watch) == 0)
        CFRetain(f);
    return watch;
}

static void try_again(CFTypeRef object, CFRunLoopRef loop, CFRunLoopMode mode);

/// If there is no memory for that either, the source is tried again in each iteration.
static void retry_later(CFFileDescriptorRef f, CFRunLoopRef loop, CFRunLoopMode mode) HOLDS(descriptor_lock) {
    if (cf__retry_later(cf__core_of_loop(loop), cf__mode_name(mode), f, try_again))
        return;
    CFRunLoopSourceSignal(f->link->source);
    CFRunLoopWakeUp(loop);
}

/// As long as there are memberships there is a source: it lives until all of them have been cancelled.
static void watch_in(CFFileDescriptorRef f, const struct membership *membership) HOLDS(descriptor_lock) {
    int result = -ENOMEM;
    if (f->watch)
        result = runloop_add_source(cf__core_of_loop(membership->loop), f->watch, cf__mode_name(membership->mode));
    f->is_always_ready |= result == -EPERM;
    if (f->watch && f->is_always_ready) {
        CFRunLoopSourceSignal(f->link->source);
        CFRunLoopWakeUp(membership->loop);
    } else if (f->enabled && f->descriptor >= 0 && (result == -ENOMEM || result == -ENOSPC)) {
        retry_later(f, membership->loop, membership->mode);
    }
}

/// Called when the set of enabled callbacks has changed. The caller releases the old watch after unlocking.
static runloop_source *renew_watch(CFFileDescriptorRef f) HOLDS(descriptor_lock) {
    ASSERT_HOLDS(&f->lock);
    runloop_source *old = f->watch;
    f->watch = f->enabled && f->memberships && f->descriptor >= 0 ? make_watch(f) : NULL;
    // The old one is invalidated first, so that the loop never watches for both.
    runloop_source_invalidate(old);
    for (const struct membership *membership = f->memberships; membership; membership = membership->next)
        watch_in(f, membership);
    return old;
}

static void change_enabled(CFFileDescriptorRef f, CFOptionFlags set, CFOptionFlags cleared) {
    take(f);
    CFOptionFlags enabled = (f->enabled | (set & BOTH)) & ~cleared;
    runloop_source *old = NULL;
    if (f->descriptor >= 0 && enabled != f->enabled) {
        f->enabled = enabled;
        old = renew_watch(f);
    }
    give(f);
    runloop_source_release(old);
}

//===-- calling out --------------------------------------------------------------------------------------------------===//

static void release_info(CFFileDescriptorRef f) WITHOUT(descriptor_lock) {
    ASSERT_WITHOUT(&f->lock);
    if (f->context.release)
        f->context.release(f->context.info);
}

/// If the descriptor was invalidated during the call-out, the last call-out closes it and releases the context.
static void end_callout(CFFileDescriptorRef f) {
    take(f);
    int closing;
    bool releases = cf__callouts_end(&f->callouts, &closing);
    give(f);
    if (closing >= 0)
        close(closing);
    if (releases)
        release_info(f);
}

/// Calls back for those of `types` that are enabled, and disables them first.
static void call_out(CFFileDescriptorRef f, runloop_source *watch, CFOptionFlags types) WITHOUT(descriptor_lock) {
    CFRetain(f);
    take(f);
    runloop_source *old = NULL;
    types &= watch && watch != f->watch ? 0 : f->enabled;
    if (types) {
        f->enabled &= ~types;
        cf__callouts_begin(&f->callouts);
        old = renew_watch(f);
    }
    give(f);
    runloop_source_release(old);
    if (types) {
        ASSERT_WITHOUT(&f->lock);
        if (f->callout)
            f->callout(f, types, f->context.info);
        end_callout(f);
    }
    CFRelease(f);
}

static void ready(runloop_source *core, runloop_readiness events, void *object) {
    CFOptionFlags types = 0;
    if (events & ~(runloop_readiness)RUNLOOP_WRITABLE)
        types |= kCFFileDescriptorReadCallBack;
    if (events & ~(runloop_readiness)(RUNLOOP_READABLE | RUNLOOP_PRIORITY))
        types |= kCFFileDescriptorWriteCallBack;
    call_out(object, core, types);
}

static void perform(void *info) {
    CFFileDescriptorRef f = ((struct link *)info)->f;
    take(f);
    bool is_ready = f->is_always_ready;
    give(f);
    if (is_ready) {
        call_out(f, NULL, BOTH);
        return;
    }
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    CFRunLoopMode mode = CFRunLoopCopyCurrentMode(loop);
    if (mode)
        try_again(f, loop, mode);
    CFRelease(mode);
}

//===-- the source ---------------------------------------------------------------------------------------------------===//

/// The old watch, if there is a new one.
static runloop_source *join(CFFileDescriptorRef f, CFRunLoopRef loop, CFRunLoopMode mode) HOLDS(descriptor_lock) {
    ASSERT_HOLDS(&f->lock);
    struct membership *membership = f->memberships;
    while (membership && (membership->loop != loop || !CFEqual(membership->mode, mode)))
        membership = membership->next;
    if (!membership) {
        membership = malloc(sizeof *membership);
        if (!membership) {
            retry_later(f, loop, mode);
            return NULL;
        }
        *membership = (struct membership){.next = f->memberships, .loop = loop, .mode = CFRetain(mode)};
        f->memberships = membership;
    }
    if (!f->watch)
        return f->enabled ? renew_watch(f) : NULL;
    watch_in(f, membership);
    return NULL;
}

static void schedule(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFFileDescriptorRef f = ((struct link *)info)->f;
    take(f);
    runloop_source *old = join(f, loop, mode);
    give(f);
    runloop_source_release(old);
}

/// A removal that has not ended the membership yet waits for the lock, and finds it.
static void try_again(CFTypeRef object, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFFileDescriptorRef f = (CFFileDescriptorRef)(uintptr_t)object;
    runloop_source *old = NULL;
    take(f);
    if (f->descriptor >= 0 && f->link && CFRunLoopContainsSource(loop, f->link->source, mode))
        old = join(f, loop, mode);
    give(f);
    runloop_source_release(old);
}

static void cancel(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFFileDescriptorRef f = ((struct link *)info)->f;
    runloop_source *old = NULL;
    take(f);
    struct membership **link = &f->memberships;
    while (*link && ((*link)->loop != loop || !CFEqual((*link)->mode, mode)))
        link = &(*link)->next;
    struct membership *membership = *link;
    if (membership) {
        *link = membership->next;
        if (f->memberships && f->watch)
            runloop_remove_source(cf__core_of_loop(loop), f->watch, cf__mode_text(mode));
        else
            old = renew_watch(f);
    }
    give(f);
    runloop_source_release(old);
    if (membership)
        CFRelease(membership->mode);
    free(membership);
}

/// The source is being freed.
static void free_link(const void *info) {
    struct link *link = (struct link *)(uintptr_t)info;
    take(link->f);
    if (link->f->link == link)
        link->f->link = NULL;
    give(link->f);
    CFRelease(link->f);
    free(link);
}

/// The source, retained. NULL if nothing references it and no loop contains it: then it is about to be freed.
static CFRunLoopSourceRef copy_source(CFFileDescriptorRef f) HOLDS(descriptor_lock) {
    ASSERT_HOLDS(&f->lock);
    CFRunLoopSourceRef source = f->link ? f->link->source : NULL;
    if (!source || cf__retain_if_referenced(source))
        return source;
    return f->memberships ? (CFRunLoopSourceRef)(uintptr_t)CFRetain(source) : NULL;
}

static CFRunLoopSourceRef make_source(CFAllocatorRef allocator, CFFileDescriptorRef f, CFIndex order)
    HOLDS(descriptor_lock) {
    struct link *link = malloc(sizeof *link);
    if (!link)
        return NULL;
    CFRunLoopSourceContext context = {.info = link, .release = free_link};
    context.schedule = schedule;
    context.cancel = cancel;
    context.perform = perform;
    *link = (struct link){.f = f, .source = CFRunLoopSourceCreate(allocator, order, &context)};
    if (!link->source) {
        free(link);
        return NULL;
    }
    CFRetain(f);
    f->link = link;
    return link->source;
}

CFRunLoopSourceRef CFFileDescriptorCreateRunLoopSource(CFAllocatorRef allocator, CFFileDescriptorRef f, CFIndex order) {
    if (!CF_IS(f, CF_TYPE_DESCRIPTOR))
        return NULL;
    CFRunLoopSourceRef source = NULL;
    take(f);
    if (f->descriptor >= 0) {
        source = copy_source(f);
        if (!source)
            source = make_source(allocator, f, order);
    }
    give(f);
    return source;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void finalize(CFTypeRef object) {
    CFFileDescriptorRef f = (CFFileDescriptorRef)(uintptr_t)object;
    CFFileDescriptorInvalidate(f);
    free(f);
}

static const struct cf_class class = {.type = CF_TYPE_DESCRIPTOR, .finalize = finalize};

UNCHECKED CFFileDescriptorRef CFFileDescriptorCreate(CFAllocatorRef allocator, CFFileDescriptorNativeDescriptor fd,
                                                     Boolean closeOnInvalidate, CFFileDescriptorCallBack callout,
                                                     const CFFileDescriptorContext *context) {
    (void)allocator;
    CFFileDescriptorRef f = fd < 0 ? NULL : cf__new(&class, sizeof *f);
    if (!f)
        return NULL;
    f->descriptor = fd;
    f->closes = closeOnInvalidate;
    f->callout = callout;
    if (context) {
        f->context = *context;
        if (context->retain)
            f->context.info = context->retain(context->info);
    }
    return f;
}

/// Closes the descriptor at once, or right after a callback that another thread is running, since that may be using it.
void CFFileDescriptorInvalidate(CFFileDescriptorRef f) {
    if (!CF_IS(f, CF_TYPE_DESCRIPTOR))
        return;
    take(f);
    int descriptor = f->descriptor;
    if (descriptor < 0) {
        give(f);
        return;
    }
    f->descriptor = -1;
    f->enabled = 0;
    runloop_source *old = renew_watch(f);
    CFRunLoopSourceRef source = copy_source(f);
    int closing;
    bool releases = cf__callouts_invalidate(&f->callouts, f->closes ? descriptor : -1, &closing);
    give(f);
    runloop_source_release(old);
    if (source)
        CFRunLoopSourceInvalidate(source);
    CFRelease(source);
    if (closing >= 0)
        close(closing);
    if (releases)
        release_info(f);
}

Boolean CFFileDescriptorIsValid(CFFileDescriptorRef f) {
    return CFFileDescriptorGetNativeDescriptor(f) >= 0;
}

//===-- callbacks and getters ----------------------------------------------------------------------------------------===//

void CFFileDescriptorEnableCallBacks(CFFileDescriptorRef f, CFOptionFlags callBackTypes) {
    if (CF_IS(f, CF_TYPE_DESCRIPTOR))
        change_enabled(f, callBackTypes, 0);
}

void CFFileDescriptorDisableCallBacks(CFFileDescriptorRef f, CFOptionFlags callBackTypes) {
    if (CF_IS(f, CF_TYPE_DESCRIPTOR))
        change_enabled(f, 0, callBackTypes);
}

CFFileDescriptorNativeDescriptor CFFileDescriptorGetNativeDescriptor(CFFileDescriptorRef f) {
    if (!CF_IS(f, CF_TYPE_DESCRIPTOR))
        return -1;
    take(f);
    int descriptor = f->descriptor;
    give(f);
    return descriptor;
}

void CFFileDescriptorGetContext(CFFileDescriptorRef f, CFFileDescriptorContext *context) {
    if (!CF_IS(f, CF_TYPE_DESCRIPTOR) || !context)
        return;
    *context = f->context;
    take(f);
    if (f->callouts.context_is_released)
        context->info = NULL;
    give(f);
}
