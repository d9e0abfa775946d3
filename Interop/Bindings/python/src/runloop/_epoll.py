"""A selector as asyncio wants one, on an epoll set that is within reach: selectors.EpollSelector has its set and its keys for itself."""

import collections.abc
import select
import selectors

_EVENTS = {
    selectors.EVENT_READ: select.EPOLLIN,
    selectors.EVENT_WRITE: select.EPOLLOUT,
    selectors.EVENT_READ | selectors.EVENT_WRITE: select.EPOLLIN | select.EPOLLOUT,
}


class Selector(selectors.BaseSelector):
    """`keys` has the key of each registered descriptor, and `epoll` is the set they are in."""

    def __init__(self):
        self.epoll, self.keys = select.epoll(), {}

    def register(self, fileobj, events, data=None):
        key = selectors.SelectorKey(fileobj, self.descriptor(fileobj), events, data)
        if events not in _EVENTS:
            raise ValueError(f"invalid events: {events!r}")
        if key.fd in self.keys:
            raise KeyError(f"{fileobj!r} (descriptor {key.fd}) is already registered")
        self.epoll.register(key.fd, _EVENTS[events])
        self.keys[key.fd] = key
        return key

    def unregister(self, fileobj):
        key = self.get_key(fileobj)
        del self.keys[key.fd]
        try:
            self.epoll.unregister(key.fd)
        except OSError:
            pass  # It was closed before, which removed it from the set.
        return key

    def modify(self, fileobj, events, data=None):
        key = self.get_key(fileobj)
        if events not in _EVENTS:
            raise ValueError(f"invalid events: {events!r}")
        if events != key.events:
            try:
                self.epoll.modify(key.fd, _EVENTS[events])
            except BaseException:
                del self.keys[key.fd]
                raise
        key = self.keys[key.fd] = selectors.SelectorKey(key.fileobj, key.fd, events, data)
        return key

    def get_map(self):
        return None if self.epoll.closed else _Keys(self)

    def close(self):
        self.epoll.close()
        self.keys.clear()

    def descriptor(self, fileobj):
        """Of a number, of a file, or of a closed file that is registered still."""
        try:
            number = fileobj if isinstance(fileobj, int) else int(fileobj.fileno())
        except (AttributeError, TypeError, ValueError):
            number = -1
        if number >= 0:
            return number
        for key in self.keys.values():
            if key.fileobj is fileobj:
                return key.fd
        raise ValueError(f"no file descriptor: {fileobj!r}")


class _Keys(collections.abc.Mapping):
    """The keys of a selector, by file or number."""

    def __init__(self, selector):
        self._of = selector

    def __getitem__(self, fileobj):
        return self._of.keys[self._of.descriptor(fileobj)]

    def __iter__(self):
        return iter(self._of.keys)

    def __len__(self):
        return len(self._of.keys)
