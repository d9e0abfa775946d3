// socket_callout.c — the callbacks of a socket: enabled, called, ended by its invalidation. A ready socket reports that it is connected,
// that it has input, data or a client, that it can be written to.
//
// A type is disabled while its callback runs, so that a nested run does not make it again for the same readiness. Data and clients
// are taken from the descriptor first; their callbacks can be made again at once.

#include "descriptors/socket.h"
#include "values/values.h"

#include <errno.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 32768, DATAGRAM = 65536 };

//===-- enabling -----------------------------------------------------------------------------------------------------===//

/// A source without a mode remembers it. An invalid one takes no notice.
void cf__socket_watch(CFSocketRef s) {
    ASSERT_HOLDS(&cf__sockets_lock);
    runloop_readiness wanted = s->enabled & CF_SOCKET_INPUT ? RUNLOOP_READABLE : 0;
    if (s->enabled & CF_SOCKET_OUTPUT)
        wanted |= RUNLOOP_WRITABLE;
    if (s->source)
        cf__source_watch(s->source, wanted);
}

/// Those of the types that the socket was created with. Input is all or nothing.
static CFOptionFlags own_types(CFSocketRef s, CFOptionFlags types) {
    CFOptionFlags input = types & s->types & CF_SOCKET_INPUT ? CF_SOCKET_INPUT : 0;
    return input | (types & s->types & CF_SOCKET_OUTPUT);
}

static void enable(CFSocketRef s, CFOptionFlags types) HOLDS(cf__sockets_lock) {
    ASSERT_HOLDS(&cf__sockets_lock);
    if (s->connect_was_reported)
        types &= ~(CFOptionFlags)CF_SOCKET_CONNECT;
    if (s->native >= 0)
        s->enabled |= types & s->types;
    cf__socket_watch(s);
}

void CFSocketEnableCallBacks(CFSocketRef s, CFOptionFlags callBackTypes) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    CFOptionFlags types = own_types(s, callBackTypes);
    process_lock(&cf__sockets_lock);
    s->disabled &= ~types;
    enable(s, types);
    process_unlock(&cf__sockets_lock);
}

void CFSocketDisableCallBacks(CFSocketRef s, CFOptionFlags callBackTypes) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    CFOptionFlags types = own_types(s, callBackTypes);
    process_lock(&cf__sockets_lock);
    s->disabled |= types;
    s->enabled &= ~types;
    cf__socket_watch(s);
    process_unlock(&cf__sockets_lock);
}

void cf__socket_enable_again(CFSocketRef s, CFOptionFlags types) {
    process_lock(&cf__sockets_lock);
    enable(s, types & ~s->disabled);
    process_unlock(&cf__sockets_lock);
}

//===-- call-outs ----------------------------------------------------------------------------------------------------===//

static CFOptionFlags input_of(CFSocketRef s) {
    return s->types & CF_SOCKET_INPUT;
}

static bool is_enabled_again(CFSocketRef s, CFOptionFlags type) HOLDS(cf__sockets_lock) {
    if (type == CF_SOCKET_CONNECT || s->disabled & type)
        return false;
    CFOptionFlags flag = type == CF_SOCKET_INPUT ? input_of(s) : type;
    return (s->flags & flag) == flag;
}

/// A call-out may end its thread, and `end` then runs after a longjmp, as some C libraries do it. So what it needs is in memory: a variable in a
/// register might be what it was at the setjmp.
struct socket_callout {
    CFSocketRef s;
    CFOptionFlags type;
    int native;
    bool can_repeat;
};

/// Whether a callback of this type is to be made, with the descriptor that it had then.
static bool begin(struct socket_callout *callout) {
    CFSocketRef s = callout->s;
    process_lock(&cf__sockets_lock);
    callout->native = s->enabled & callout->type ? s->native : -1;
    if (callout->native >= 0) {
        bool takes = callout->type == CF_SOCKET_INPUT && input_of(s) != kCFSocketReadCallBack;
        if (!takes || !is_enabled_again(s, callout->type))
            s->enabled &= ~callout->type;
        cf__callouts_begin(&s->callouts);
    }
    process_unlock(&cf__sockets_lock);
    return callout->native >= 0;
}

/// If the socket was invalidated during the call-out, the last call-out closes the descriptor and releases the context, also if it has ended
/// the thread.
static void end(void *object) {
    const struct socket_callout *callout = object;
    CFSocketRef s = callout->s;
    process_lock(&cf__sockets_lock);
    if (!callout->can_repeat)
        s->enabled &= ~callout->type;
    else if (s->native >= 0 && is_enabled_again(s, callout->type))
        s->enabled |= s->types & callout->type;
    cf__socket_watch(s);
    int closing;
    bool releases = cf__callouts_end(&s->callouts, &closing);
    process_unlock(&cf__sockets_lock);
    if (closing >= 0)
        close(closing);
    if (releases && s->context.release)
        s->context.release(s->context.info);
}

static void release_object(void *object) {
    CFRelease(object);
}

/// Releases the address.
static void call(CFSocketRef s, CFSocketCallBackType type, CFDataRef address, const void *data)
    WITHOUT(cf__sockets_lock) {
    ASSERT_WITHOUT(&cf__sockets_lock);
    pthread_cleanup_push(release_object, (void *)(uintptr_t)address);
    if (s->callout)
        s->callout(s, type, address, data, s->context.info);
    pthread_cleanup_pop(true);
}

//===-- invalidating -------------------------------------------------------------------------------------------------===//

void CFSocketInvalidate(CFSocketRef s) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    process_lock(&cf__sockets_lock);
    int descriptor = s->native;
    if (descriptor < 0) {
        process_unlock(&cf__sockets_lock);
        return;
    }
    s->enabled = 0;
    cf__socket_watch(s);
    s->native = -1;
    cf__socket_forget(descriptor);
    CFRunLoopSourceRef source = s->source;
    s->source = NULL;
    bool closes = s->flags & kCFSocketCloseOnInvalidate;
    int closing;
    bool releases = cf__callouts_invalidate(&s->callouts, closes ? descriptor : -1, &closing);
    process_unlock(&cf__sockets_lock);
    CFRunLoopSourceInvalidate(source);
    if (closing >= 0)
        close(closing);
    if (releases && s->context.release)
        s->context.release(s->context.info);
    CFRelease(source);
    CFRelease(s);
}

//===-- connections --------------------------------------------------------------------------------------------------===//

/// A socket that never tried to connect is "writable", too. It has neither a peer nor an error, and nothing is reported.
static bool tried_to_connect(CFSocketRef s, int native, SInt32 error) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    return error || !s->is_connection || getpeername(native, (struct sockaddr *)&address, &size) == 0;
}

/// Whether the socket can be written to. If it can't, since the connection failed, this readiness to write is used up.
static bool tell_connect(CFSocketRef s, int native) {
    int error = 0;
    socklen_t size = sizeof error;
    process_lock(&cf__sockets_lock);
    bool leaves_errors = s->flags & kCFSocketLeaveErrors;
    process_unlock(&cf__sockets_lock);
    if (!leaves_errors && getsockopt(native, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = 0;
    if (!leaves_errors && !tried_to_connect(s, native, error))
        return true;
    process_lock(&cf__sockets_lock);
    s->connect_was_reported = true;
    if (error && !is_enabled_again(s, CF_SOCKET_WRITE))
        s->enabled &= ~(CFOptionFlags)CF_SOCKET_WRITE;
    process_unlock(&cf__sockets_lock);
    SInt32 code = error;
    call(s, kCFSocketConnectCallBack, NULL, error ? &code : NULL);
    return error == 0;
}

//===-- input --------------------------------------------------------------------------------------------------------===//

static bool is_passing(int error) {
    return error != EBADF && error != EINVAL && error != ENOTSOCK && error != EOPNOTSUPP;
}

/// A client that was gone again, or for which there is no descriptor at the moment, is not reported. The descriptor stays ready for
/// the latter. If it can't accept at all, as before CFSocketSetAddress, it is not tried again until that changes.
static bool tell_client(CFSocketRef s, int native) {
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    CFSocketNativeHandle client = accept(native, (struct sockaddr *)&from, &size);
    if (client < 0)
        return is_passing(errno);
    if (s->callout)
        call(s, kCFSocketAcceptCallBack, CFDataCreate(NULL, (const UInt8 *)&from, (CFIndex)size), &client);
    else
        close(client);
    return true;
}

/// How much to read at once: of datagrams, all of the next one.
static CFIndex amount(CFSocketRef s, int native) {
    int waiting = 0;
    if (s->is_connection)
        return CHUNK;
    return ioctl(native, FIONREAD, &waiting) == 0 && waiting > DATAGRAM ? waiting : DATAGRAM;
}

/// A connection that ends, by an error or not, is reported as data without bytes, and then there is nothing more to report.
static void tell_data(CFSocketRef s, int native) {
    CFIndex capacity = amount(s, native);
    CFMutableDataRef data = CFDataCreateMutable(NULL, capacity);
    if (!data)
        return;
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    ssize_t count = recvfrom(native, CFDataGetMutableBytePtr(data), (size_t)capacity, MSG_DONTWAIT,
                             (struct sockaddr *)&from, &size);
    bool has_failed = count < 0 && errno != EAGAIN && errno != EINTR && (s->is_connection || !is_passing(errno));
    bool is_over = has_failed || (count == 0 && s->is_connection);
    pthread_cleanup_push(release_object, data);
    if (count >= 0 || is_over) {
        cf__data_seal(data, count > 0 ? (CFIndex)count : 0);
        CFDataRef address = s->is_connection ? cf__socket_peer_address(native) : NULL;
        if (!address)
            address = CFDataCreate(NULL, (const UInt8 *)&from, s->is_connection || count < 0 ? 0 : (CFIndex)size);
        call(s, kCFSocketDataCallBack, address, data);
    }
    pthread_cleanup_pop(true);
    if (is_over)
        CFSocketInvalidate(s);
}

/// Whether there can be more input of this kind.
static bool tell_input(CFSocketRef s, int native) {
    if (input_of(s) == kCFSocketAcceptCallBack)
        return tell_client(s, native);
    if (input_of(s) == kCFSocketDataCallBack)
        tell_data(s, native);
    else
        call(s, kCFSocketReadCallBack, NULL, NULL);
    return true;
}

static bool tell_writable(CFSocketRef s, int native) {
    (void)native;
    call(s, kCFSocketWriteCallBack, NULL, NULL);
    return true;
}

//===-- all ----------------------------------------------------------------------------------------------------------===//

/// If a callback of this type is to be made, makes it: true then. `result` is what `report` returns.
static bool make(CFSocketRef s, CFOptionFlags type, bool (*report)(CFSocketRef s, int native), bool *result) {
    struct socket_callout callout = {.s = s, .type = type, .native = -1, .can_repeat = true};
    if (!begin(&callout))
        return false;
    pthread_cleanup_push(end, &callout);
    *result = report(s, callout.native);
    callout.can_repeat = type != CF_SOCKET_INPUT || *result;
    pthread_cleanup_pop(true);
    return true;
}

/// A type is disabled while its callback runs, but the source is not paused for that, since it would be watched again right after. If a
/// nested run, or another loop, finds the socket ready meanwhile, there is nothing to call, and then the source is paused.
void cf__socket_serve(void *info, runloop_readiness conditions) {
    CFSocketRef s = (CFSocketRef)(uintptr_t)CFRetain(info);
    if (conditions & (RUNLOOP_ERROR | RUNLOOP_HANG_UP))
        conditions |= RUNLOOP_READABLE | RUNLOOP_WRITABLE;
    bool can_write = conditions & RUNLOOP_WRITABLE, can_read = conditions & RUNLOOP_READABLE;
    pthread_cleanup_push(release_object, s);
    bool any = can_write && make(s, CF_SOCKET_CONNECT, tell_connect, &can_write);
    any |= can_read && make(s, CF_SOCKET_INPUT, tell_input, &can_read);
    any |= can_write && make(s, CF_SOCKET_WRITE, tell_writable, &can_write);
    if (!any)
        cf__socket_enable_again(s, 0);
    pthread_cleanup_pop(true);
}
