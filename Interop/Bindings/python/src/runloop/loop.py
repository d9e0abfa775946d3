"""The loop: running, stopping, and what others may ask of it."""

import enum
import errno
import math
import signal
import threading

from ._core import called, check, drop, ffi, in_seconds, keep, lib, mode_name, nanoseconds, runs

DEFAULT_MODE = ffi.string(lib.RUNLOOP_DEFAULT_MODE).decode()
COMMON_MODES = ffi.string(lib.RUNLOOP_COMMON_MODES).decode()  # all modes that were declared common


class Result(enum.IntEnum):
    """Why a run ended."""

    FINISHED = lib.RUNLOOP_RESULT_FINISHED  # nothing can ever happen in the mode
    STOPPED = lib.RUNLOOP_RESULT_STOPPED
    TIMED_OUT = lib.RUNLOOP_RESULT_TIMED_OUT
    HANDLED_SOURCE = lib.RUNLOOP_RESULT_HANDLED_SOURCE  # and the caller had asked to return then


def now():
    """The clock of fire dates, in seconds: CLOCK_MONOTONIC, as time.monotonic()."""
    return in_seconds(lib.runloop_now_ns())


def run(mode=DEFAULT_MODE, limit=math.inf, *, return_after_source_handled=False):
    """Runs the calling thread's loop, nested if it is running already, until it is stopped, nothing can happen any more, or
    `limit` seconds are over; 0 is one iteration, which does not sleep. Other threads run meanwhile. An exception that a callback
    raises ends the innermost run and comes out of here, as does KeyboardInterrupt, or whatever a signal's handler raises."""
    name, limit_ns = mode_name(mode), nanoseconds(limit)
    runs.awake()
    with _signals_noticed(name):
        result, error = called(lib.runloop_run_in_mode, name, limit_ns, return_after_source_handled)
    if error is not None:
        raise error
    return Result(check(result))


class _signals_noticed:
    """Python's handlers run although its main thread sleeps in a run."""

    def __init__(self, name):
        self._name, self._former = name, None

    def __enter__(self):
        if threading.current_thread() is not threading.main_thread():
            return
        ours = check(lib.signal_watch_in_mode(self._name))
        self._former = signal.set_wakeup_fd(ours, warn_on_full_buffer=False)
        if self._former != ours:
            lib.signal_watch_forward(self._former)

    def __exit__(self, *unused):
        if self._former is not None:
            signal.set_wakeup_fd(self._former)


class Loop:
    """A reference to a thread's loop, which any thread may use, and keep longer than the thread. After the thread's end additions
    and posts raise OSError (ESHUTDOWN), and other calls do nothing. `with Loop.current() as loop:` ends the loop at the end of a
    thread's work."""

    def __init__(self, borrowed):
        if not borrowed:
            raise MemoryError("the loop can't be made")
        self._c = lib.runloop_retain(borrowed)

    @classmethod
    def current(cls):
        """The calling thread's."""
        return cls(lib.runloop_current())

    @classmethod
    def main(cls):
        """The initial thread's."""
        return cls(lib.runloop_main())

    def __del__(self):
        lib.runloop_release(self.__dict__.get("_c", ffi.NULL))

    def __eq__(self, other):
        return isinstance(other, Loop) and self._c == other._c

    def __hash__(self):
        return hash(self._c)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        end_current()

    is_current = property(lambda self: bool(lib.runloop_is_current(self._c)))

    @property
    def is_waiting(self):
        runs.awake()
        return bool(lib.runloop_is_waiting(self._c))

    @property
    def is_idle(self):
        """In a BEFORE_WAITING observer: whether it would sleep now."""
        return bool(lib.runloop_is_idle(self._c))

    @property
    def current_mode(self):
        """The mode of the innermost active run, or None."""
        runs.awake()
        name = lib.runloop_current_mode(self._c)
        return ffi.string(name).decode() if name else None

    def is_empty(self, mode=DEFAULT_MODE):
        return bool(lib.runloop_mode_is_empty(self._c, mode_name(mode)))

    def next_fire_date(self, mode=DEFAULT_MODE):
        return in_seconds(lib.runloop_next_fire_date(self._c, mode_name(mode)))

    def add_common_mode(self, mode):
        runs.awake()
        check(lib.runloop_add_common_mode(self._c, mode_name(mode)))

    def add(self, item, mode=DEFAULT_MODE):
        """Adds a timer, source or observer, which may be there already, and returns it."""
        runs.awake()
        check(item._add(self._c, item._c, mode_name(mode)))
        return item

    def remove(self, item, mode=DEFAULT_MODE):
        check(item._remove(self._c, item._c, mode_name(mode)))

    def contains(self, item, mode=DEFAULT_MODE):
        return bool(item._contains(self._c, item._c, mode_name(mode)))

    def post(self, callback, mode=COMMON_MODES):
        """Has the loop's thread call `callback()` once, when it runs in `mode`, in order; wakes the loop. Never called if the
        thread ends before."""
        self._enqueue(lib.runloop_post, callback, mode)

    def perform(self, callback, mode=COMMON_MODES):
        """Like post, but does not wake the loop."""
        self._enqueue(lib.runloop_perform, callback, mode)

    def _enqueue(self, function, callback, mode):
        runs.awake()
        name, handle = mode_name(mode), keep(callback)
        outcome = function(self._c, name, lib.posted, handle, lib.released)
        if outcome < 0:
            drop(handle)
            check(outcome)

    def stop(self):
        """Ends the innermost active run at the end of its iteration."""
        runs.awake()
        lib.runloop_stop(self._c)

    def stop_latched(self):
        """The same, remembered for the next run if there is none."""
        lib.runloop_stop_latched(self._c)

    def stop_mode(self, mode):
        """Ends a run in `mode`, now or later."""
        check(lib.runloop_stop_mode(self._c, mode_name(mode)))

    def wake_up(self):
        """Ends one sleep."""
        lib.runloop_wake_up(self._c)

    def description(self):
        """An account for people."""
        text = lib.runloop_copy_description(self._c)
        if not text:
            raise MemoryError
        try:
            return ffi.string(text).decode()
        finally:
            lib.free(text)


def end_current():
    """Ends the calling thread's loop: its items are released, and what was posted is not called. Outside of runs; on the initial
    thread it does nothing. Call it, or use `with Loop.current():`, at the end of a thread that had a loop."""
    outcome = lib.runloop_end_current()
    if outcome != -errno.EPERM:  # The main loop lasts as long as the process.
        check(outcome)
