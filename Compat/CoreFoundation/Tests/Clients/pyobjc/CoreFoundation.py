"""What Twisted's cfreactor imports from PyObjC's module of this name."""

import itertools

from cf_library import Context, TimerCallBack, cf, constant

kCFAllocatorDefault = None
kCFRunLoopCommonModes = constant("kCFRunLoopCommonModes")

CFAbsoluteTimeGetCurrent = cf.CFAbsoluteTimeGetCurrent
CFRunLoopGetCurrent = cf.CFRunLoopGetCurrent
CFRunLoopRun = cf.CFRunLoopRun
CFRunLoopStop = cf.CFRunLoopStop


class Reference:
    """Releases the object with its last Python reference, as PyObjC does."""

    def __init__(self, pointer):
        self._as_parameter_ = self.pointer = pointer

    def __del__(self):
        if self.pointer and cf:
            cf.CFRelease(self.pointer)


def CFRunLoopAddSource(loop, source, mode):
    cf.CFRunLoopAddSource(loop, source, mode)


def CFRunLoopRemoveSource(loop, source, mode):
    cf.CFRunLoopRemoveSource(loop, source, mode)


# One C function calls back for all timers: the info is the key of the Python function.
_timers = {}
_keys = itertools.count(1)


class Timer(Reference):
    key = None


@TimerCallBack
def _fire(pointer, key):
    function, info, repeats = _timers[key] if key in _timers else (None, None, True)
    if not repeats:
        del _timers[key]
    if function:
        function(pointer, info)


def CFRunLoopTimerCreate(allocator, fireDate, interval, flags, order, callout, info):
    key = next(_keys)
    _timers[key] = callout, info, interval > 0
    timer = Timer(cf.CFRunLoopTimerCreate(allocator, fireDate, interval, flags, order, _fire, Context(info=key)))
    timer.key = key
    return timer


def CFRunLoopAddTimer(loop, timer, mode):
    cf.CFRunLoopAddTimer(loop, timer, mode)


def CFRunLoopTimerInvalidate(timer):
    _timers.pop(timer.key, None)
    cf.CFRunLoopTimerInvalidate(timer)
