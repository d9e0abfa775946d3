// source.c — sources of both versions: created, added, signalled, invalidated.
//
// A source of version 1 gets its descriptor from `getPort` when it is added. A core source has one descriptor, from its creation, so the
// core source is created at the first addition, and replaced if `getPort` returns another descriptor later. Before the first addition
// the source has a core source without a descriptor.
//
// The source of a CFSocket or a CFFileDescriptor is of version 0, and its core source watches the descriptor. So modes, loops and signals are
// the core's business as for any other source. What the kernel refuses to watch is in its modes all the same: the core source is paused, and
// a signal or a deadline of its own has it called, to try again. No field says what is wanted: the source's maker knows.

#include "loop/source.h"

CFTypeID CFRunLoopSourceGetTypeID(void) {
    return CF_TYPE_SOURCE;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void release_owner(struct __CFRunLoopSource *source) {
    if (!cf__item_release(&source->item))
        return;
    if (source->context.v0.release)
        source->context.v0.release(source->context.v0.info);
    free(source);
}

static void finalize(CFTypeRef object) {
    struct __CFRunLoopSource *source = (struct __CFRunLoopSource *)(uintptr_t)object;
    // Another thread may have revived it by now, and replace the core source.
    take(source);
    runloop_source *core = source->revivals-- > 0 ? NULL : source->core;
    give(source);
    // In this order the context is released while the core source still exists: until then a CFFileDescriptor has it watch.
    release_owner(source);
    runloop_source_release(core);
}

static void revive(CFTypeRef object) {
    struct __CFRunLoopSource *source = (struct __CFRunLoopSource *)(uintptr_t)object;
    cf__item_retain(&source->item);
    take(source);
    if (source->revivals++ < 0)
        runloop_source_retain(source->core);
    give(source);
}

/// What two equal sources must have in common, whatever their `equal` returns. The offset of `perform` depends on the version.
static bool are_alike(CFRunLoopSourceRef source, CFRunLoopSourceRef other) {
    const CFRunLoopSourceContext *left = &source->context.v0, *right = &other->context.v0;
    if (left->version != right->version || source->order != other->order || left->hash != right->hash ||
        left->equal != right->equal)
        return false;
    return is_port(source) ? source->context.v1.perform == other->context.v1.perform : left->perform == right->perform;
}

static Boolean equal(CFTypeRef object, CFTypeRef other) {
    CFRunLoopSourceRef left = (CFRunLoopSourceRef)(uintptr_t)object, right = (CFRunLoopSourceRef)(uintptr_t)other;
    if (!are_alike(left, right) || CFRunLoopSourceIsValid(left) != CFRunLoopSourceIsValid(right))
        return false;
    void *info = left->context.v0.info, *other_info = right->context.v0.info;
    return left->context.v0.equal ? left->context.v0.equal(info, other_info) : info == other_info;
}

static CFHashCode hash(CFTypeRef object) {
    const CFRunLoopSourceContext *context = &((CFRunLoopSourceRef)(uintptr_t)object)->context.v0;
    return context->hash ? context->hash(context->info) : (CFHashCode)(uintptr_t)context->info;
}

static const struct cf_class class = {
    .type = CF_TYPE_SOURCE, .finalize = finalize, .revive = revive, .equal = equal, .hash = hash};

//===-- what the core calls ------------------------------------------------------------------------------------------===//

static void perform(runloop_source *core, void *object) {
    (void)core;
    const CFRunLoopSourceContext *context = &((CFRunLoopSourceRef)object)->context.v0;
    if (context->perform)
        context->perform(context->info);
}

static void ready(runloop_source *core, runloop_readiness events, void *object) {
    (void)core, (void)events;
    CFRunLoopSourceRef source = object;
    const CFRunLoopSourceContext1 *context = &source->context.v1;
    atomic_store(&source->is_signalled, false);
    if (context->perform)
        context->perform(context->info);
}

static void ready_or_again(runloop_source *core, runloop_readiness reasons, void *object) {
    (void)core;
    CFRunLoopSourceRef source = object;
    runloop_readiness both = RUNLOOP_READABLE | RUNLOOP_WRITABLE, own = RUNLOOP_SIGNALLED | RUNLOOP_DUE;
    source->ready(source->context.v0.info, source->is_always_ready ? both : reasons & ~own);
}

typedef void (*loop_callback)(void *info, CFRunLoopRef rl, CFRunLoopMode mode);

static void call_with_loop(loop_callback callback, runloop *core, const char *mode, void *info) WITHOUT(source_lock) {
    CFRunLoopRef loop = cf__copy_loop(core);
    CFStringRef name = cf__mode_string(mode);
    if (loop && name)
        callback(info, loop, name);
    CFRelease(loop);
}

static void schedule(runloop_source *core, runloop *loop, const char *mode, void *object) {
    (void)core;
    CFRunLoopSourceRef source = object;
    call_with_loop(source->context.v0.schedule, loop, mode, source->context.v0.info);
}

_Thread_local FAST_TLS struct cf_removal cf__removal;

static void cancel(runloop_source *core, runloop *loop, const char *mode, void *object) {
    CFRunLoopSourceRef source = cf__removal.core == core ? cf__removal.named : object;
    call_with_loop(source->context.v0.cancel, loop, mode, source->context.v0.info);
}

static void release_context(void *object) {
    release_owner(object);
}

static char *describe_info(void *object) {
    const CFRunLoopSourceContext *context = &((CFRunLoopSourceRef)object)->context.v0;
    return cf__copy_info_description(context->copyDescription, context->info);
}

//===-- creating -----------------------------------------------------------------------------------------------------===//

static runloop_context core_context(struct __CFRunLoopSource *source) {
    return (runloop_context){.info = source,
                             .release = release_context,
                             .describe = source->context.v0.copyDescription ? describe_info : NULL};
}

static runloop_source *make_signalled(struct __CFRunLoopSource *source) {
    const CFRunLoopSourceContext *context = &source->context.v0;
    struct runloop_source_config config = {.context = core_context(source),
                                           .order = cf__order(source->order),
                                           .perform = perform,
                                           .schedule = context->schedule ? schedule : NULL,
                                           .cancel = context->cancel ? cancel : NULL};
    runloop_source *core = NULL;
    return runloop_source_create(&config, &core) ? NULL : core;
}

/// A counter source if the descriptor can be read as a counter, otherwise a source for readiness.
static runloop_source *make_port(struct __CFRunLoopSource *source, int port) {
    struct runloop_descriptor_config config = {.context = core_context(source),
                                               .order = cf__order(source->order),
                                               .descriptor = port < 0 ? -1 : port,
                                               .events = RUNLOOP_READABLE,
                                               .counter = port >= 0,
                                               .ready = ready};
    runloop_source *core = NULL;
    if (port >= 0 && runloop_descriptor_source_create(&config, &core) == 0)
        return core;
    config.counter = false;
    return runloop_descriptor_source_create(&config, &core) ? NULL : core;
}

/// Paused: a core source is made to watch for something.
static runloop_source *make_watching(struct __CFRunLoopSource *source, const struct cf_watch *watch) {
    const CFRunLoopSourceContext *context = &source->context.v0;
    struct runloop_descriptor_config config = {.context = core_context(source),
                                               .order = cf__order(source->order),
                                               .descriptor = watch->descriptor,
                                               .events = RUNLOOP_READABLE,
                                               .together = watch->together,
                                               .ready = ready_or_again,
                                               .schedule = context->schedule ? schedule : NULL,
                                               .cancel = context->cancel ? cancel : NULL};
    runloop_source *core = NULL;
    if (runloop_descriptor_source_create(&config, &core) == 0)
        runloop_source_set_events(core, 0);
    return core;
}

CFRunLoopSourceRef cf__source_create_watching(CFIndex order, const CFRunLoopSourceContext *context,
                                              const struct cf_watch *watch) {
    struct __CFRunLoopSource *source = cf__new(&class, sizeof *source);
    if (!source)
        return NULL;
    cf__item_init(&source->item);
    source->order = order;
    // Unknown versions are accepted, with the callbacks that all have: no descriptor, and nothing to perform.
    if (context->version == 0)
        source->context.v0 = *context;
    else if (context->version == 1)
        memcpy(&source->context.v1, context, sizeof source->context.v1);
    else
        memcpy(&source->context.v1, context, offsetof(CFRunLoopSourceContext1, getPort));
    source->ready = watch ? watch->ready : NULL;
    source->core = watch             ? make_watching(source, watch)
                   : is_port(source) ? make_port(source, -1)
                                     : make_signalled(source);
    if (!source->core) {
        free(source);
        return NULL;
    }
    cf__item_retain(&source->item);
    if (context->retain)
        source->context.v0.info = (void *)(uintptr_t)context->retain(context->info);
    return source;
}

CFRunLoopSourceRef CFRunLoopSourceCreate(CFAllocatorRef allocator, CFIndex order, CFRunLoopSourceContext *context) {
    (void)allocator;
    if (!context)
        cf__misuse(__func__, "a source needs a context.");
    return cf__source_create_watching(order, context, NULL);
}

//===-- watching -----------------------------------------------------------------------------------------------------===//

void cf__source_try_again(CFRunLoopSourceRef source, int error) {
    enum { PAUSE_NS = 100000000 };
    source->is_always_ready |= error == -EPERM;
    if (error == -EPERM || runloop_source_set_deadline(source->core, runloop_now_ns() + PAUSE_NS))
        runloop_source_wake(source->core);
}

void cf__source_watch(CFRunLoopSourceRef source, runloop_readiness conditions) {
    int error = 0;
    if (source->is_always_ready)
        error = conditions ? -EPERM : 0;
    else if (!conditions || runloop_source_get_events(source->core) != conditions)
        error = runloop_source_set_events(source->core, conditions);
    if (is_refusal(error))
        cf__source_try_again(source, error);
}

//===-- core sources -------------------------------------------------------------------------------------------------===//

CFRunLoopSourceRef cf__source_of_core(runloop_source *core) {
    CFRunLoopSourceRef source = runloop_source_get_info_of(core, (void (*)(void))perform);
    return source ? source : runloop_source_get_info_of(core, (void (*)(void))ready);
}

void cf__source_refresh_port(CFRunLoopSourceRef source) {
    const CFRunLoopSourceContext1 *context = &source->context.v1;
    int port = context->getPort ? context->getPort(context->info) : -1;
    runloop_source *old = NULL;
    take(source);
    if (!source->was_invalidated && runloop_source_get_descriptor(source->core) != (port < 0 ? -1 : port)) {
        runloop_source *core = make_port(source, port);
        if (core) {
            cf__item_retain(&source->item);
            old = source->core;
            source->core = core;
        }
    }
    give(source);
    runloop_source_invalidate(old);
    runloop_source_release(old);
}

//===-- signals and the end ------------------------------------------------------------------------------------------===//

void CFRunLoopSourceSignal(CFRunLoopSourceRef source) {
    if (!CF_IS(source, CF_TYPE_SOURCE))
        return;
    // A signal handler may call this for a source of version 0.
    if (!is_port(source))
        runloop_source_signal(source->core);
    else
        atomic_store(&source->is_signalled, CFRunLoopSourceIsValid(source));
}

Boolean CFRunLoopSourceIsSignalled(CFRunLoopSourceRef source) {
    if (!CF_IS(source, CF_TYPE_SOURCE))
        return false;
    runloop_source *core = copy_core(source);
    bool is_signalled =
        is_port(source) ? source->is_signalled && runloop_source_is_valid(core) : runloop_source_is_signalled(core);
    runloop_source_release(core);
    return is_signalled;
}

void CFRunLoopSourceInvalidate(CFRunLoopSourceRef source) {
    if (!CF_IS(source, CF_TYPE_SOURCE))
        return;
    take(source);
    source->was_invalidated = true;
    runloop_source *core = runloop_source_retain(source->core);
    give(source);
    runloop_source_invalidate(core);
    runloop_source_release(core);
}

Boolean CFRunLoopSourceIsValid(CFRunLoopSourceRef source) {
    if (!CF_IS(source, CF_TYPE_SOURCE))
        return false;
    runloop_source *core = copy_core(source);
    bool is_valid = runloop_source_is_valid(core);
    runloop_source_release(core);
    return is_valid;
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

CFIndex CFRunLoopSourceGetOrder(CFRunLoopSourceRef source) {
    return CF_IS(source, CF_TYPE_SOURCE) ? source->order : 0;
}

void CFRunLoopSourceGetContext(CFRunLoopSourceRef source, CFRunLoopSourceContext *context) {
    if (!CF_IS(source, CF_TYPE_SOURCE) || !context)
        return;
    memcpy(context, &source->context, context->version == 1 ? sizeof source->context.v1 : sizeof source->context.v0);
}
