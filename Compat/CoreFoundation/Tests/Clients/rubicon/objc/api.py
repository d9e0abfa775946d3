"""What rubicon's event loop imports from its module of this name."""

from .runtime import objc_id


def ObjCClass(name):
    return None


def objc_const(library, name):
    return objc_id.in_dll(library, name)
