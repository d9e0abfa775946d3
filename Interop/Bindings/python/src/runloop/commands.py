"""Programs that are run to their end in one call. What runloop.linux offers."""

import asyncio
import collections
import enum

from ._core import check, ffi, left, lib, nanoseconds
from ._linux import Object
from .children import DEFAULT_STEPS, PIPE, Group, Terminal, describe, exit_of, named
from .loop import COMMON_MODES, Loop

LIMIT = 1024 * 1024


class OutputEnd(enum.IntEnum):
    """Whether an output is all that was written. OVER_LIMIT: there was more than the limit. CUT_OFF: another process, which the program has left in
    the background, still had the pipe some time after the end, and may write more."""

    COMPLETE = lib.RUNLOOP_COMMAND_COMPLETE
    OVER_LIMIT = lib.RUNLOOP_COMMAND_OVER_LIMIT
    CUT_OFF = lib.RUNLOOP_COMMAND_CUT_OFF


# What a program has written: the first bytes up to the limit, how many more were read and dropped, and whether that is all.
Output = collections.namedtuple("Output", "data dropped end")
# What has become of a program: an Exit, two Outputs, how much of the input it has not taken, and whether it was ended because of its timeout.
Outcome = collections.namedtuple("Outcome", "exit output error input_left timed_out")


async def run(arguments, *, input=None, limit=LIMIT, closes_at_limit=False, timeout=None, output_limit=2, **options):
    """Runs a program to its end: feeds it, reads both outputs at once, and awaits it. The program never waits for a reader: what is beyond the
    limit, which is that of each output, is dropped, or closes the pipe. Without an input it reads from /dev/null. `stdout` and `stderr` go
    elsewhere if that is said; other options are those of a Child.

    After `timeout` seconds, and if the coroutine is cancelled, the program is ended, by SIGTERM and after five seconds by SIGKILL, and with it its
    group if it leads one; this returns, or raises, when it has ended. `output_limit`: how long after its end another process may have its
    pipes."""
    command = _Command(arguments, input, limit, closes_at_limit, timeout, output_limit, options)
    return await command.wait()


def run_blocking(arguments, *, input=None, limit=LIMIT, closes_at_limit=False, timeout=None, output_limit=2, **options):
    """The same, and the thread sleeps until then: no callback of its loop is called meanwhile. It needs none. Other threads go on. A signal is
    handled afterwards."""
    config, kept = _config(arguments, input, limit, closes_at_limit, timeout, output_limit, options)
    result = ffi.new("runloop_command_result *")
    with named(config.start):
        check(lib.runloop_command_run(config, result))
    try:
        return _outcome(result)
    finally:
        lib.runloop_command_result_free(result)


def _config(arguments, input, limit, closes_at_limit, timeout, output_limit, options):
    wanted = dict(options.pop("descriptors", {}))
    for number, name in ((1, "stdout"), (2, "stderr")):
        if (what := options.pop(name, PIPE)) != PIPE:
            wanted[number] = what
    for number, what in wanted.items():
        if what == PIPE or isinstance(what, Terminal):
            raise ValueError(f"descriptor {number} would have another end, which nobody would have")
    config = ffi.new("runloop_command_config *")
    kept, ends = describe(config.start, arguments, wanted, **options)
    if input is not None:
        data = ffi.from_buffer(input)
        config.input, config.input_count = data, len(data)
        kept.append(data)
    config.limit = limit
    config.excess = lib.RUNLOOP_COMMAND_CLOSE if closes_at_limit else lib.RUNLOOP_COMMAND_DROP
    config.timeout_ns = max(nanoseconds(timeout), 1) if timeout is not None else 0
    config.output_limit_ns = max(nanoseconds(output_limit), 1)
    return config, [kept, ends]


class _Command(Object):
    def __init__(self, arguments, input, limit, closes_at_limit, timeout, output_limit, options):
        self._outcome, self._of_group = None, options.get("group") in (Group.NEW, Group.NEW_SESSION)
        loop = Loop.current()
        config, kept = _config(arguments, input, limit, closes_at_limit, timeout, output_limit, options)
        config.ended = lib.command_ended
        with named(config.start):
            self._make(lib.runloop_command_create, config)
        loop.add(self, COMMON_MODES)

    async def wait(self):
        try:
            await self._until_end()
        except asyncio.CancelledError:
            natives = ffi.new("runloop_child_step[]", [(number, nanoseconds(pause)) for number, pause in DEFAULT_STEPS])
            # Unless it has ended.
            lib.runloop_command_end_by(self._c, natives, len(natives), self._of_group)
            await self._until_end()
            raise
        return self._outcome

    async def _until_end(self):
        while self._outcome is None:
            await self._wait()

    def _ended(self, outcome):
        self._outcome = outcome
        self._wake()


def _output(output):
    return Output(ffi.buffer(output.bytes, output.count)[:], output.dropped, OutputEnd(output.end))


def _outcome(result):
    return Outcome(exit_of(result.exit), _output(result.output), _output(result.error), result.input_left, bool(result.timed_out))


@ffi.def_extern(onerror=left)
def command_ended(command, result, info):
    ffi.from_handle(info).call("_ended", _outcome(result))
