"""Descriptors that are read and written without waiting for them. What runloop.linux offers."""

import errno
import os

from ._core import check, ffi, left, lib, nanoseconds
from ._linux import Object
from .loop import COMMON_MODES, Loop

LIMIT = 64 * 1024


class Descriptor:
    """A number, or a socket's, that is closed with its last user."""

    def __init__(self, file):
        self.number = file if isinstance(file, int) else file.detach()

    def __del__(self):
        os.close(self.number)


class _Half(Object):
    def __init__(self, file):
        self._file = file if isinstance(file, Descriptor) else Descriptor(file)

    def _make(self, function, config):
        super()._make(function, config)
        self._callback.kept = self._file

    def fileno(self):
        """For questions: it is not to be closed."""
        return self._file.number

    def set_deadline(self, date):
        """The instant, of runloop.now(), at which it fails (ETIMEDOUT): of a reader whatever arrives, of a writer if not all was sent by then,
        however much moves. math.inf: none."""
        check(self._set_deadline(self._c, nanoseconds(date)))


class Writer(_Half):
    """Writes to a descriptor: a number or a socket, which is its own from now on, and closed at its end. Bytes are taken at once up to the limit,
    and sent by the loop; what waits at the end is dropped. `idle`: how long waiting output may not move before it fails (ETIMEDOUT).
    `resets`: a connection that ends before this was closed is reset. `async with`: what was written is sent, unless an exception leaves
    the block."""

    _set_deadline = lib.runloop_output_set_deadline

    def __init__(self, file, *, limit=LIMIT, idle=0, resets=False):
        super().__init__(file)
        loop = Loop.current()
        config = ffi.new("runloop_output_config *")
        config.descriptor, config.limit, config.loop = self.fileno(), limit, loop._c
        config.idle_ns, config.resets, config.drained = nanoseconds(idle), resets, lib.drained
        config.low_water = limit // 2  # Waiters for space resume while the rest is sent.
        self._make(lib.runloop_output_create, config)
        loop.add(self, COMMON_MODES)

    async def write(self, data):
        """Until all bytes are sent or in the buffer."""
        bytes, offset = ffi.from_buffer(data), 0
        while offset < len(bytes):
            count = lib.runloop_output_write(self._c, bytes + offset, len(bytes) - offset)
            if count == -errno.EAGAIN:
                await self._wait()
            else:
                offset += check(count)

    async def flush(self):
        """Until nothing waits."""
        while not check_done(lib.runloop_output_flush(self._c)):
            await self._wait()

    async def close(self):
        """Until all was sent; then the peer reads an end, and this has ended."""
        while not check_done(lib.runloop_output_finish(self._c)):
            await self._wait()
        self.invalidate()
        self._file = self._callback.kept = None  # Of a pipe, that was the only one.

    async def __aexit__(self, kind, *unused):
        try:
            if kind is None and self.is_valid:
                await self.close()
        finally:
            self.invalidate()

    @property
    def waiting(self):
        """How many bytes wait."""
        return lib.runloop_output_get_waiting(self._c)


def check_done(outcome):
    """Whether a call was done; False: when it is, `drained` is called."""
    return outcome != -errno.EAGAIN and check(outcome) == 0


class Reader(_Half):
    """Reads a descriptor, which is its own as a writer's is, and only while somebody waits. `limit`: the longest line, and the most bytes that are
    kept. `idle`: how long nothing may arrive before it fails (ETIMEDOUT); `message`: how long a line may take that has begun."""

    _set_deadline = lib.runloop_input_set_deadline

    def __init__(self, file, *, limit=LIMIT, idle=0, message=0, writer=None):
        super().__init__(file)
        self._find, self._taken, self._end = None, bytearray(), None
        loop = Loop.current()
        config = ffi.new("runloop_input_config *")
        config.descriptor, config.limit, config.loop = self.fileno(), limit, loop._c
        config.received, config.ended = lib.received, lib.ended
        config.idle_ns, config.message_ns = nanoseconds(idle), nanoseconds(message)
        config.output = writer._c if writer else ffi.NULL
        self._make(lib.runloop_input_create, config)
        check(lib.runloop_input_pause(self._c))
        loop.add(self, COMMON_MODES)

    async def read(self, count=-1):
        """At least one byte and at most `count`, as they come; none at the end. Without a count everything up to the end."""
        if count < 0:
            everything = bytearray()
            try:
                while chunk := await self.read(LIMIT):
                    everything += chunk
            except BaseException:
                self._taken[:0] = everything  # The next read has it.
                raise
            return bytes(everything)
        return await self._take(lambda have: min(len(have), count)) if count else b""

    async def readline(self):
        """A line with its end, as files have it, or the rest at the end of the input. Longer than the limit: EMSGSIZE."""
        seen = 0

        def find(have):
            nonlocal seen
            end = have.find(b"\n", seen)
            seen = len(have) if end < 0 else 0
            return end + 1

        return await self._take(find)

    async def readexactly(self, count):
        """So many bytes, at most the limit, or those up to the end."""
        return await self._take(lambda have: count if len(have) >= count else 0) if count else b""

    def __aiter__(self):
        return self

    async def __anext__(self):
        line = await self.readline()
        if not line:
            raise StopAsyncIteration
        return line

    async def _take(self, find):
        """As many of the first bytes as `find` says; at the end, the rest."""
        self._claim()
        while True:
            count = find(self._taken)
            if count or self._end is not None:
                break
            self._find = find
            check(lib.runloop_input_resume(self._c))
            try:
                await self._wait()
            finally:
                if self._find:
                    self._find = None
                    lib.runloop_input_pause(self._c)
        if not count and self._end:
            raise OSError(-self._end, os.strerror(-self._end))
        piece = bytes(self._taken[: count or None])
        del self._taken[: count or None]
        return piece

    def _received(self, chunk):
        """How many of the bytes are consumed. What C keeps follows what was taken and not read."""
        if not self._find:
            return 0
        count = self._find(self._taken + chunk) - len(self._taken)
        if count <= 0:
            return 0
        self._taken += chunk[:count]
        self._find = None
        lib.runloop_input_pause(self._c)
        self._wake()
        return count

    def _ended(self, error, rest):
        self._taken += rest
        self._end, self._find = error, None
        self._wake()


class Stream:
    """A socket in both directions: `reader` and `writer`. `async with`: as of the writer."""

    def __init__(self, socket, *, limit=LIMIT, idle=0, message=0, resets=False):
        file = socket if isinstance(socket, Descriptor) else Descriptor(socket)
        self.writer = Writer(file, limit=limit, idle=idle, resets=resets)
        self.reader = Reader(file, limit=limit, idle=idle, message=message, writer=self.writer if idle else None)

    def fileno(self):
        return self.reader.fileno()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception):
        try:
            await self.writer.__aexit__(*exception)
        finally:
            self.abort()

    def abort(self):
        """Ends it now: what waits is dropped. The socket is closed with the last reference to either half."""
        self.reader.invalidate()
        self.writer.invalidate()


@ffi.def_extern(onerror=left)
def drained(output, error, info):
    ffi.from_handle(info).call("_wake")  # The error is the result of the next call.


@ffi.def_extern(onerror=left)
def received(input, bytes, count, info):
    return ffi.from_handle(info).call("_received", ffi.buffer(bytes, count)[:]) or 0


@ffi.def_extern(onerror=left)
def ended(input, error, rest, count, info):
    ffi.from_handle(info).call("_ended", error, ffi.buffer(rest, count)[:] if count else b"")
