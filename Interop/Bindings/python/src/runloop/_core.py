"""What all parts need of the C library: errors, names, times, and how callbacks are kept, called and what they raise."""

import math
import os
import threading

from ._native import ffi, lib

FOREVER_NS = (1 << 63) - 1


def check(outcome):
    """What a C function returned, if it is not an error."""
    if outcome < 0:
        raise OSError(-outcome, os.strerror(-outcome))
    return outcome


_names = {}


def mode_name(mode):
    """The C name of a mode, the same pointer for equal names."""
    name = _names.get(mode)
    if name is None:
        text = mode.encode()
        if b"\0" in text:
            raise ValueError("the name of a mode contains no null characters")
        name = lib.runloop_mode_name(text)
        if not name:
            raise MemoryError
        _names[mode] = name
    return name


def nanoseconds(seconds):
    """Of a duration or an instant in seconds; what they can't hold is for ever."""
    if math.isnan(seconds):
        raise ValueError("not a number of seconds: nan")
    if abs(seconds) >= FOREVER_NS / 1e9:
        return FOREVER_NS if seconds > 0 else -FOREVER_NS
    return int(seconds * 1e9)


def in_seconds(ns):
    return math.inf if ns == FOREVER_NS else ns / 1e9


class Callback:
    """What the C library has a handle of. An invalidated item lets its function go at once, whenever the C library releases the
    handle: otherwise a source whose callback refers to the source would never be freed. What is `kept` remains until then: Python's
    collector of cycles, which ends the items it finds in any order, does not find it."""

    __slots__ = ("call", "kept")

    def __init__(self, call):
        self.call, self.kept = call, None

    def clear(self):
        self.call = _nothing


def _nothing(*unused):
    pass


# The handles that the C library has, until it calls `released` or `posted`.
_kept = {}


def keep(callback):
    handle = ffi.new_handle(callback)
    _kept[handle] = handle
    return handle


def drop(handle, kept=_kept):  # Also while the interpreter ends, and this module has no names any more.
    kept.pop(handle, None)


def create(function, kind, config, callback, context=None):
    """A new C item, whose context, if that is not the configuration's own, keeps the callback."""
    out, context = ffi.new(kind), context or config.context
    handle = context.info = keep(callback)
    context.release = lib.released
    try:
        check(function(config, out))
    except BaseException:
        drop(handle)
        raise
    return out[0]


class Runs(threading.local):
    """The runs of the thread, the innermost one last: each is a list with the exception that is to come out of it, if there is
    one. `host` is the selector of the asyncio event loop that the thread runs, if it is runloop.aio's."""

    def __init__(self):
        self.active, self.host = [], None

    def awake(self):
        """Before a use of the thread's loop that depends on whether it runs, or of which it must know before it sleeps: asyncio,
        whose callback this is, has the loop in a run that looks asleep."""
        if self.host:
            self.host.awake()


runs = Runs()


class Observers:
    """`change` is another object after each addition and removal of an observer, on any thread."""

    change = object()


def changing_observers(function):
    def wrapper(*arguments):
        try:
            return function(*arguments)
        finally:
            Observers.change = object()

    return wrapper


def called(function, *arguments):
    """The result of a C function that runs the loop, and the exception that is to come out of it, or None."""
    here = []
    runs.active.append(here)
    try:
        result = function(*arguments)
    finally:
        runs.active.pop()
    return result, here.pop() if here else None


def left(kind, error, trace):
    """A callback has raised: the innermost run ends with the exception. One that was raised before becomes its context. Outside of
    runs it is raised to cffi, which prints it."""
    if not runs.active:
        raise error
    run = runs.active[-1]
    if run and run[0] is not error and error.__context__ is None:
        error.__context__ = run[0]
    run[:] = [error]
    lib.runloop_stop(lib.runloop_current())


@ffi.def_extern(onerror=left)
def fired(timer, info):
    ffi.from_handle(info).call()


@ffi.def_extern(onerror=left)
def performed(source, info):
    ffi.from_handle(info).call()


@ffi.def_extern(onerror=left)
def ready(source, events, info):
    ffi.from_handle(info).call(events)


@ffi.def_extern(onerror=left)
def observed(observer, activity, info):
    ffi.from_handle(info).call(activity)


@ffi.def_extern(onerror=left)
def posted(info):
    callback = ffi.from_handle(info)
    drop(info)
    callback()


@ffi.def_extern(onerror=left)
def released(info, drop=drop):
    drop(info)


@ffi.def_extern(onerror=left)
def signals_pending():
    """Python's handlers run when Python's code does, before the first instruction here at the latest."""
