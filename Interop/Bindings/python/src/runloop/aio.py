"""asyncio on the run loop: coroutines, streams and subprocesses of asyncio, beside timers, sources and posts of the run loop, on
one thread.

    asyncio.run(main(), loop_factory=runloop.aio.EventLoop)       # Python 3.12 and later
    asyncio.Runner(loop_factory=runloop.aio.EventLoop)            # Python 3.11 and later
    asyncio.set_event_loop_policy(runloop.aio.EventLoopPolicy())  # before: see EventLoopPolicy

asyncio waits as it always does, for its descriptors in an epoll set, and hosts a run of one mode: one descriptor in that set is
readable when the run loop has anything to do. A callback of the run loop may call asyncio as one of asyncio's own may: set a
future's result, start a task. What it raises goes to asyncio's exception handler, but for SystemExit and KeyboardInterrupt, which
come out of the event loop. In a run of another mode inside a coroutine, asyncio's callbacks wait.
"""

import asyncio
import errno
import platform
import select
import selectors
import warnings

from . import _epoll, _private
from ._core import Observers, called, check, lib, mode_name, runs
from .items import Source
from .loop import COMMON_MODES, DEFAULT_MODE, Loop

_BUDGET_NS = 1_000_000  # Then asyncio has its turn.
_EXCEPT_READ, _EXCEPT_WRITE = ~select.EPOLLIN, ~select.EPOLLOUT
_private.check()


class _Selector(_epoll.Selector):
    """asyncio's selector, beside whose descriptors a hosted run of the mode sleeps.

    A run that lasts looks like a run for each wait, as long as there are no observers and the thread makes no use of
    the run loop: then the run rests, and a wait costs what it costs asyncio. Before such a use (see Runs.awake) the run ends, and
    the next wait begins another one. In a mode with observers each wait is a run of its own."""

    def __init__(self, event_loop, mode):
        if mode == COMMON_MODES:
            raise ValueError("an event loop sleeps in one mode, not in all common ones")
        super().__init__()
        self._event_loop, self._mode, self._name = event_loop, mode, mode_name(mode)
        self._run_loop = self._observers = self._descriptor = None
        self._is_observed = self._is_in_run = self._rests = self._waits = False
        self._waker = Source(lambda: None)  # There is always something in the mode.

    def attach(self):
        """To the calling thread's loop."""
        self._run_loop, self._former, runs.host = Loop.current(), runs.host, self
        try:
            self._run_loop.add(self._waker, self._mode)
            descriptor = check(lib.runloop_hosted_descriptor())
            self.epoll.register(descriptor, select.EPOLLIN)
            self._descriptor = descriptor
        except BaseException:
            self.detach()
            raise

    def detach(self):
        try:
            self._leave()
        finally:
            runs.host = self._former
            if self._run_loop.is_current:  # Else this is a forked child, where all this is the parent's.
                if self._descriptor is not None:
                    self.epoll.unregister(self._descriptor)
                self._run_loop.remove(self._waker, self._mode)
            self._run_loop = self._observers = self._descriptor = None

    def awake(self):
        """See Runs.awake."""
        if self._leave() and self._waits:
            self._event_loop.call_soon_threadsafe(_nothing)  # A signal's handler has called this, in the midst of the wait.

    def _leave(self):
        """Ends the run. False if there is none, or the thread is in a callback of it."""
        if not self._is_in_run or self._call(lib.runloop_hosted_end) == -errno.EBUSY:
            return False
        self._is_in_run = self._rests = False
        return True

    def select(self, timeout=None):
        """Waits, and adds the callbacks of what is ready, which is more than asyncio asks for, and less work."""
        self._waits = True  # First: a signal's handler that comes after this ends the wait, and one that came before has ended the rest.
        events = self.epoll.poll(timeout, len(self.keys) + 1) if self._rests else self._serve_and_poll(timeout)
        self._waits = False
        return self._deliver(events) if events else events

    def _deliver(self, events):
        """Returns what it leaves to asyncio: callbacks that were cancelled, whose descriptors asyncio no longer waits for then."""
        keys, add, others = self.keys, _private.enqueue(self._event_loop), []
        for fd, event in events:
            if fd not in keys:
                self._rests = False
                continue
            key = keys[fd]
            reader, writer = key.data
            if reader is not None and event & _EXCEPT_WRITE:
                others.append((key, selectors.EVENT_READ)) if reader.cancelled() else add(reader)
            if writer is not None and event & _EXCEPT_READ:
                others.append((key, selectors.EVENT_WRITE)) if writer.cancelled() else add(writer)
        return others

    def _serve_and_poll(self, timeout):
        if self._observers is not Observers.change:
            self._leave()
            self._observers = Observers.change
            self._is_observed = lib.mode_is_observed(self._run_loop._c, self._name)
        if self._is_observed and timeout is not None and timeout <= 0:
            self._leave()
            self._call(lib.runloop_run_pass, self._name, 0)
        else:
            timeout = self._timeout(timeout) if self._falls_asleep() else 0
        try:
            return self.epoll.poll(timeout, len(self.keys) + 1)
        finally:
            if self._is_observed:
                self._leave()

    def _falls_asleep(self):
        """Serves what the run loop has. True if there is no more; the descriptor is readable when there is."""
        if not self._is_in_run:
            self._is_in_run = check(self._call(lib.runloop_hosted_begin, self._name)) == 0
        if not self._is_in_run:
            return False  # It was stopped.
        self._rests = not self._is_observed
        result = self._call(lib.runloop_hosted_iterate, _BUDGET_NS)
        if result == 0:
            return True
        self._rests = False
        if result != -errno.EAGAIN:
            self._is_in_run = False
            if result != -errno.EINVAL:  # A signal's handler may have ended the run. One that does so later ends the wait, too.
                check(result)
        return False

    def _timeout(self, timeout):
        """Callbacks of the run loop may have called asyncio, which did not know of it when it computed the timeout."""
        if _private.has_work(self._event_loop):
            return 0
        timer = _private.first_timer(self._event_loop)
        if timer is None:
            return timeout
        left = max(0, timer.when() - self._event_loop.time())
        return left if timeout is None else min(left, timeout)

    def _call(self, function, *arguments):
        """Its result. What callbacks raise is raised to asyncio in its turn, once it is known here whether the run has ended."""
        result, error = called(function, *arguments)
        if error is not None:
            self._event_loop.call_soon(self._tell, error)
        return result

    def _tell(self, error):
        """As asyncio reports what its own callbacks raise."""
        if isinstance(error, (SystemExit, KeyboardInterrupt)):
            raise error
        message = "an exception in a callback of the run loop"
        self._event_loop.call_exception_handler({"message": message, "exception": error})

    def close(self):
        self._waker.invalidate()
        self._waker = self._event_loop = None  # What still has the event loop keeps no more than that.
        super().close()


def _nothing():
    pass


class EventLoop(asyncio.SelectorEventLoop):
    """asyncio's event loop, on the loop of whichever thread runs it."""

    _is_unmade = True

    def __init__(self, mode=DEFAULT_MODE):
        self._hosting = _Selector(self, mode)
        self._is_unmade = False
        try:
            super().__init__(self._hosting)
        except BaseException:
            self._hosting.close()
            self._is_unmade = True
            raise

    def is_closed(self):
        """Also of one that could not be made: asyncio's close() needs all that asyncio had not made yet."""
        return self._is_unmade or super().is_closed()

    def run_forever(self):
        self._refuse()
        self._hosting.attach()
        try:
            super().run_forever()
        finally:
            self._hosting.detach()

    def _refuse(self):
        """As asyncio does, some of whose versions forget the loop that runs when they refuse another one."""
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        if self.is_running():
            raise RuntimeError("This event loop is already running")
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        raise RuntimeError("Cannot run the event loop while another loop is running")


def _make_policy():
    """Only made when asked for: asyncio warns of its policies from Python 3.14 on, and has none from 3.16 on."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        base = getattr(asyncio, "DefaultEventLoopPolicy", None)
    if base is None:
        raise AttributeError(f"Python {platform.python_version()} has no event loop policies, so runloop.aio has none: {_INSTEAD}")
    if warned:
        warnings.warn(f"asyncio's event loop policies will be removed in Python 3.16: {_INSTEAD}", DeprecationWarning, stacklevel=3)

    class EventLoopPolicy(base):
        """Makes EventLoop the one that asyncio.run() and asyncio.new_event_loop() make."""

        def new_event_loop(self):
            return EventLoop()

    EventLoopPolicy.__qualname__ = "EventLoopPolicy"
    return EventLoopPolicy


_INSTEAD = "use asyncio.run(main(), loop_factory=runloop.aio.EventLoop)"


def __getattr__(name):
    if name != "EventLoopPolicy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    policy = globals()[name] = _make_policy()
    return policy
