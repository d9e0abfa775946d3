"""The run loop for Linux: modes, timers, sources, observers, posts between threads, nested runs. asyncio on top of it is
runloop.aio; signals, children, files, streams and connections are in runloop.linux.

Durations and instants are in seconds. Errors of the C library are OSError with its errno."""

from .hosted import HostedRun
from .items import Activity, DescriptorSource, Observer, Readiness, Source, Timer
from .loop import COMMON_MODES, DEFAULT_MODE, Loop, Result, end_current, now, run

__all__ = ["Activity", "COMMON_MODES", "DEFAULT_MODE", "DescriptorSource", "HostedRun", "Loop", "Observer", "Readiness", "Result", "Source"]
__all__ += ["Timer", "end_current", "now", "run"]
