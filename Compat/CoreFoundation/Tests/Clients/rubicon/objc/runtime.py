"""What rubicon's event loop imports from its module of this name."""

from ctypes import c_void_p

from cf_library import cf


class objc_id(c_void_p):
    """A class of its own, since ctypes turns a plain c_void_p into a number."""


def load_library(name):
    return cf if name == "CoreFoundation" else None
