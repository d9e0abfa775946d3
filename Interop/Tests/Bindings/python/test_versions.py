"""Versions of Python: what runloop.aio uses of asyncio that may not be there, and what another version would warn of."""

import ast
import asyncio
import collections
import inspect
import platform
import selectors
import subprocess
import sys
import unittest
import unittest.mock
import warnings
from pathlib import Path

import runloop
import runloop.aio
from runloop import _private

SOURCES = sorted(Path(runloop.__file__).parent.glob("*.py"))
HAS_POLICIES = sys.version_info < (3, 16)
WARNS_OF_POLICIES = HAS_POLICIES and sys.version_info >= (3, 14)


def python(program):
    """What it prints, and its errors."""
    return subprocess.run([sys.executable, "-W", "error", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


class Stranger:
    """The asyncio of another version: an event loop whose attributes have other names, or are something else."""

    def __init__(self, names, **others):
        self._names, self._others = names, others
        self._set("_ready", collections.deque()), self._set("_scheduled", []), self._set("_stopping", False)

    def _set(self, name, value):
        setattr(self, self._names.get(name, name), self._others.get(name, value))
        return value

    def call_soon(self, callback):
        handle = object()
        self._set("_ready", collections.deque([handle]))
        return handle

    def call_later(self, delay, callback):
        handle = object()
        self._set("_scheduled", [handle])
        return handle

    def stop(self):
        self._set("_stopping", True)

    def close(self):
        pass


class PrivateNameTests(unittest.TestCase):
    def refused(self, names, **others):
        """What the import says of such an asyncio."""
        with unittest.mock.patch("asyncio.BaseEventLoop", lambda: Stranger(names, **others)):
            with self.assertRaises(ImportError) as caught:
                _private.check()
        return str(caught.exception)

    def test_the_asyncio_that_is_here_has_them(self):
        _private.check()

    def test_one_that_is_missing_is_named_with_the_version_of_python(self):
        for name in _private._MEANINGS:
            message = self.refused({name: "_renamed"})
            self.assertIn(platform.python_version(), message)
            self.assertEqual([each for each in _private._MEANINGS if each in message], [name])

    def test_one_that_means_something_else_is_named(self):
        self.assertIn("_ready", self.refused({}, _ready=set()))
        self.assertIn("_scheduled", self.refused({}, _scheduled={}))
        self.assertIn("_stopping", self.refused({}, _stopping=1))

    def test_all_that_are_missing_are_named(self):
        self.assertIn("_ready and _stopping", self.refused({"_ready": "_next", "_stopping": "_ends"}))

    def test_the_import_says_so(self):
        said = python("import asyncio; asyncio.BaseEventLoop.stop = lambda self: None\nimport runloop.aio")
        self.assertRegex(said, r"\nImportError: runloop.aio does not work with the asyncio of Python .* _stopping: ")

    def test_no_other_module_uses_any(self):
        event_loop = asyncio.new_event_loop()
        handle = event_loop.call_later(3600, print)
        others = event_loop, handle, selectors.EpollSelector(), asyncio, asyncio.events, asyncio.unix_events, selectors
        theirs = {name for each in others for name in dir(each) if name.startswith("_") and not name.endswith("__")}
        self.assertLessEqual(set(_private._MEANINGS), theirs)
        event_loop.close()
        for path in SOURCES:
            text = path.read_text()
            if "import asyncio" in text or "import selectors" in text:
                used = {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
                allowed = set(_private._MEANINGS) if path.name == "_private.py" else set()
                self.assertEqual(used & theirs, allowed, path.name)


class DeprecationTests(unittest.TestCase):
    def test_the_import_warns_of_nothing(self):
        self.assertEqual(python("import runloop.aio, runloop.linux"), "")

    def test_the_policy_makes_it(self):
        async def main():
            return type(asyncio.get_running_loop())

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            if not HAS_POLICIES:
                return self.assertFalse(hasattr(runloop.aio, "EventLoopPolicy"))
            policy = runloop.aio.EventLoopPolicy
            self.assertIs(policy, runloop.aio.EventLoopPolicy)
            asyncio.set_event_loop_policy(policy())
            try:
                self.assertIs(asyncio.run(main()), runloop.aio.EventLoop)
            finally:
                asyncio.set_event_loop_policy(None)

    def test_who_asks_for_a_policy_is_warned_where_asyncio_warns(self):
        said = python("import runloop.aio\nrunloop.aio.EventLoopPolicy\nprint('made')")
        if WARNS_OF_POLICIES:
            self.assertRegex(said, r"DeprecationWarning: .*removed.*loop_factory=runloop.aio.EventLoop\)\n$")
        elif HAS_POLICIES:
            self.assertEqual(said, "made\n")

    def test_the_warning_is_ours_and_about_the_line_that_asks(self):
        class Asyncio:
            def __getattr__(self, name):
                warnings.warn(f"{name} is deprecated", DeprecationWarning)
                return object

        vars(runloop.aio).pop("EventLoopPolicy", None)
        with unittest.mock.patch("runloop.aio.asyncio", Asyncio()), self.assertWarns(DeprecationWarning) as caught:
            getattr(runloop.aio, "EventLoopPolicy")
        line = inspect.currentframe().f_lineno - 1
        vars(runloop.aio).pop("EventLoopPolicy")
        self.assertEqual((caught.filename, caught.lineno), (__file__, line))
        self.assertIn("loop_factory=runloop.aio.EventLoop", str(caught.warning))

    def test_where_there_are_no_policies_a_sentence_says_so(self):
        forget = "import asyncio, runloop.aio\nfor name in 'DefaultEventLoopPolicy', '__getattr__': vars(asyncio).pop(name, None)\n"
        said = python(forget + "runloop.aio.EventLoopPolicy")
        self.assertRegex(said, r"\nAttributeError: Python \S+ has no event loop policies.*loop_factory=runloop.aio.EventLoop\)\n$")
        self.assertEqual(python(forget + "print(hasattr(runloop.aio, 'EventLoopPolicy'))"), "False\n")

    def test_another_name_is_unknown_as_everywhere(self):
        with self.assertRaisesRegex(AttributeError, "module 'runloop.aio' has no attribute 'EventLoops'"):
            runloop.aio.EventLoops


if __name__ == "__main__":
    unittest.main()
