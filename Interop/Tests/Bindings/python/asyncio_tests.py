"""Runs CPython's own tests of asyncio (Debian's libpython3-testsuite) with runloop.aio.EventLoop in place of asyncio's own, and its tests of
selectors with that of runloop.aio.

    asyncio_tests.py short     some classes, some seconds
    asyncio_tests.py           all modules that this version of Python has
    asyncio_tests.py NAME...   these, as test_events or test_events.SelectEventLoopTests
"""

import importlib
import pkgutil
import select
import selectors
import sys
import unittest

import test.test_asyncio
import everywhere
from runloop import _epoll
from test import test_selectors

SHORT = ["test_events.SelectEventLoopTests", "test_streams.StreamTests", "test_locks", "test_queues", "test_runners"]
WINDOWS = {"test_proactor_events", "test_windows_events", "test_windows_utils"}


class Selector(_epoll.Selector):
    """With a select() of its own, since runloop.aio's serves a run loop."""

    def select(self, timeout=None):
        ready = []
        for fd, event in self.epoll.poll(timeout and max(timeout, 0), max(len(self.keys), 1)):
            reads = selectors.EVENT_READ if event & ~select.EPOLLOUT else 0
            writes = selectors.EVENT_WRITE if event & ~select.EPOLLIN else 0
            ready.append((self.keys[fd], (reads | writes) & self.keys[fd].events))
        return ready


class SelectorTests(test_selectors.BaseSelectorTestCase, test_selectors.ScalableSelectorMixIn, unittest.TestCase):
    SELECTOR = Selector


def tests_of(name):
    module, _, case = name.partition(".")
    module = importlib.import_module(f"test.test_asyncio.{module}")
    loader = unittest.defaultTestLoader
    return loader.loadTestsFromName(case, module) if case else loader.loadTestsFromModule(module)


def main():
    every = {module.name for module in pkgutil.iter_modules(test.test_asyncio.__path__) if module.name.startswith("test_")}
    chosen = SHORT if sys.argv[1:] == ["short"] else sys.argv[1:] or sorted(every - WINDOWS)
    suite = unittest.TestSuite(tests_of(name) for name in chosen)
    suite.addTest(unittest.defaultTestLoader.loadTestsFromTestCase(SelectorTests))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    made = everywhere.EventLoop.made
    print(f"{made} event loops, {len(result.skipped)} skipped")
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    return failed > 0 or made == 0


if __name__ == "__main__":
    sys.exit(main())
