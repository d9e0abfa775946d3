"""Timers, sources and observers. An item belongs to the loops that it was added to: it lives until it is invalidated, or removed,
or their threads end, whether or not the program still has the object. `with` invalidates it at the end."""

import enum

from ._core import Callback, changing_observers, check, create, ffi, in_seconds, lib, nanoseconds, runs


class Activity(enum.IntFlag):
    """What a loop notifies its observers of."""

    ENTRY = lib.RUNLOOP_ACTIVITY_ENTRY
    BEFORE_TIMERS = lib.RUNLOOP_ACTIVITY_BEFORE_TIMERS
    BEFORE_SOURCES = lib.RUNLOOP_ACTIVITY_BEFORE_SOURCES
    BEFORE_WAITING = lib.RUNLOOP_ACTIVITY_BEFORE_WAITING
    AFTER_WAITING = lib.RUNLOOP_ACTIVITY_AFTER_WAITING
    EXIT = lib.RUNLOOP_ACTIVITY_EXIT
    ALL = lib.RUNLOOP_ACTIVITY_ALL


class Readiness(enum.IntFlag):
    """Conditions of a descriptor. NONE pauses a source."""

    NONE = 0
    READABLE = lib.RUNLOOP_READABLE
    PRIORITY = lib.RUNLOOP_PRIORITY
    WRITABLE = lib.RUNLOOP_WRITABLE
    ERROR = lib.RUNLOOP_ERROR
    HANG_UP = lib.RUNLOOP_HANG_UP


class Item:
    """What all items have in common. Any thread may use them."""

    _c = ffi.NULL

    def _create(self, function, kind, config, callback, context=None):
        self._callback = Callback(callback)
        self._c = create(function, kind, config, self._callback, context)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.invalidate()

    def __del__(self):
        self._release(self._c)

    def invalidate(self):
        """Ends it for ever. Idempotent, allowed in its own callback; does not wait for a callback on another thread."""
        self._invalidate(self._c)
        self._callback.clear()

    @property
    def is_valid(self):
        return bool(self._is_valid(self._c))


class Timer(Item):
    """Calls `callback()` on the loop's thread, first `after` seconds from now, then every `interval` seconds; an interval of 0 is
    once, and math.inf whenever `fire_date` says so. It may fire by `tolerance` seconds later to share a wake-up."""

    _release, _invalidate = lib.runloop_timer_release, lib.runloop_timer_invalidate
    _is_valid = lib.runloop_timer_is_valid
    _add, _remove, _contains = lib.runloop_add_timer, lib.runloop_remove_timer, lib.runloop_contains_timer

    def __init__(self, after, callback, *, interval=0, tolerance=0, order=0):
        config = ffi.new("runloop_timer_config *")
        config.order = order
        config.fire_ns = nanoseconds(in_seconds(lib.runloop_now_ns()) + after)
        config.interval_ns = nanoseconds(interval)
        config.tolerance_ns = nanoseconds(tolerance)
        config.fire = lib.fired
        self._create(lib.runloop_timer_create, "runloop_timer **", config, callback)

    @classmethod
    def every(cls, interval, callback, *, tolerance=0, order=0):
        """One that fires again and again, first after an interval."""
        return cls(interval, callback, interval=interval, tolerance=tolerance, order=order)

    @property
    def fire_date(self):
        """When it fires next, in seconds of now(); math.inf if it is invalid. Setting it moves the timer and its schedule."""
        return in_seconds(lib.runloop_timer_get_fire_date(self._c))

    @fire_date.setter
    def fire_date(self, date):
        check(lib.runloop_timer_set_fire_date(self._c, nanoseconds(date)))

    @property
    def interval(self):
        return in_seconds(lib.runloop_timer_get_interval(self._c))

    @property
    def tolerance(self):
        return in_seconds(lib.runloop_timer_get_tolerance(self._c))

    @tolerance.setter
    def tolerance(self, seconds):
        check(lib.runloop_timer_set_tolerance(self._c, nanoseconds(seconds)))

    @property
    def missed(self):
        """In its callback: how many instants of its schedule passed without a call, and were not reported before."""
        return lib.runloop_timer_get_missed(self._c)


class _AnySource(Item):
    _release, _invalidate = lib.runloop_source_release, lib.runloop_source_invalidate
    _is_valid = lib.runloop_source_is_valid
    _add, _remove, _contains = lib.runloop_add_source, lib.runloop_remove_source, lib.runloop_contains_source


class Source(_AnySource):
    """Calls `callback()` once after it was signalled, however often that was. Lower orders come first."""

    def __init__(self, callback, *, order=0):
        config = ffi.new("runloop_source_config *")
        config.order = order
        config.perform = lib.performed
        self._create(lib.runloop_source_create, "runloop_source **", config, callback)

    def signal(self):
        """Marks it. Does not wake a sleeping loop: Loop.wake_up() does."""
        runs.awake()
        check(lib.runloop_source_signal(self._c))

    @property
    def is_signalled(self):
        return bool(lib.runloop_source_is_signalled(self._c))


class DescriptorSource(_AnySource):
    """Calls `callback(readiness)` as long as a descriptor is in one of the conditions `events`. `descriptor` is a number or has a
    fileno(). It remains the caller's: invalidate the source before closing it."""

    def __init__(self, descriptor, events, callback, *, order=0):
        config = ffi.new("runloop_descriptor_config *")
        config.order = order
        config.descriptor = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        config.events = events
        config.ready = lib.ready
        self._create(lib.runloop_descriptor_source_create, "runloop_source **", config, lambda now: callback(Readiness(now)))

    @property
    def events(self):
        """What it asks for. Setting it applies from the next wait on; Readiness.NONE pauses it."""
        return Readiness(lib.runloop_source_get_events(self._c))

    @events.setter
    def events(self, events):
        check(lib.runloop_source_set_events(self._c, events))


class Observer(Item):
    """Calls `callback(activity)` when the loop does one of `activities`; once in all if it does not repeat. Keeps no mode from
    being empty."""

    _release, _is_valid, _contains = lib.runloop_observer_release, lib.runloop_observer_is_valid, lib.runloop_contains_observer
    _add = staticmethod(changing_observers(lib.runloop_add_observer))
    _remove = staticmethod(changing_observers(lib.runloop_remove_observer))
    _invalidate = staticmethod(changing_observers(lib.runloop_observer_invalidate))

    def __init__(self, activities, callback, *, order=0, repeats=True):
        config = ffi.new("runloop_observer_config *")
        config.order = order
        config.activities = activities
        config.repeats = repeats
        config.observe = lib.observed
        call = lambda now: callback(Activity(now))
        self._create(lib.runloop_observer_create, "runloop_observer **", config, call if repeats else changing_observers(call))
