"""A CoreFoundation over ctypes: librunloop-cf, or another one, whose path is in the environment as CF_LIBRARY."""

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_double, c_int, c_long, c_ubyte, c_ulong, c_void_p

cf = ctypes.CDLL(os.environ["CF_LIBRARY"], mode=ctypes.RTLD_GLOBAL)

SocketCallBack = CFUNCTYPE(None, c_void_p, c_ulong, c_void_p, c_void_p, c_void_p)
TimerCallBack = CFUNCTYPE(None, c_void_p, c_void_p)


class Context(Structure):
    """CFSocketContext and CFRunLoopTimerContext."""

    _fields_ = [(name, c_long if name == "version" else c_void_p) for name in ("version", "info", "retain", "release", "describe")]


def declare(name, result, *arguments):
    function = getattr(cf, name)
    function.restype, function.argtypes = result, arguments
    return function


declare("CFRetain", c_void_p, c_void_p)
declare("CFRelease", None, c_void_p)
declare("CFAbsoluteTimeGetCurrent", c_double)
declare("CFRunLoopGetCurrent", c_void_p)
declare("CFRunLoopRun", None)
declare("CFRunLoopStop", None, c_void_p)
declare("CFRunLoopAddSource", None, c_void_p, c_void_p, c_void_p)
declare("CFRunLoopRemoveSource", None, c_void_p, c_void_p, c_void_p)
declare("CFRunLoopAddTimer", None, c_void_p, c_void_p, c_void_p)
declare("CFRunLoopTimerCreate", c_void_p, c_void_p, c_double, c_double, c_ulong, c_long, TimerCallBack, POINTER(Context))
declare("CFRunLoopTimerInvalidate", None, c_void_p)
declare("CFRunLoopTimerIsValid", c_ubyte, c_void_p)
declare("CFSocketCreateWithNative", c_void_p, c_void_p, c_int, c_ulong, SocketCallBack, POINTER(Context))
declare("CFSocketCreateRunLoopSource", c_void_p, c_void_p, c_void_p, c_long)
declare("CFSocketSetSocketFlags", None, c_void_p, c_ulong)
declare("CFSocketEnableCallBacks", None, c_void_p, c_ulong)
declare("CFSocketDisableCallBacks", None, c_void_p, c_ulong)
declare("CFSocketInvalidate", None, c_void_p)
declare("CFSocketIsValid", c_ubyte, c_void_p)


def constant(name):
    return c_void_p.in_dll(cf, name).value
