// socket_transfer.c — what a program does with a socket: binds it, connects it, sends data. No lock is held.

#include "descriptors/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

enum { BACKLOG = 256 };

/// Waits until the descriptor can be written to. 0, or a CFSocketError.
static CFSocketError wait_until(int native, int64_t end_ns) {
    for (;;) {
        struct pollfd item = {.fd = native, .events = POLLOUT};
        int64_t rest_ns = end_ns - runloop_get_now_ns(NULL);
        int64_t rest_ms = rest_ns <= 0 ? 0 : rest_ns / 1000000 + 1;
        int count = poll(&item, 1, end_ns == RUNLOOP_FOREVER ? -1 : rest_ms > INT32_MAX ? INT32_MAX : (int)rest_ms);
        if (count > 0)
            return kCFSocketSuccess;
        if (count < 0 && errno != EINTR)
            return kCFSocketError;
        if (count == 0 && rest_ns <= 0)
            return kCFSocketTimeout;
    }
}

/// Until a call that was refused for want of space may be tried again. A Unix socket can be written to, in the kernel's view, while the
/// queue of the other side is full; nothing reports when that has space, so it is asked every millisecond.
static CFSocketError wait_for_space(int native, int64_t end_ns) {
    if (wait_until(native, 0) == kCFSocketTimeout)
        return wait_until(native, end_ns);
    if (runloop_get_now_ns(NULL) >= end_ns)
        return kCFSocketTimeout;
    poll(NULL, 0, 1);
    return kCFSocketSuccess;
}

static int64_t end_of(CFTimeInterval timeout) {
    int64_t now_ns = runloop_get_now_ns(NULL), length_ns = cf__nanoseconds(timeout);
    return length_ns > INT64_MAX - now_ns ? RUNLOOP_FOREVER : now_ns + length_ns;
}

static const struct sockaddr *address_of(CFDataRef address, socklen_t *size) {
    *size = (socklen_t)CFDataGetLength(address);
    return *size > 0 ? (const void *)CFDataGetBytePtr(address) : NULL;
}

//===-- binding ------------------------------------------------------------------------------------------------------===//

CFSocketError CFSocketSetAddress(CFSocketRef s, CFDataRef address) {
    socklen_t size;
    const struct sockaddr *name = address_of(address, &size);
    int native = CFSocketGetNative(s);
    if (native < 0 || !name || bind(native, name, size) < 0)
        return kCFSocketError;
    if (listen(native, BACKLOG) < 0 && errno != EOPNOTSUPP)
        return kCFSocketError;
    cf__socket_enable_again(s, CF_SOCKET_INPUT);
    return kCFSocketSuccess;
}

//===-- connecting ---------------------------------------------------------------------------------------------------===//

static CFSocketError connect_native(int native, const struct sockaddr *name, socklen_t size, CFTimeInterval timeout) {
    if (timeout != 0)
        fcntl(native, F_SETFL, fcntl(native, F_GETFL) | O_NONBLOCK);
    int64_t end_ns = timeout > 0 ? end_of(timeout) : RUNLOOP_FOREVER;
    int answer;
    while ((answer = connect(native, name, size)) < 0 && errno == EAGAIN && timeout > 0) {
        CFSocketError result = wait_for_space(native, end_ns);
        if (result != kCFSocketSuccess)
            return result;
    }
    if (answer == 0)
        return kCFSocketSuccess;
    // A signal interrupts only the wait; the connection is made in the background.
    bool was_interrupted = errno == EINTR;
    if (errno != EINPROGRESS && errno != EALREADY && !was_interrupted)
        return kCFSocketError;
    if (timeout < 0)
        return kCFSocketSuccess;
    if (timeout == 0 && !was_interrupted)
        return kCFSocketTimeout;
    CFSocketError result = wait_until(native, end_ns);
    int error = 0;
    socklen_t error_size = sizeof error;
    if (result == kCFSocketSuccess && (getsockopt(native, SOL_SOCKET, SO_ERROR, &error, &error_size) < 0 || error))
        return kCFSocketError;
    return result;
}

CFSocketError CFSocketConnectToAddress(CFSocketRef s, CFDataRef address, CFTimeInterval timeout) {
    socklen_t size;
    const struct sockaddr *name = address_of(address, &size);
    int native = CFSocketGetNative(s);
    if (native < 0 || !name)
        return kCFSocketError;
    CFSocketError result = connect_native(native, name, size, timeout);
    if (result != kCFSocketError)
        cf__socket_enable_again(s, CF_SOCKET_CONNECT);
    return result;
}

//===-- sending ------------------------------------------------------------------------------------------------------===//

CFSocketError CFSocketSendData(CFSocketRef s, CFDataRef address, CFDataRef data, CFTimeInterval timeout) {
    socklen_t size;
    const struct sockaddr *name = address_of(address, &size);
    int native = CFSocketGetNative(s);
    if (native < 0 || !CF_IS(data, CF_TYPE_DATA))
        return kCFSocketError;
    const UInt8 *bytes = CFDataGetBytePtr(data);
    size_t rest = (size_t)CFDataGetLength(data);
    bool waits = timeout > 0;
    int64_t end_ns = waits ? end_of(timeout) : 0;
    for (;;) {
        ssize_t count = sendto(native, bytes, rest, MSG_NOSIGNAL | (waits ? MSG_DONTWAIT : 0), name, size);
        if (count >= 0 && (size_t)count == rest)
            return kCFSocketSuccess;
        if (count > 0) {
            bytes += count;
            rest -= (size_t)count;
        } else if (waits && errno == EAGAIN) {
            CFSocketError result = wait_for_space(native, end_ns);
            if (result != kCFSocketSuccess)
                return result;
        } else if (errno != EINTR) {
            return kCFSocketError;
        }
    }
}
