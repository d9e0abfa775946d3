// descriptor.c — CFFileDescriptor: the loop itself watches the descriptor, and each enabling leads to one call-out.
//
// The run loop source, which watches the descriptor for what is enabled (source.c), references it; it knows of the source without a
// reference. If nothing else references the source any more, it lives as long as it is in a mode.

#include "descriptors/callouts.h"
#include "loop/loop.h"

#include <pthread.h>
#include <unistd.h>

enum { BOTH = kCFFileDescriptorReadCallBack | kCFFileDescriptorWriteCallBack };

/// Stands for the locks of all descriptors; never defined.
extern struct process_lock descriptor_lock;

/// The info of a source; the source frees it.
struct link {
    CFFileDescriptorRef f; ///< retained
    CFRunLoopSourceRef source;
};

struct __CFFileDescriptor {
    struct cf_object object;
    CFFileDescriptorCallBack callout;
    CFFileDescriptorContext context;
    bool closes;
    struct process_lock lock;                   ///< guards the fields below; never held while user code runs
    int descriptor GUARDED_BY(descriptor_lock); ///< -1 when invalid
    CFOptionFlags enabled GUARDED_BY(descriptor_lock);
    int modes GUARDED_BY(descriptor_lock); ///< in which the source is
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

//===-- enabling -----------------------------------------------------------------------------------------------------===//

/// As long as there is a link there is a source, and the core source in it: both are freed after the link (free_link).
static void watch(CFFileDescriptorRef f) HOLDS(descriptor_lock) {
    ASSERT_HOLDS(&f->lock);
    runloop_readiness wanted = f->enabled & kCFFileDescriptorReadCallBack ? RUNLOOP_READABLE : 0;
    if (f->enabled & kCFFileDescriptorWriteCallBack)
        wanted |= RUNLOOP_WRITABLE;
    if (f->link)
        cf__source_watch(f->link->source, wanted);
}

static void change_enabled(CFFileDescriptorRef f, CFOptionFlags set, CFOptionFlags cleared) {
    take(f);
    CFOptionFlags enabled = (f->enabled | (set & BOTH)) & ~cleared;
    if (f->descriptor >= 0 && enabled != f->enabled) {
        f->enabled = enabled;
        watch(f);
    }
    give(f);
}

//===-- calling out --------------------------------------------------------------------------------------------------===//

static void release_info(CFFileDescriptorRef f) WITHOUT(descriptor_lock) {
    ASSERT_WITHOUT(&f->lock);
    if (f->context.release)
        f->context.release(f->context.info);
}

/// If the descriptor was invalidated during the call-out, the last call-out closes it and releases the context, also if it has ended the
/// thread.
static void end_callout(void *object) {
    CFFileDescriptorRef f = object;
    take(f);
    int closing;
    bool releases = cf__callouts_end(&f->callouts, &closing);
    give(f);
    if (closing >= 0)
        close(closing);
    if (releases)
        release_info(f);
    CFRelease(f);
}

/// Calls back for those callbacks that are enabled, and disables them first.
static void ready(void *info, runloop_readiness conditions) WITHOUT(descriptor_lock) {
    CFFileDescriptorRef f = (CFFileDescriptorRef)(uintptr_t)CFRetain(((struct link *)info)->f);
    CFOptionFlags types = 0;
    if (conditions & ~(runloop_readiness)RUNLOOP_WRITABLE)
        types |= kCFFileDescriptorReadCallBack;
    if (conditions & ~(runloop_readiness)RUNLOOP_READABLE)
        types |= kCFFileDescriptorWriteCallBack;
    take(f);
    types &= f->enabled;
    f->enabled &= ~types;
    watch(f);
    if (types)
        cf__callouts_begin(&f->callouts);
    give(f);
    if (!types) {
        CFRelease(f);
        return;
    }
    ASSERT_WITHOUT(&f->lock);
    pthread_cleanup_push(end_callout, f);
    if (f->callout)
        f->callout(f, types, f->context.info);
    pthread_cleanup_pop(true);
}

//===-- the source ---------------------------------------------------------------------------------------------------===//

static void count_modes(CFFileDescriptorRef f, int change) {
    take(f);
    f->modes += change;
    give(f);
}

static void schedule(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    (void)loop, (void)mode;
    count_modes(((struct link *)info)->f, 1);
}

/// The caller that removes the source has a reference until this returns.
static void cancel(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    (void)loop, (void)mode;
    count_modes(((struct link *)info)->f, -1);
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

/// The source, retained. NULL if nothing references it and it is in no mode: then it is about to be freed.
static CFRunLoopSourceRef copy_source(CFFileDescriptorRef f) HOLDS(descriptor_lock) {
    ASSERT_HOLDS(&f->lock);
    CFRunLoopSourceRef source = f->link ? f->link->source : NULL;
    if (!source || cf__retain_if_referenced(source))
        return source;
    return f->modes > 0 ? (CFRunLoopSourceRef)(uintptr_t)CFRetain(source) : NULL;
}

static CFRunLoopSourceRef make_source(CFFileDescriptorRef f, CFIndex order) HOLDS(descriptor_lock) {
    struct link *link = malloc(sizeof *link);
    if (!link)
        return NULL;
    CFRunLoopSourceContext context = {.info = link, .release = free_link};
    context.schedule = schedule;
    context.cancel = cancel;
    struct cf_watch watched = {.descriptor = f->descriptor, .ready = ready};
    *link = (struct link){.f = f, .source = cf__source_create_watching(order, &context, &watched)};
    if (!link->source) {
        free(link);
        return NULL;
    }
    CFRetain(f);
    f->link = link;
    watch(f);
    return link->source;
}

CFRunLoopSourceRef CFFileDescriptorCreateRunLoopSource(CFAllocatorRef allocator, CFFileDescriptorRef f, CFIndex order) {
    (void)allocator;
    if (!CF_IS(f, CF_TYPE_DESCRIPTOR))
        return NULL;
    CFRunLoopSourceRef source = NULL;
    take(f);
    if (f->descriptor >= 0) {
        source = copy_source(f);
        if (!source)
            source = make_source(f, order);
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
    watch(f);
    CFRunLoopSourceRef source = copy_source(f);
    int closing;
    bool releases = cf__callouts_invalidate(&f->callouts, f->closes ? descriptor : -1, &closing);
    give(f);
    if (source)
        CFRunLoopSourceInvalidate(source);
    if (closing >= 0)
        close(closing);
    if (releases)
        release_info(f);
    CFRelease(source); // it may have the last reference to `f`
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
