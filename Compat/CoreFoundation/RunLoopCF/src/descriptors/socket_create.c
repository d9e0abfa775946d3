// socket_create.c — sockets: made, one for each descriptor; their sources.
//
// Socket and source own each other until the socket is invalidated, or an invalid source is replaced.

#include "descriptors/socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void finalize(CFTypeRef object) {
    free((CFSocketRef)(uintptr_t)object);
}

static const struct cf_class class = {.type = CF_TYPE_SOCKET, .finalize = finalize};

UNCHECKED static CFSocketRef make(int native, CFOptionFlags types, CFSocketCallBack callout,
                                  const CFSocketContext *context) {
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
    s->callout = callout;
    if (context) {
        s->context = *context;
        if (context->retain)
            s->context.info = (void *)(uintptr_t)context->retain(context->info);
    }
    return s;
}

/// The socket of the descriptor, retained.
static CFSocketRef copy_known(int native) HOLDS(cf__sockets_lock) {
    CFSocketRef s = cf__socket_of_native(native);
    return s ? (CFSocketRef)(uintptr_t)CFRetain(s) : NULL;
}

/// Enters a new socket, unless another thread was faster, or memory ran out.
static CFSocketRef enter(CFSocketRef s) {
    process_lock(&cf__sockets_lock);
    CFSocketRef known = copy_known(s->native);
    if (!known && cf__socket_enter(s))
        known = s;
    process_unlock(&cf__sockets_lock);
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
    process_lock(&cf__sockets_lock);
    CFSocketRef s = copy_known(sock);
    process_unlock(&cf__sockets_lock);
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

/// Ends a socket that the program does not know yet.
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

static const void *retain_socket(const void *info) {
    return CFRetain(info);
}

static void release_socket(const void *info) {
    CFRelease(info);
}

CFRunLoopSourceRef CFSocketCreateRunLoopSource(CFAllocatorRef allocator, CFSocketRef s, CFIndex order) {
    (void)allocator;
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return NULL;
    CFRunLoopSourceContext context = {.info = s, .retain = retain_socket, .release = release_socket};
    CFRunLoopSourceRef old = NULL, source = NULL;
    process_lock(&cf__sockets_lock);
    if (s->native >= 0 && (!s->source || !CFRunLoopSourceIsValid(s->source))) {
        if ((old = s->source))
            cf__source_watch(old, 0);
        struct cf_watch watch = {.descriptor = s->native, .together = true, .ready = cf__socket_serve};
        s->source = cf__source_create_watching(order, &context, &watch);
        cf__socket_watch(s);
    }
    source = s->source ? (CFRunLoopSourceRef)(uintptr_t)CFRetain(s->source) : NULL;
    process_unlock(&cf__sockets_lock);
    CFRelease(old);
    return source;
}
