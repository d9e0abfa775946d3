// descriptor.c — CFFileDescriptor: a descriptor watched by the loop itself, one call-out for each time that one is asked for.
//
// Its run loop source is an ordinary signalled source, whose `schedule` and `cancel` tell in which modes of which loops it is. In these
// modes there is, as long as callbacks are enabled, a core source for the descriptor, which is made anew when what is enabled
// changes: the `watch`. A regular file, which can't be watched and is always ready, is signalled instead.

#include "internal.h"

#include <errno.h>
#include <unistd.h>

enum { BOTH = kCFFileDescriptorReadCallBack | kCFFileDescriptorWriteCallBack };

/// What a source knows of its descriptor; the source frees it.
struct link {
    CFFileDescriptorRef f; ///< retained
    CFRunLoopSourceRef source;
};

struct place {
    struct place *next;
    CFRunLoopRef loop; ///< lives at least until `cancel`
    CFStringRef mode;
};

struct __CFFileDescriptor {
    struct cf_object object;
    CFFileDescriptorCallBack callout;
    CFFileDescriptorContext context;
    bool closes;
    pthread_mutex_t lock; ///< guards all below; never held while user code runs
    int descriptor;       ///< -1 when invalid
    CFOptionFlags enabled;
    struct place *places;
    runloop_source *watch; ///< for what is enabled, in all places
    bool is_always_ready;
    int callouts;             ///< that are running …
    const void *caller;       ///< … all on this thread; NULL: on several
    int closing;              ///< what the last of them has to close, or -1
    bool context_is_released; ///< or will be, by the last of them
    struct link *link;        ///< of the source, while that lives
};

static _Thread_local char this_thread;

CFTypeID CFFileDescriptorGetTypeID(void) {
    return CF_TYPE_DESCRIPTOR;
}

//===-- the watch ----------------------------------------------------------------------------------------------------===//

static void ready(runloop_source *core, runloop_readiness events, void *object);

static void release_object(void *object) {
    CFRelease(object);
}

static runloop_source *make_watch(CFFileDescriptorRef f) {
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

/// HOLDS: lock. Where there are places there is a source, which lives until it has been cancelled in all of them.
static void watch_in(CFFileDescriptorRef f, const struct place *place) {
    if (f->watch && runloop_add_source(cf__core_of_loop(place->loop), f->watch, cf__mode_name(place->mode)) == -EPERM)
        f->is_always_ready = true;
    if (f->watch && f->is_always_ready) {
        CFRunLoopSourceSignal(f->link->source);
        CFRunLoopWakeUp(place->loop);
    }
}

/// HOLDS: lock. After what is enabled has changed; the caller retires the old watch without the lock.
static runloop_source *renew_watch(CFFileDescriptorRef f) {
    runloop_source *old = f->watch;
    f->watch = f->enabled && f->places && f->descriptor >= 0 ? make_watch(f) : NULL;
    // The old one goes first, so that the loop does not watch for both.
    runloop_source_invalidate(old);
    for (const struct place *place = f->places; place; place = place->next)
        watch_in(f, place);
    return old;
}

static void change_enabled(CFFileDescriptorRef f, CFOptionFlags set, CFOptionFlags cleared) {
    pthread_mutex_lock(&f->lock);
    CFOptionFlags enabled = (f->enabled | (set & BOTH)) & ~cleared;
    runloop_source *old = NULL;
    if (f->descriptor >= 0 && enabled != f->enabled) {
        f->enabled = enabled;
        old = renew_watch(f);
    }
    pthread_mutex_unlock(&f->lock);
    runloop_source_release(old);
}

//===-- calling out --------------------------------------------------------------------------------------------------===//

static void release_info(CFFileDescriptorRef f) {
    if (f->context.release)
        f->context.release(f->context.info);
}

/// HOLDS: lock.
static void begin_callout(CFFileDescriptorRef f) {
    f->caller = f->callouts == 0 || f->caller == &this_thread ? &this_thread : NULL;
    f->callouts++;
}

/// What an invalidation meanwhile has left to the last call-out.
static void end_callout(CFFileDescriptorRef f) {
    pthread_mutex_lock(&f->lock);
    bool releases = --f->callouts == 0 && f->context_is_released;
    int descriptor = releases ? f->closing : -1;
    pthread_mutex_unlock(&f->lock);
    if (descriptor >= 0)
        close(descriptor);
    if (releases)
        release_info(f);
}

/// Tells those of `types` that are enabled, which they then no longer are.
static void call_out(CFFileDescriptorRef f, runloop_source *watch, CFOptionFlags types) {
    CFRetain(f);
    pthread_mutex_lock(&f->lock);
    runloop_source *old = NULL;
    types &= watch && watch != f->watch ? 0 : f->enabled;
    if (types) {
        f->enabled &= ~types;
        begin_callout(f);
        old = renew_watch(f);
    }
    pthread_mutex_unlock(&f->lock);
    runloop_source_release(old);
    if (types) {
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
    call_out(((struct link *)info)->f, NULL, BOTH);
}

//===-- the source ---------------------------------------------------------------------------------------------------===//

static void schedule(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFFileDescriptorRef f = ((struct link *)info)->f;
    struct place *place = malloc(sizeof *place);
    if (!place)
        return;
    *place = (struct place){.loop = loop, .mode = CFRetain(mode)};
    pthread_mutex_lock(&f->lock);
    place->next = f->places;
    f->places = place;
    runloop_source *old = NULL;
    if (f->watch)
        watch_in(f, place);
    else if (f->enabled)
        old = renew_watch(f);
    pthread_mutex_unlock(&f->lock);
    runloop_source_release(old);
}

static void cancel(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFFileDescriptorRef f = ((struct link *)info)->f;
    runloop_source *old = NULL;
    pthread_mutex_lock(&f->lock);
    struct place **link = &f->places;
    while (*link && ((*link)->loop != loop || !CFEqual((*link)->mode, mode)))
        link = &(*link)->next;
    struct place *place = *link;
    if (place) {
        *link = place->next;
        if (f->places && f->watch)
            runloop_remove_source(cf__core_of_loop(loop), f->watch, cf__mode_text(mode));
        else
            old = renew_watch(f);
    }
    pthread_mutex_unlock(&f->lock);
    runloop_source_release(old);
    if (place)
        CFRelease(place->mode);
    free(place);
}

/// The source is being freed.
static void free_link(const void *info) {
    struct link *link = (struct link *)(uintptr_t)info;
    pthread_mutex_lock(&link->f->lock);
    if (link->f->link == link)
        link->f->link = NULL;
    pthread_mutex_unlock(&link->f->lock);
    CFRelease(link->f);
    free(link);
}

/// HOLDS: lock. The source, retained, unless it is about to be freed: somebody references it, or a loop keeps it.
static CFRunLoopSourceRef copy_source(CFFileDescriptorRef f) {
    CFRunLoopSourceRef source = f->link ? f->link->source : NULL;
    if (!source || cf__retain_if_referenced(source))
        return source;
    return f->places ? (CFRunLoopSourceRef)(uintptr_t)CFRetain(source) : NULL;
}

/// HOLDS: lock.
static CFRunLoopSourceRef make_source(CFAllocatorRef allocator, CFFileDescriptorRef f, CFIndex order) {
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
    pthread_mutex_lock(&f->lock);
    if (f->descriptor >= 0) {
        source = copy_source(f);
        if (!source)
            source = make_source(allocator, f, order);
    }
    pthread_mutex_unlock(&f->lock);
    return source;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void finalize(CFTypeRef object) {
    CFFileDescriptorRef f = (CFFileDescriptorRef)(uintptr_t)object;
    CFFileDescriptorInvalidate(f);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

const struct cf_class cf__descriptor_class = {
    .type = CF_TYPE_DESCRIPTOR, .name = "CFFileDescriptor", .finalize = finalize};

CFFileDescriptorRef CFFileDescriptorCreate(CFAllocatorRef allocator, CFFileDescriptorNativeDescriptor fd,
                                           Boolean closeOnInvalidate, CFFileDescriptorCallBack callout,
                                           const CFFileDescriptorContext *context) {
    (void)allocator;
    CFFileDescriptorRef f = fd < 0 ? NULL : cf__new(&cf__descriptor_class, sizeof *f);
    if (!f)
        return NULL;
    pthread_mutex_init(&f->lock, NULL);
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

/// Closed at once, unless another thread's callback may be using the descriptor: then right after it.
void CFFileDescriptorInvalidate(CFFileDescriptorRef f) {
    if (!CF_IS(f, CF_TYPE_DESCRIPTOR))
        return;
    pthread_mutex_lock(&f->lock);
    int descriptor = f->descriptor;
    if (descriptor < 0) {
        pthread_mutex_unlock(&f->lock);
        return;
    }
    f->descriptor = -1;
    f->enabled = 0;
    runloop_source *old = renew_watch(f);
    CFRunLoopSourceRef source = copy_source(f);
    f->context_is_released = true;
    bool is_idle = f->callouts == 0, closes = f->closes && (is_idle || f->caller == &this_thread);
    f->closing = f->closes && !closes ? descriptor : -1;
    pthread_mutex_unlock(&f->lock);
    runloop_source_release(old);
    if (source)
        CFRunLoopSourceInvalidate(source);
    CFRelease(source);
    if (closes)
        close(descriptor);
    if (is_idle)
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
    pthread_mutex_lock(&f->lock);
    int descriptor = f->descriptor;
    pthread_mutex_unlock(&f->lock);
    return descriptor;
}

void CFFileDescriptorGetContext(CFFileDescriptorRef f, CFFileDescriptorContext *context) {
    if (!CF_IS(f, CF_TYPE_DESCRIPTOR) || !context)
        return;
    *context = f->context;
    pthread_mutex_lock(&f->lock);
    if (f->context_is_released)
        context->info = NULL;
    pthread_mutex_unlock(&f->lock);
}
