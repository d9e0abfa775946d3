"""A run loop under asyncio's: tasks, timers and sources of librunloop on the thread of an event loop. Copy it into a program.

    with RunLoopHost(asyncio.get_running_loop()):
        await something()
"""

import ctypes
import errno
import os

DEFAULT_MODE = "kCFRunLoopDefaultMode"
BUDGET_NS = 1_000_000  # then other callbacks have their turn


class RunLoopHost:
    """Serves the calling thread's run loop in `mode` from that thread's event loop, until it is closed or the run ends by itself: then `ended` is
    called with the result, a runloop_result or a negative errno."""

    def __init__(self, loop, mode=DEFAULT_MODE, library=None, ended=None):
        self._library = library or ctypes.CDLL("librunloop.so.0.1")
        self._iterate = self._library.runloop_hosted_iterate
        self._iterate.argtypes = [ctypes.c_int64]
        self._loop, self._ended = loop, ended
        self.result = self._library.runloop_hosted_begin(mode.encode())
        if self.result < 0:
            raise OSError(-self.result, os.strerror(-self.result))
        if self.result == 0:
            self._descriptor = self._library.runloop_hosted_descriptor()
            loop.add_reader(self._descriptor, self._serve)

    def _serve(self):
        result = self._iterate(BUDGET_NS)
        if result in (0, -errno.EAGAIN):
            return
        self.result = result
        self._loop.remove_reader(self._descriptor)
        if self._ended:
            self._ended(result)

    def close(self):
        """On the loop's thread, and not in a callback of the run loop, where runloop_stop ends the run."""
        if self.result == 0:
            self._loop.remove_reader(self._descriptor)
            self.result = self._library.runloop_hosted_end() or -errno.ESHUTDOWN

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
