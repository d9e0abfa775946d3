"""Puts runloop.aio.EventLoop in the place of asyncio's own event loop, for programs that know only that one: imported before them, or
with `pytest -p everywhere`. Nothing happens if the environment has EVENT_LOOP=asyncio. Each process says how many loops it has made."""

import asyncio
import atexit
import os
import sys
import warnings

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


def put_in_place():
    EventLoop.__module__ = asyncio.SelectorEventLoop.__module__  # uvloop's tests ask for it.
    for module in asyncio, asyncio.unix_events:
        for name in "SelectorEventLoop", "EventLoop":  # Python 3.13 has a second name.
            if hasattr(module, name):
                setattr(module, name, EventLoop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        policy = getattr(asyncio, "DefaultEventLoopPolicy", None)
    if policy:
        policy.new_event_loop = lambda self: EventLoop()
    atexit.register(report, os.getpid())


if os.environ.get("EVENT_LOOP") != "asyncio":
    put_in_place()
