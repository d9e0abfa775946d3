"""Signals, children, changes of files, streams, listeners and connections, awaited on the run loop: in coroutines of runloop.aio's event
loop, or of any event loop of asyncio beside which the thread's run loop is served.

One coroutine at a time waits for an object; of a stream, one reads and one writes. A wait that is cancelled loses nothing that has arrived.
Nothing is read or accepted while nobody waits for it, so an idle limit counts only then. `async with` ends an object; so does the end
of the last reference to it. Times are seconds, errors OSError."""

from ._linux import Arrival, Change, ChangeKind, Changes, Scope, Signals
from .children import DEFAULT_STEPS, DEVNULL, INHERIT, PIPE, STDOUT, Child, Exit, Group, Terminal, reap_orphans
from .commands import Outcome, Output, OutputEnd, run, run_blocking
from .sockets import ConnectError, Listener, connect, connect_abstract, connect_unix
from .streams import Reader, Stream, Writer

__all__ = ["Arrival", "Change", "ChangeKind", "Changes", "Child", "ConnectError", "DEFAULT_STEPS", "DEVNULL", "Exit", "Group"]
__all__ += ["INHERIT", "Listener", "PIPE", "Reader", "STDOUT", "Scope", "Signals", "Stream", "Writer", "connect", "connect_abstract"]
__all__ += ["Outcome", "Output", "OutputEnd", "Terminal", "connect_unix", "reap_orphans", "run", "run_blocking"]
