"""Runs CPython's own tests of asyncio (Debian's libpython3.11-testsuite) with runloop.aio.EventLoop in place of
asyncio.SelectorEventLoop: the policy makes it, and so do all tests that make a selector event loop themselves.

    asyncio_tests.py short    some classes, some seconds
    asyncio_tests.py          all modules below
"""

import asyncio
import importlib
import sys
import unittest

import runloop.aio

SHORT = {
    "test_events": ["SelectEventLoopTests"],
    "test_streams": ["StreamTests"],
    "test_locks": None,
    "test_queues": None,
    "test_runners": None,
}
# All but those about Windows' loop. A version of Python that lacks one has one fewer.
MODULES = """
base_events buffered_proto context eager_task_factory events futures futures2 locks pep492 protocols queues
runners selector_events sendfile server sock_lowlevel sslproto ssl staggered streams subprocess taskgroups
tasks threads timeouts transports unix_events waitfor
"""


class EventLoop(runloop.aio.EventLoop):
    """Takes the selector that tests give asyncio's, and ignores it."""

    made = 0

    def __init__(self, selector=None):
        EventLoop.made += 1
        super().__init__()


def tests_of(name, classes):
    try:
        module = importlib.import_module(f"test.test_asyncio.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"test.test_asyncio.{name}":
            raise
        return unittest.TestSuite()  # Another version of Python has it.
    loader = unittest.defaultTestLoader
    if classes is None:
        return loader.loadTestsFromModule(module)
    return unittest.TestSuite(loader.loadTestsFromTestCase(getattr(module, each)) for each in classes)


def main():
    asyncio.SelectorEventLoop = asyncio.unix_events.SelectorEventLoop = EventLoop
    asyncio.unix_events._UnixDefaultEventLoopPolicy._loop_factory = EventLoop
    chosen = SHORT if sys.argv[1:] == ["short"] else dict.fromkeys(sys.argv[1:] or ("test_" + name for name in MODULES.split()))
    suite = unittest.TestSuite(tests_of(name, classes) for name, classes in chosen.items())
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{EventLoop.made} event loops, {len(result.skipped)} skipped")
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    return failed > 0 or EventLoop.made == 0


if __name__ == "__main__":
    sys.exit(main())
