"""What Twisted's cfreactor imports from PyObjC's module of this name."""

import itertools

from cf_library import Context, SocketCallBack, cf
from CoreFoundation import Reference

kCFSocketAutomaticallyReenableReadCallBack = 1
kCFSocketAutomaticallyReenableWriteCallBack = 8
kCFSocketReadCallBack = 1
kCFSocketConnectCallBack = 4
kCFSocketWriteCallBack = 8

# One C function calls back for all sockets: the info is the key of the Python function.
_sockets = {}
_keys = itertools.count(1)


class Socket(Reference):
    key = None


@SocketCallBack
def _call(pointer, kind, address, data, key):
    if key in _sockets:
        function, context = _sockets[key]
        function(pointer, kind, None, None, context)


def CFSocketCreateWithNative(allocator, native, kinds, callout, context):
    key = next(_keys)
    _sockets[key] = callout, context
    socket = Socket(cf.CFSocketCreateWithNative(allocator, native, kinds, _call, Context(info=key)))
    socket.key = key
    return socket


def CFSocketCreateRunLoopSource(allocator, socket, order):
    return Reference(cf.CFSocketCreateRunLoopSource(allocator, socket, order))


def CFSocketSetSocketFlags(socket, flags):
    cf.CFSocketSetSocketFlags(socket, flags)


def CFSocketEnableCallBacks(socket, kinds):
    cf.CFSocketEnableCallBacks(socket, kinds)


def CFSocketDisableCallBacks(socket, kinds):
    cf.CFSocketDisableCallBacks(socket, kinds)


def CFSocketInvalidate(socket):
    _sockets.pop(socket.key, None)
    cf.CFSocketInvalidate(socket)
