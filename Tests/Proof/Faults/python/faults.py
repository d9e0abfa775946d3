"""What scenarios in Python are made of: functions that raise what they are told, or LOST if they were told nothing and it did not work."""

import contextlib
import ctypes
import errno
import gc
import logging
import sys
import time
import traceback
import warnings

import runloop
from runloop import _core

MODE = "faults"
AS_EXPECTED, TOLD, IS_LOST = range(3)
# With the interpreter's lock: the driver's processes are forks of this thread, which has it.
lib = ctypes.PyDLL(sys.argv[1])
lib.injector_struck.restype = ctypes.c_bool
_Run = ctypes.CFUNCTYPE(ctypes.c_int)
_reports = []  # What Python tells no caller.


class Lost(Exception):
    """It did not work, and nothing was told."""


class Scenario(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("run", _Run), ("spares_allocations", ctypes.c_bool)]


class Plan(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("groups", ctypes.POINTER(ctypes.POINTER(Scenario))), ("group_count", ctypes.c_size_t),
                ("spared_kinds", ctypes.c_char_p), ("works", ctypes.CFUNCTYPE(ctypes.c_bool)), ("announced_ends", ctypes.c_void_p),
                ("most_of_kind", ctypes.c_int), ("executes", ctypes.c_bool)]


scenarios = []


def scenario(function):
    """A scenario, which is named as the function is."""

    def run():
        outcome = _outcome_of(function)
        gc.collect()  # asyncio's objects refer to each other.
        # What was posted before a run failed is called by the next one.
        if outcome == AS_EXPECTED and _core._kept:
            _reports.append(Lost("callbacks that nobody can call are kept"))
        if _reports:
            traceback.print_exception(_reports.pop())
            _reports.clear()
            return IS_LOST
        return outcome

    scenarios.append(Scenario(function.__name__.replace("_", " ").encode(), _Run(run), False))
    return function


def _outcome_of(function):
    try:
        function()
        return AS_EXPECTED
    except Lost:
        return IS_LOST
    except BaseException as error:
        number = errno_of(error)
        if not number:
            traceback.print_exc()
            return IS_LOST
        return lib.told(-number)


def errno_of(error):
    """What an exception tells, or 0 if it is none that a failure may raise."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    if isinstance(error, ConnectionResetError):  # As asyncio says it.
        return errno.ECONNRESET
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":  # Python has no more to say of pthread_create.
        return errno.EAGAIN
    return 0


def expect(condition, late_error=None):
    if late_error is not None:
        raise late_error
    if not condition:
        raise Lost


@contextlib.contextmanager
def own():
    """What the scenario does itself in between does not fail."""
    lib.pause_faults()
    try:
        yield
    finally:
        lib.begin_faults()


def run_until(condition, mode=MODE):
    end = time.monotonic() + 3
    while not condition() and time.monotonic() < end:
        if runloop.run(mode, 0.004, return_after_source_handled=True) == runloop.Result.FINISHED:
            time.sleep(0.001)


def fires():
    """A timer fires, whatever came before."""
    fired = []
    timer = runloop.Timer(0.001, lambda: fired.append(True))
    runloop.Loop.current().add(timer, "after")
    runloop.run("after", 10)
    return bool(fired)


def note_report(unraisable):
    # That it could not write is all that the handler of C can say; Python's own runs all the same, later.
    if unraisable.object is not None:
        _reports.append(unraisable.exc_value)


def main():
    sys.unraisablehook = note_report
    # Of coroutines, and tasks, whose event loop could not run them.
    warnings.filterwarnings("ignore", ".* was never awaited")
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    table = (Scenario * (len(scenarios) + 1))(*scenarios)
    groups = (ctypes.POINTER(Scenario) * 1)(table)
    words = [word.encode() for word in sys.argv[2:]]
    # Memory of the interpreter's: a thread that has none for its frames never says that it has started.
    plan = Plan(size=ctypes.sizeof(Plan), groups=groups, group_count=1, spared_kinds=b"mmap madvise", works=dict(Plan._fields_)["works"](fires))
    gc.collect()
    gc.freeze()
    lib.fault_plan_try.restype = ctypes.c_bool
    return 0 if lib.fault_plan_try(ctypes.byref(plan), len(words), (ctypes.c_char_p * (len(words) + 1))(*words)) else 1
