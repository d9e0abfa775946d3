"""Puts runloop.aio.EventLoop in the place of asyncio's own event loop, for programs that know only that one: imported before them, or
with `pytest -p everywhere`. Nothing happens if the environment has EVENT_LOOP=asyncio. Each process says how many loops it has made."""

import asyncio
import atexit
import os
import sys

import runloop.aio


class EventLoop(runloop.aio.EventLoop):
    """Takes the selector that tests give asyncio's, and ignores it."""

    made = 0

    def __init__(self, selector=None):
        EventLoop.made += 1
        super().__init__()


def report(process):
    if os.getpid() == process:
        print(f"{EventLoop.made} event loops of runloop.aio", file=sys.stderr)


if os.environ.get("EVENT_LOOP") != "asyncio":
    EventLoop.__module__ = asyncio.SelectorEventLoop.__module__  # uvloop's tests ask for it.
    asyncio.SelectorEventLoop = asyncio.unix_events.SelectorEventLoop = EventLoop
    asyncio.unix_events._UnixDefaultEventLoopPolicy._loop_factory = EventLoop
    atexit.register(report, os.getpid())
