"""CPython's tests of event loops, with one of them: asyncio_on.py rubicon|selector ARGUMENTS"""

import asyncio
import sys
import unittest
import warnings

warnings.simplefilter("ignore", DeprecationWarning)

from test.test_asyncio import test_events, test_sock_lowlevel, utils  # noqa: E402

kind = sys.argv.pop(1)
if kind == "rubicon":
    from rubicon.objc.eventloop import CFEventLoop
else:
    CFEventLoop = asyncio.SelectorEventLoop


def make():
    loop = CFEventLoop()
    # A policy of rubicon's would remember how its loop is run.
    loop._policy = type("Policy", (), {})()
    return loop


class EventLoopTests(test_events.UnixEventLoopTestsMixin, test_events.SubprocessTestsMixin, utils.TestCase):
    def create_event_loop(self):
        return make()


class SocketTests(test_sock_lowlevel.BaseSockTestsMixin, utils.TestCase):
    def create_event_loop(self):
        return make()


if __name__ == "__main__":
    unittest.main(verbosity=2)
