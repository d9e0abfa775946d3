"""The objects of the library for Linux as awaitables: signals, and changes of files. What runloop.linux offers."""

import asyncio
import collections
import enum
import os
import weakref

from ._core import ffi, left, lib, nanoseconds
from .items import _AnySource
from .loop import COMMON_MODES, Loop


class Object(_AnySource):
    """Its callbacks are its methods. They keep no reference to it: its awaiter has one."""

    _waiting = None

    def _make(self, function, config, context=None):
        this = weakref.ref(self)

        def call(method, *arguments):
            alive = this()
            return getattr(alive, method)(*arguments) if alive else None

        self._create(function, "runloop_source **", config, call, context)

    def __del__(self):
        if self._c:
            self.invalidate()
        self._release(self._c)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *unused):
        self.invalidate()

    def invalidate(self):
        """Ends it, on its loop's thread. A coroutine that waits for it gets an OSError (EINVAL)."""
        super().invalidate()
        self._wake()

    def _claim(self):
        """Before anything is changed for a coroutine that may wait."""
        if self._waiting:
            raise RuntimeError("another coroutine waits for it")

    async def _wait(self):
        """Until `_wake`."""
        self._claim()
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _wake(self):
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)


class Arrivals(Object):
    """What has come, and was not taken. It is in its modes only while somebody waits."""

    def __init__(self):
        self._values, self._error = collections.deque(), None

    def _put(self, value):
        self._values.append(value)
        self._leave()

    def _fail(self, error):
        self._error = OSError(-error, os.strerror(-error))
        self._leave()

    def _leave(self):
        Loop.current().remove(self, COMMON_MODES)
        self._wake()

    async def next(self):
        """The next one. One coroutine at a time."""
        self._claim()
        while not self._values:
            if self._error:
                raise self._error
            loop = Loop.current()
            loop.add(self, COMMON_MODES)
            try:
                await self._wait()
            except BaseException:
                loop.remove(self, COMMON_MODES)
                raise
        return self._values.popleft()

    def __aiter__(self):
        return self

    async def __anext__(self):
        return await self.next()


# What arrived: `count` arrivals, the last of them by the process `pid` of the user `uid`, with a `code` as in siginfo_t and a `value`.
Arrival = collections.namedtuple("Arrival", "number code count pid uid value")


class Signals(Arrivals):
    """A signal of the process, caught from the creation on: `async for arrival in Signals(signal.SIGTERM)`. Arrivals that nobody waits for
    are kept. `force`: also a signal that is ignored. Python's handlers for the signal are called, too."""

    def __init__(self, number, *, force=False):
        super().__init__()
        config = ffi.new("runloop_signal_config *")
        config.number, config.force, config.receive = number, force, lib.arrived
        self._make(lib.runloop_signal_create, config)

    @property
    def is_caught(self):
        """False if the signal was left ignored."""
        return bool(lib.runloop_signal_is_caught(self._c))


class Scope(enum.IntEnum):
    """What of a path is watched: what has the path; its entries as well; everything below it as well."""

    FILE = lib.RUNLOOP_WATCH_FILE
    DIRECTORY = lib.RUNLOOP_WATCH_DIRECTORY
    TREE = lib.RUNLOOP_WATCH_TREE


class ChangeKind(enum.IntEnum):
    """What has happened to a path. OVERFLOW: the kernel has dropped notifications, and everything was looked at again."""

    CREATED = lib.RUNLOOP_CHANGE_CREATED
    REMOVED = lib.RUNLOOP_CHANGE_REMOVED
    MOVED = lib.RUNLOOP_CHANGE_MOVED
    MODIFIED = lib.RUNLOOP_CHANGE_MODIFIED
    ATTRIBUTES = lib.RUNLOOP_CHANGE_ATTRIBUTES
    OVERFLOW = lib.RUNLOOP_CHANGE_OVERFLOW
    FAILED = lib.RUNLOOP_CHANGE_FAILED


# A change of `path`, which was moved from `former`, or can't be watched, for the reason `error`.
Change = collections.namedtuple("Change", "kind path former error is_directory")


class Changes(Arrivals):
    """The changes of a path, which need not exist yet, from the creation on: `async for changes in Changes(path)`, each a list of at least one.
    With `settle` they are reported together once nothing was noticed for so long."""

    def __init__(self, path, scope=Scope.FILE, *, follows_link=False, settle=0):
        super().__init__()
        text = ffi.new("char[]", os.fsencode(path))
        config = ffi.new("runloop_watch_config *")
        config.path, config.scope, config.follows_link = text, scope, follows_link
        config.settle_ns, config.changed = nanoseconds(settle), lib.changed
        self._make(lib.runloop_watch_create, config)

    def _changed(self, changes):
        self._put([
            Change(ChangeKind(c.kind), path(c.path), path(getattr(c, "from")), -c.error, bool(c.is_directory))
            for c in changes
        ])


def path(text):
    return os.fsdecode(ffi.string(text)) if text else None


@ffi.def_extern(onerror=left)
def arrived(signal, arrival, info):
    a = arrival
    ffi.from_handle(info).call("_put", Arrival(a.number, a.code, a.count, a.pid, a.uid, a.value))


@ffi.def_extern(onerror=left)
def changed(watch, changes, count, info):
    ffi.from_handle(info).call("_changed", changes[0:count])
