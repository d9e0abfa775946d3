"""What runloop.aio needs to know of asyncio, which has no public function for it: whether it has anything to do. Every private name of asyncio that the package
uses is here, and is tried when runloop.aio is imported: an event loop that looked in the wrong place would sleep through its callbacks."""

import asyncio
import platform


def enqueue(event_loop):
    """The function that adds a handle to those that asyncio calls next."""
    return event_loop._ready.append


def has_work(event_loop):
    """Whether asyncio has anything to do at once, be it to stop."""
    return event_loop._ready or event_loop._stopping


def first_timer(event_loop):
    """The timer that asyncio looks at next, which may have been cancelled, or None."""
    return event_loop._scheduled[0] if event_loop._scheduled else None


# What each of the names must have in an event loop that was given a callback and a timer, and was stopped.
_MEANINGS = {
    "_ready": lambda value, callback, timer: value.append and value[-1] is callback,
    "_scheduled": lambda value, callback, timer: value[0] is timer,
    "_stopping": lambda value, callback, timer: value is True,
}


def check():
    """ImportError, if this version of Python has other names or means something else by them."""
    event_loop = asyncio.BaseEventLoop()  # Of all that asyncio has, it has no more than these.
    try:
        callback, timer = event_loop.call_soon(print), event_loop.call_later(1, print)
        event_loop.stop()
        unknown = [name for name in _MEANINGS if not _is_known(event_loop, name, callback, timer)]
    finally:
        event_loop.close()
    if unknown:
        raise ImportError(
            f"runloop.aio does not work with the asyncio of Python {platform.python_version()}, whose event loops lack what it looks for in "
            f"{' and '.join(unknown)}: it needs a newer version of the package runloop, or an older Python"
        )


def _is_known(event_loop, name, callback, timer):
    try:
        return _MEANINGS[name](getattr(event_loop, name), callback, timer)
    except (AttributeError, LookupError, TypeError):
        return False
