"""Listeners, and connections that are made. What runloop.linux offers."""

import errno
import math
import os

from ._core import check, ffi, in_seconds, left, lib, nanoseconds
from ._linux import Arrivals, Object
from .loop import COMMON_MODES, Loop
from .streams import LIMIT, Stream

_PASSING = (0, -errno.EMFILE, -errno.ENFILE, -errno.ENOBUFS, -errno.ENOMEM)


class Listener(Arrivals):
    """Accepts the connections of a listening socket, while somebody waits: `async for stream in Listener.tcp("127.0.0.1", 0)`. Others wait in
    the kernel's queue, but for a few. `limits` are those of the streams."""

    def __init__(self, file, *, removes_path=False, **limits):
        super().__init__()
        self._limits = limits
        number = file if isinstance(file, int) else file.fileno()
        config = ffi.new("runloop_listener_config *")
        config.descriptor, config.owns, config.removes_path = number, True, removes_path
        config.accepted, config.paused = lib.accepted, lib.listener_paused
        try:
            self._make(lib.runloop_listener_create, config)
        except BaseException:
            if isinstance(file, int):
                os.close(file)
            raise
        if not isinstance(file, int):
            file.detach()

    @classmethod
    def tcp(cls, address, port, *, backlog=0, **limits):
        """`address` is a number: "127.0.0.1", "::". Port 0: the kernel chooses one."""
        return cls(check(lib.runloop_listen_tcp(address.encode(), port, backlog)), **limits)

    @classmethod
    def unix(cls, path, mode=0o600, *, backlog=0, **limits):
        """A path, which is removed at the end."""
        return cls(check(lib.runloop_listen_unix(os.fsencode(path), mode, backlog)), removes_path=True, **limits)

    @classmethod
    def abstract(cls, name, *, backlog=0, **limits):
        return cls(check(lib.runloop_listen_abstract(name.encode(), backlog)), **limits)

    def fileno(self):
        return lib.runloop_source_get_descriptor(self._c)

    async def accept(self):
        """The next connection, as a Stream. While descriptors or memory have run out it waits; it fails when the socket has."""
        return await self.next()

    async def next(self):
        return Stream(await super().next(), **self._limits)

    def __del__(self):
        for number in self.__dict__.get("_values", ()):
            os.close(number)
        super().__del__()


class ConnectError(OSError):
    """There is no connection. `failures` are the attempts that were made: pairs of an address and an OSError."""

    failures = ()


class _Connecting(Object):
    """Awaited it is a Stream; in `async with` that is closed at the end."""

    def __init__(self, limits, within, *, host=None, port=0, path=None, abstract=None, local_address=None, interface=None,
                 keepalive=(0, 0, 0), user_timeout=0, delays=False, resets=False):
        self._limits, self._number, self._error, self._stream = limits, -1, -errno.EINVAL, None
        texts = {"host": host, "path": path, "abstract_name": abstract, "local_address": local_address, "interface": interface}
        config, kept = ffi.new("runloop_connect_config *"), []
        for name, text in texts.items():
            if text is not None:
                kept.append(ffi.new("char[]", os.fsencode(text)))
                setattr(config, name, kept[-1])
        config.port = port
        config.deadline_ns = nanoseconds(in_seconds(lib.runloop_now_ns()) + within)
        config.keepalive_idle_ns, config.keepalive_interval_ns = nanoseconds(keepalive[0]), nanoseconds(keepalive[1])
        config.keepalive_count, config.user_timeout_ns = keepalive[2], nanoseconds(user_timeout)
        config.delays, config.resets, config.connected = delays, resets, lib.connected
        self._make(lib.runloop_connect_create, config)

    def _connected(self, number, error):
        self._number, self._error = number, error
        self._wake()

    async def _connect(self):
        self._claim()
        Loop.current().add(self, COMMON_MODES)
        try:
            await self._wait()
        except BaseException:
            self.invalidate()
            if self._number >= 0:
                os.close(self._number)
            raise
        if self._error:
            raise self._failure()
        return Stream(self._number, **self._limits)

    def _failure(self):
        count = lib.runloop_connect_get_failures(self._c, ffi.NULL, 0)
        failures = ffi.new("runloop_connect_failure[]", count)
        lib.runloop_connect_get_failures(self._c, failures, count)
        pairs = [(os.fsdecode(ffi.string(f.address)), OSError(-f.error, os.strerror(-f.error))) for f in failures]
        name_error = lib.runloop_connect_get_name_error(self._c)
        words = [ffi.string(name_error).decode()] if name_error else []
        words += [f"{address}: {error.strerror}" for address, error in pairs]
        error = ConnectError(-self._error, "; ".join([os.strerror(-self._error), *words]))
        error.failures = pairs
        return error

    def __await__(self):
        return self._connect().__await__()

    async def __aenter__(self):
        self._stream = await self._connect()
        return await self._stream.__aenter__()

    async def __aexit__(self, *exception):
        await self._stream.__aexit__(*exception)


def _parted(options):
    """The options of the connection and the limits of its stream."""
    return {name: options.pop(name) for name in ("limit", "idle", "message") if name in options}


def connect(host, port, *, within=math.inf, **options):
    """`stream = await connect("localhost", 80, within=5)`, or `async with connect(…) as stream`. The name is looked up and several addresses
    are tried as RFC 8305 says. Options: `local_address`, `interface`, `keepalive` (idle, interval, count), `user_timeout`, `delays`, `resets`,
    and those of Stream. Raises ConnectError."""
    return _Connecting(_parted(options), within, host=host, port=port, **options)


def connect_unix(path, *, within=math.inf, **options):
    """The same for a Unix socket with a path."""
    return _Connecting(_parted(options), within, path=path, **options)


def connect_abstract(name, *, within=math.inf, **options):
    """The same for one without a path."""
    return _Connecting(_parted(options), within, abstract=name, **options)


@ffi.def_extern(onerror=left)
def accepted(listener, descriptor, info):
    ffi.from_handle(info).call("_put", descriptor)


@ffi.def_extern(onerror=left)
def listener_paused(listener, error, info):
    if error not in _PASSING:
        ffi.from_handle(info).call("_fail", error)


@ffi.def_extern(onerror=left)
def connected(connect, descriptor, error, info):
    ffi.from_handle(info).call("_connected", descriptor, error)
