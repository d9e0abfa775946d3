"""asyncio on the run loop: coroutines, streams and subprocesses of asyncio, beside timers, sources and posts of the run loop, on
one thread.

    asyncio.Runner(loop_factory=runloop.aio.EventLoop)          # Python 3.11 and later
    asyncio.set_event_loop_policy(runloop.aio.EventLoopPolicy())  # before asyncio.run()

While nothing of asyncio is ready, its loop sleeps in a run of one mode, whose items are served. A callback of theirs may call
asyncio as one of asyncio's own may: set a future's result, start a task. What it raises goes to asyncio's exception handler, but
for SystemExit and KeyboardInterrupt, which come out of the event loop. In a run of another mode inside a coroutine, asyncio's
callbacks wait.
"""

import asyncio
import math
import selectors

from .items import DescriptorSource, Readiness, Source
from .loop import DEFAULT_MODE, Loop, run

_READ = Readiness.READABLE | Readiness.ERROR | Readiness.HANG_UP | Readiness.PRIORITY
_WRITE = Readiness.WRITABLE | Readiness.ERROR | Readiness.HANG_UP


class Selector(selectors._BaseSelectorImpl):
    """Waits in a run of `mode`. Its descriptors are sources of the loop between attach() and detach() only, so that those of an
    event loop that does not run keep no other one awake."""

    def __init__(self, mode=DEFAULT_MODE):
        super().__init__()
        self.is_selecting = False
        self._mode, self._loop = mode, None
        self._sources, self._ready = {}, []
        self._waker = Source(lambda: None)

    def attach(self):
        """To the calling thread's loop."""
        self._loop = Loop.current()
        for source in [self._waker, *self._sources.values()]:
            self._loop.add(source, self._mode)

    def detach(self):
        loop, self._loop = self._loop, None
        for source in [self._waker, *self._sources.values()]:
            loop.remove(source, self._mode)

    def interrupt(self):
        """Ends the wait, or the next one. Any thread."""
        self._waker.signal()
        loop = self._loop
        if loop:
            loop.wake_up()

    def register(self, fileobj, events, data=None):
        key = super().register(fileobj, events, data)
        try:
            self._sources[key.fd] = self._source(key)
        except BaseException:
            super().unregister(fileobj)
            raise
        return key

    def _source(self, key):
        events = Readiness.READABLE if key.events & selectors.EVENT_READ else Readiness.NONE
        if key.events & selectors.EVENT_WRITE:
            events |= Readiness.WRITABLE
        source = DescriptorSource(key.fd, events, lambda now: self._note(key.fd, now))
        loop = self._loop or Loop.current()
        loop.add(source, self._mode)  # Says whether the descriptor can be waited for.
        if not self._loop:
            loop.remove(source, self._mode)
        return source

    def _note(self, fd, now):
        events = (selectors.EVENT_READ if now & _READ else 0) | (selectors.EVENT_WRITE if now & _WRITE else 0)
        self._ready.append((fd, events))

    def unregister(self, fileobj):
        key = super().unregister(fileobj)
        self._sources.pop(key.fd).invalidate()
        return key

    def modify(self, fileobj, events, data=None):
        self.unregister(fileobj)
        return self.register(fileobj, events, data)

    def select(self, timeout=None):
        self.is_selecting = True
        try:
            run(self._mode, math.inf if timeout is None else max(timeout, 0), return_after_source_handled=True)
        finally:
            self.is_selecting = False
            ready, self._ready = self._ready, []
        keys = [(self._fd_to_key.get(fd), events) for fd, events in ready]
        return [(key, events & key.events) for key, events in keys if key and events & key.events]

    def close(self):
        for source in self._sources.values():
            source.invalidate()
        self._sources.clear()
        self._waker.invalidate()
        super().close()


class EventLoop(asyncio.SelectorEventLoop):
    """asyncio's event loop, on the loop of whichever thread runs it."""

    def __init__(self, mode=DEFAULT_MODE):
        super().__init__(_Selector(self, mode))

    def run_forever(self):
        self._check_closed()
        self._check_running()
        self._selector.attach()
        try:
            super().run_forever()
        finally:
            self._selector.detach()

    def _call_soon(self, callback, args, context):
        return self._noticed(super()._call_soon(callback, args, context))

    def call_at(self, when, callback, *args, context=None):
        return self._noticed(super().call_at(when, callback, *args, context=context))

    def _noticed(self, handle):
        """If an item of the run loop has called asyncio, that did not know of it when it began to wait."""
        if handle._source_traceback:
            del handle._source_traceback[-1]  # our own frame, as asyncio's own methods do
        selector = self._selector
        if selector is not None and selector.is_selecting:
            selector.interrupt()
        return handle

    def _write_to_self(self):
        selector = self._selector
        if selector is not None:
            selector.interrupt()


class _Selector(Selector):
    """What items of the run loop raise goes where asyncio's own callbacks' exceptions go."""

    def __init__(self, event_loop, mode):
        super().__init__(mode)
        self._event_loop = event_loop

    def select(self, timeout=None):
        try:
            return super().select(timeout)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = "an exception in a callback of the run loop"
            self._event_loop.call_exception_handler({"message": message, "exception": error})
            return []


class EventLoopPolicy(asyncio.DefaultEventLoopPolicy):
    """Makes EventLoop the one that asyncio.run() and asyncio.new_event_loop() make."""

    _loop_factory = EventLoop
