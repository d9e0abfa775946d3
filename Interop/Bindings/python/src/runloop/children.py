"""Programs that are started. What runloop.linux offers."""

import asyncio
import collections
import contextlib
import enum
import os
import signal

from ._core import check, ffi, left, lib, nanoseconds
from ._linux import Object
from .loop import COMMON_MODES, Loop
from .streams import Descriptor, Reader, Stream, Writer

PIPE, DEVNULL, STDOUT, INHERIT = "pipe", "null", "stdout", "inherit"  # what a descriptor of a child is; or a number, or what has a fileno()
Terminal = collections.namedtuple("Terminal", "rows columns")  # or a new terminal in a session of its own, for one descriptor
DEFAULT_STEPS = ((signal.SIGTERM, 5), (signal.SIGKILL, 0))

# How a process ended: its exit status, or the negative number of the signal, or None if that is not known; and what it has used.
Exit = collections.namedtuple("Exit", "status dumped_core user system peak_memory")


def reap_orphans():
    """For the first process of a container, `if os.getpid() == 1`, in the first lines of a program: the program is executed once more as a
    child of this process, which from then on reaps orphans, passes on signals, and ends as the program does. Returns in the new process. No
    status that somebody in the program waits for is taken. OSError, EBUSY for one, if there are other threads already."""
    check(lib.runloop_reap_orphans())


class Group(enum.IntEnum):
    """The process group of a child, if it is no number of one."""

    PARENTS = lib.RUNLOOP_CHILD_PARENTS_GROUP
    NEW = lib.RUNLOOP_CHILD_NEW_GROUP
    NEW_SESSION = lib.RUNLOOP_CHILD_NEW_SESSION


class Child(Object):
    """A program that was started. It has what the arguments say, and no other descriptor, no blocked signal and no handler.

    `stdin`, `stdout` and `stderr` are PIPE, DEVNULL, INHERIT, for stderr also STDOUT, or ours that it gets; `descriptors` has others by number,
    where PIPE is one that the child writes to. A `Terminal(rows, columns)` is new, for one of them; others are the same as that by a tuple
    `("same", number)`: `stdin=Terminal(24, 80), stdout=("same", 0)`. Its other side is `child.terminal`, a Stream, whose reader is at its end
    when nobody has the terminal any more. `terminal` is one that the child controls from a new session, or whose foreground it has in another
    group of its own until its end. The ends of pipes that are ours are `child.stdin`, a Writer, `child.stdout` and
    `child.stderr`, and `child.readers[number]`. `limits` are tuples of a resource, a soft and a hard limit.

    `async with`: at the end of the block a child that has not ended is ended politely, and awaited. One that is let go of goes on, and is
    reaped by the loop."""

    def __init__(self, arguments, *, program=None, env=None, cwd=None, stdin=INHERIT, stdout=INHERIT, stderr=INHERIT, descriptors={},
                 group=Group.PARENTS, terminal=None, limits=(), parent_death_signal=0, ignored_signals=()):
        self.exit, self._of_group = None, group in (Group.NEW, Group.NEW_SESSION)
        self._waiters = []
        loop = Loop.current()
        config = ffi.new("runloop_child_start_config *")
        wanted = {0: stdin, 1: stdout, 2: stderr, **descriptors}
        kept, ends = describe(config, arguments, wanted, program=program, env=env, cwd=cwd, group=group, terminal=terminal, limits=limits,
                              parent_death_signal=parent_death_signal, ignored_signals=ignored_signals)
        config.child.exited = lib.exited
        with named(config):
            self._make(lib.runloop_child_start, config, config.child.context)
        del kept
        pipes = {number: Descriptor(end) for (number, what), end in zip(wanted.items(), ends) if what == PIPE}
        side = next((Descriptor(end) for what, end in zip(wanted.values(), ends) if isinstance(what, Terminal)), None)
        try:
            loop.add(self, COMMON_MODES)
            self.stdin = Writer(pipes.pop(0)) if 0 in pipes else None
            self.readers = {number: Reader(end) for number, end in pipes.items()}
            self.terminal = Stream(side) if side else None
        except BaseException:
            self._undo()
            raise
        self.stdout, self.stderr = self.readers.get(1), self.readers.get(2)

    def _undo(self):
        """Nobody will have the child, and no loop reaps it."""
        self.invalidate()
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass  # The program has reaped it.

    def __del__(self):
        self._release(self._c)  # Its loop has it until the end.

    pid = property(lambda self: lib.runloop_child_get_pid(self._c))

    def fileno(self):
        """Its pidfd."""
        return lib.runloop_source_get_descriptor(self._c)

    def set_terminal_size(self, rows, columns):
        """Of its `terminal`: the programs in the foreground there are sent SIGWINCH."""
        check(lib.runloop_terminal_set_size(self.terminal.fileno(), rows, columns))

    async def wait(self):
        """Its end, an Exit. Several coroutines may wait, and after it."""
        while self.exit is None:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            finally:
                self._waiters.remove(waiter)
        return self.exit

    def send_signal(self, number):
        """To this process, and no other one. Raises ProcessLookupError if it has been reaped."""
        check(lib.runloop_child_send_signal(self._c, number))

    def end_by(self, steps=DEFAULT_STEPS, *, of_group=None):
        """Sends signals with pauses until it has ended; the end is awaited as ever. They go to the group that it leads, if it leads one."""
        natives = ffi.new("runloop_child_step[]", [(number, nanoseconds(pause)) for number, pause in steps])
        of_group = self._of_group if of_group is None else of_group
        check(lib.runloop_child_end_by(self._c, natives, len(natives), of_group))

    async def __aexit__(self, *unused):
        if self.exit is None:
            try:
                self.end_by()
            except ProcessLookupError:
                pass  # Its end is about to be reported.
            await self.wait()

    def _exited(self, exit):
        self.exit = exit
        for waiter in self._waiters:
            waiter.done() or waiter.set_result(None)


def describe(config, arguments, wanted, *, program=None, env=None, cwd=None, group=Group.PARENTS, terminal=None, limits=(),
             parent_death_signal=0, ignored_signals=()):
    """Fills in the configuration of a start with what is said in Python's terms: what lives as long as that, and where the parent's ends are
    written."""
    kept = []

    def text(value, what):
        kept.append(ffi.new("char[]", os.fsencode(value)))
        if 0 in os.fsencode(value):
            raise ValueError(f"{what} has a null byte: {value!r}")
        return kept[-1]

    def texts(values, what):
        kept.append(ffi.new("char *[]", [*(text(value, f"{what} {number}") for number, value in enumerate(values)), ffi.NULL]))
        return kept[-1]

    config.arguments = texts(arguments, "argument")
    if env is not None:
        variables = (os.fsencode(name) + b"=" + os.fsencode(value) for name, value in env.items())
        config.environment = texts(variables, "variable")
    config.program = text(program, "program") if program is not None else ffi.NULL
    config.directory = text(cwd, "cwd") if cwd is not None else ffi.NULL
    config.searches, config.group = True, group
    if terminal is not None:
        config.has_terminal, config.terminal = True, terminal
    listed = ffi.new("runloop_child_descriptor[]", len(wanted))
    ends = ffi.new("int[]", len(wanted))
    for index, (number, what) in enumerate(wanted.items()):
        listed[index].number = number
        listed[index].kind, source = _kind(number, what)
        setattr(listed[index], "from", source)
        listed[index].parent_end = ends + index
        if isinstance(what, Terminal):
            config.terminal_rows, config.terminal_columns = what
    config.descriptors, config.descriptor_count = listed, len(wanted)
    bounds = ffi.new("runloop_child_limit[]", [tuple(bound) for bound in limits])
    config.limits, config.limit_count = bounds, len(bounds)
    config.parent_death_signal = parent_death_signal
    config.ignored_signals = sum(1 << number - 1 for number in set(ignored_signals))
    failed = ffi.new("char[4096]")
    config.failed, config.failed_size = failed, len(failed)
    return [kept, listed, bounds, failed], ends


@contextlib.contextmanager
def named(config):
    """An error of a start has the path that it is about, or what else it is."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fsdecode(ffi.string(config.failed)) or None) from None


def _kind(number, what):
    """The kind of a descriptor in C, and from what it is."""
    if what == PIPE:
        return (lib.RUNLOOP_CHILD_INPUT_PIPE if number == 0 else lib.RUNLOOP_CHILD_OUTPUT_PIPE), 0
    if isinstance(what, Terminal):
        return lib.RUNLOOP_CHILD_TERMINAL, 0
    if isinstance(what, tuple):
        return lib.RUNLOOP_CHILD_SAME, what[1]
    if what == STDOUT:
        return lib.RUNLOOP_CHILD_SAME, 1
    if what in (DEVNULL, INHERIT):
        return (lib.RUNLOOP_CHILD_NULL if what == DEVNULL else lib.RUNLOOP_CHILD_INHERITED), 0
    return lib.RUNLOOP_CHILD_DESCRIPTOR, what if isinstance(what, int) else what.fileno()


def exit_of(exit):
    statuses = {lib.RUNLOOP_CHILD_EXITED: exit.status, lib.RUNLOOP_CHILD_SIGNALLED: -exit.status}
    return Exit(statuses.get(exit.end), bool(exit.dumped_core), exit.user_ns / 1e9, exit.system_ns / 1e9, exit.peak_memory_bytes or None)


@ffi.def_extern(onerror=left)
def exited(child, exit, info):
    ffi.from_handle(info).call("_exited", exit_of(exit))
