"""Runs inside another loop, which owns the thread."""

import errno
import math

from ._core import called, check, lib, mode_name, nanoseconds, runs
from .loop import DEFAULT_MODE, Result


class HostedRun:
    """A run of the calling thread's loop whose sleep is another loop's: that waits for `HostedRun.descriptor()`, for reading, and calls
    `iterate()` when it is readable. `with` ends the run; runs nest. What a callback raises comes out of here, and the run has ended.

    `result` is None until the run has ended, which it may have at once: the mode is empty, or a stop was remembered."""

    def __init__(self, mode=DEFAULT_MODE):
        self.result = None
        self._note(self._called(lib.runloop_hosted_begin, mode_name(mode)))

    @staticmethod
    def descriptor():
        """What the host waits for, and otherwise leaves alone: the same number until the thread ends."""
        return check(lib.runloop_hosted_descriptor())

    def iterate(self, budget=math.inf):
        """Whole iterations, until the loop would sleep, which is True, or `budget` seconds are used up, which is False, as it is after the end.
        0 is one iteration."""
        if self.result is not None:
            return False
        outcome = self._called(lib.runloop_hosted_iterate, nanoseconds(budget))
        if outcome == -errno.EAGAIN:
            return False
        self._note(outcome)
        return self.result is None

    def end(self):
        """Ends the run. Twice is once."""
        if self.result is None and self._called(lib.runloop_hosted_end) != -errno.EBUSY:  # In its own callback: it ends after that.
            self.result = Result.STOPPED

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.end()

    def _note(self, outcome):
        if check(outcome) > 0:
            self.result = Result(outcome)

    def _called(self, function, *arguments):
        runs.awake()
        outcome, error = called(function, *arguments)
        if error is not None:
            if function != lib.runloop_hosted_end and outcome in (0, -errno.EAGAIN):
                lib.runloop_hosted_end()  # The exception came too late to stop the run in time.
            self.result = Result.STOPPED
            raise error
        return outcome
