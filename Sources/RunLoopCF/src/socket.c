// socket.c — sockets: made, one for each descriptor; enabled, invalidated; their sources.
//
// A socket's run loop source is an ordinary signalled source. Through `schedule` and `cancel` the socket learns the modes and loops
// to which it belongs, and joins or leaves their sets (socket_set.c). The source itself is signalled only for a regular file.
//
// The table owns a reference to each valid socket, so a program that gets a descriptor from somewhere always finds the socket that
// it belongs to. Socket and source own each other until one of them is invalidated.

#include "socket.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct lock cf__sockets_lock;

static CFSocketRef *table; ///< by descriptor; the sockets' lock, as the next two
static int table_size;
static uint32_t last_serial;

CFTypeID CFSocketGetTypeID(void) {
    return CF_TYPE_SOCKET;
}

static void finalize(CFTypeRef object) {
    free((CFSocketRef)(uintptr_t)object);
}

static const struct cf_class class = {.type = CF_TYPE_SOCKET, .finalize = finalize};

//===-- the table ----------------------------------------------------------------------------------------------------===//

CFSocketRef cf__socket_of_native(int native, uint32_t serial) {
    CFSocketRef s = native >= 0 && native < table_size ? table[native] : NULL;
    return s && (serial == 0 || s->serial == serial) ? s : NULL;
}

/// HOLDS: the sockets' lock.
static bool reserve_entry(int native) {
    if (native < table_size)
        return true;
    int size = native < table_size * 2 ? table_size * 2 : native + 64;
    CFSocketRef *larger = realloc(table, (size_t)size * sizeof(CFSocketRef));
    if (!larger)
        return false;
    memset(larger + table_size, 0, (size_t)(size - table_size) * sizeof(CFSocketRef));
    table = larger;
    table_size = size;
    return true;
}

//===-- creating -----------------------------------------------------------------------------------------------------===//

static CFSocketRef make(int native, CFOptionFlags types, CFSocketCallBack callout, const CFSocketContext *context) {
    CFSocketRef s = cf__new(&class, sizeof *s);
    if (!s)
        return NULL;
    int type = 0;
    socklen_t size = sizeof type;
    s->is_connection =
        getsockopt(native, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && (type == SOCK_STREAM || type == SOCK_SEQPACKET);
    s->types = s->enabled = types & (CF_SOCKET_INPUT | CF_SOCKET_OUTPUT);
    s->flags = (types & CF_SOCKET_INPUT) | kCFSocketCloseOnInvalidate;
    s->native = native;
    s->closing = -1;
    s->callout = callout;
    if (context) {
        s->context = *context;
        if (context->retain)
            s->context.info = (void *)(uintptr_t)context->retain(context->info);
    }
    return s;
}

/// HOLDS: the sockets' lock. The socket of the descriptor, retained.
static CFSocketRef copy_known(int native) {
    CFSocketRef s = cf__socket_of_native(native, 0);
    return s ? (CFSocketRef)(uintptr_t)CFRetain(s) : NULL;
}

/// Enters a new socket, unless another thread was faster, or memory ran out.
static CFSocketRef enter(CFSocketRef s) {
    lock_take(&cf__sockets_lock);
    CFSocketRef known = copy_known(s->native);
    if (!known && reserve_entry(s->native)) {
        s->serial = ++last_serial ? last_serial : ++last_serial;
        table[s->native] = known = (CFSocketRef)(uintptr_t)CFRetain(s);
    }
    lock_give(&cf__sockets_lock);
    if (known != s) {
        if (s->context.release)
            s->context.release(s->context.info);
        CFRelease(s);
    }
    return known;
}

CFSocketRef CFSocketCreateWithNative(CFAllocatorRef allocator, CFSocketNativeHandle sock, CFOptionFlags callBackTypes,
                                     CFSocketCallBack callout, const CFSocketContext *context) {
    (void)allocator;
    lock_take(&cf__sockets_lock);
    CFSocketRef s = copy_known(sock);
    lock_give(&cf__sockets_lock);
    if (s)
        return s;
    int flags = fcntl(sock, F_GETFL);
    if (flags < 0)
        return NULL;
    // A client may be gone before it is accepted, and the loop must not wait for the next one.
    if ((callBackTypes & CF_SOCKET_INPUT) == kCFSocketAcceptCallBack)
        fcntl(sock, F_SETFL, flags | O_NONBLOCK);
    s = make(sock, callBackTypes, callout, context);
    return s ? enter(s) : NULL;
}

CFSocketRef CFSocketCreate(CFAllocatorRef allocator, SInt32 protocolFamily, SInt32 socketType, SInt32 protocol,
                           CFOptionFlags callBackTypes, CFSocketCallBack callout, const CFSocketContext *context) {
    if (protocolFamily <= 0)
        protocolFamily = PF_INET;
    if (protocolFamily == PF_INET && socketType <= 0)
        socketType = SOCK_STREAM;
    int native = socket(protocolFamily, socketType, protocol < 0 ? 0 : protocol);
    if (native < 0)
        return NULL;
    CFSocketRef s = CFSocketCreateWithNative(allocator, native, callBackTypes, callout, context);
    if (!s)
        close(native);
    return s;
}

static CFSocketRef create(CFAllocatorRef allocator, const CFSocketSignature *signature, CFOptionFlags types,
                          CFSocketCallBack callout, const CFSocketContext *context) {
    return !signature ? NULL
                      : CFSocketCreate(allocator, signature->protocolFamily, signature->socketType, signature->protocol,
                                       types, callout, context);
}

/// Ends a socket of which the program was not told yet.
static CFSocketRef unless(CFSocketError error, CFSocketRef s) {
    if (error == kCFSocketSuccess)
        return s;
    CFSocketInvalidate(s);
    CFRelease(s);
    return NULL;
}

CFSocketRef CFSocketCreateWithSocketSignature(CFAllocatorRef allocator, const CFSocketSignature *signature,
                                              CFOptionFlags callBackTypes, CFSocketCallBack callout,
                                              const CFSocketContext *context) {
    CFSocketRef s = create(allocator, signature, callBackTypes, callout, context);
    return s ? unless(CFSocketSetAddress(s, signature->address), s) : NULL;
}

CFSocketRef CFSocketCreateConnectedToSocketSignature(CFAllocatorRef allocator, const CFSocketSignature *signature,
                                                     CFOptionFlags callBackTypes, CFSocketCallBack callout,
                                                     const CFSocketContext *context, CFTimeInterval timeout) {
    CFSocketRef s = create(allocator, signature, callBackTypes, callout, context);
    return s ? unless(CFSocketConnectToAddress(s, signature->address, timeout), s) : NULL;
}

//===-- the source ---------------------------------------------------------------------------------------------------===//

/// An addition and an invalidation may meet: whichever of `schedule` and `cancel` is last finds the source invalid or the member.
static void schedule(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFSocketRef s = info;
    lock_take(&cf__sockets_lock);
    if (s->native >= 0 && s->source && CFRunLoopSourceIsValid(s->source))
        cf__socket_join(s, cf__core_of_loop(loop), cf__mode_name(mode), cf__order(CFRunLoopSourceGetOrder(s->source)));
    lock_give(&cf__sockets_lock);
}

/// A removal that has not ended the membership yet waits for the lock, and finds the member.
void cf__socket_try_again(CFTypeRef object, CFRunLoopRef loop, CFRunLoopMode mode) {
    CFSocketRef s = (CFSocketRef)(uintptr_t)object;
    lock_take(&cf__sockets_lock);
    if (s->native >= 0 && s->source && CFRunLoopContainsSource(loop, s->source, mode))
        cf__socket_join(s, cf__core_of_loop(loop), cf__mode_name(mode), cf__order(CFRunLoopSourceGetOrder(s->source)));
    lock_give(&cf__sockets_lock);
}

static void cancel(void *info, CFRunLoopRef loop, CFRunLoopMode mode) {
    lock_take(&cf__sockets_lock);
    cf__socket_leave(info, cf__core_of_loop(loop), cf__mode_name(mode));
    lock_give(&cf__sockets_lock);
}

static void perform(void *info) {
    CFSocketRef s = info;
    lock_take(&cf__sockets_lock);
    bool is_ready = s->is_always_ready;
    lock_give(&cf__sockets_lock);
    if (is_ready) {
        cf__socket_serve(s, EPOLLIN | EPOLLOUT);
        return;
    }
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    CFRunLoopMode mode = CFRunLoopCopyCurrentMode(loop);
    if (mode)
        cf__socket_try_again(s, loop, mode);
    CFRelease(mode);
}

static const void *retain_socket(const void *info) {
    return CFRetain(info);
}

static void release_socket(const void *info) {
    CFRelease(info);
}

CFRunLoopSourceRef CFSocketCreateRunLoopSource(CFAllocatorRef allocator, CFSocketRef s, CFIndex order) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return NULL;
    CFRunLoopSourceContext context = {.info = s, .retain = retain_socket, .release = release_socket};
    context.schedule = schedule;
    context.cancel = cancel;
    context.perform = perform;
    CFRunLoopSourceRef old = NULL, source = NULL;
    lock_take(&cf__sockets_lock);
    if (s->native >= 0 && (!s->source || !CFRunLoopSourceIsValid(s->source))) {
        old = s->source;
        s->source = CFRunLoopSourceCreate(allocator, order, &context);
    }
    source = s->source ? (CFRunLoopSourceRef)(uintptr_t)CFRetain(s->source) : NULL;
    lock_give(&cf__sockets_lock);
    CFRelease(old);
    return source;
}

//===-- invalidating -------------------------------------------------------------------------------------------------===//

void CFSocketInvalidate(CFSocketRef s) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    lock_take(&cf__sockets_lock);
    int descriptor = s->native;
    if (descriptor < 0) {
        lock_give(&cf__sockets_lock);
        return;
    }
    while (s->members)
        cf__socket_end_member(s->members);
    s->enabled = 0;
    s->native = -1;
    table[descriptor] = NULL;
    CFRunLoopSourceRef source = s->source;
    s->source = NULL;
    s->context_is_released = true;
    bool is_idle = s->callouts == 0, closes = s->flags & kCFSocketCloseOnInvalidate;
    bool closes_now = closes && (is_idle || cf__socket_is_called_here(s));
    s->closing = closes && !closes_now ? descriptor : -1;
    lock_give(&cf__sockets_lock);
    CFRunLoopSourceInvalidate(source);
    if (closes_now)
        close(descriptor);
    if (is_idle && s->context.release)
        s->context.release(s->context.info);
    CFRelease(source);
    CFRelease(s);
}

Boolean CFSocketIsValid(CFSocketRef s) {
    return CFSocketGetNative(s) >= 0;
}

//===-- callbacks and getters ----------------------------------------------------------------------------------------===//

/// Those of the types that the socket was created with. Input is all or nothing.
static CFOptionFlags own_types(CFSocketRef s, CFOptionFlags types) {
    CFOptionFlags input = types & s->types & CF_SOCKET_INPUT ? CF_SOCKET_INPUT : 0;
    return input | (types & s->types & CF_SOCKET_OUTPUT);
}

/// HOLDS: the sockets' lock.
static void enable(CFSocketRef s, CFOptionFlags types) {
    if (s->connect_was_told)
        types &= ~(CFOptionFlags)CF_SOCKET_CONNECT;
    if (s->native >= 0)
        s->enabled |= types & s->types;
    cf__socket_watch(s);
}

void CFSocketEnableCallBacks(CFSocketRef s, CFOptionFlags callBackTypes) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    CFOptionFlags types = own_types(s, callBackTypes);
    lock_take(&cf__sockets_lock);
    s->disabled &= ~types;
    enable(s, types);
    lock_give(&cf__sockets_lock);
}

void CFSocketDisableCallBacks(CFSocketRef s, CFOptionFlags callBackTypes) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    CFOptionFlags types = own_types(s, callBackTypes);
    lock_take(&cf__sockets_lock);
    s->disabled |= types;
    s->enabled &= ~types;
    cf__socket_watch(s);
    lock_give(&cf__sockets_lock);
}

void cf__socket_enable_again(CFSocketRef s, CFOptionFlags types) {
    lock_take(&cf__sockets_lock);
    enable(s, types & ~s->disabled);
    lock_give(&cf__sockets_lock);
}

CFOptionFlags CFSocketGetSocketFlags(CFSocketRef s) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return 0;
    lock_take(&cf__sockets_lock);
    CFOptionFlags flags = s->flags;
    lock_give(&cf__sockets_lock);
    return flags;
}

void CFSocketSetSocketFlags(CFSocketRef s, CFOptionFlags flags) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    lock_take(&cf__sockets_lock);
    s->flags = flags & 0xff;
    lock_give(&cf__sockets_lock);
}

CFSocketNativeHandle CFSocketGetNative(CFSocketRef s) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return -1;
    lock_take(&cf__sockets_lock);
    int native = s->native;
    lock_give(&cf__sockets_lock);
    return native;
}

void CFSocketGetContext(CFSocketRef s, CFSocketContext *context) {
    if (!CF_IS(s, CF_TYPE_SOCKET) || !context)
        return;
    *context = s->context;
    lock_take(&cf__sockets_lock);
    if (s->context_is_released)
        context->info = NULL;
    lock_give(&cf__sockets_lock);
}
