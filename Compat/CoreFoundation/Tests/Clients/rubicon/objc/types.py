"""What rubicon's event loop imports from its module of this name."""

from ctypes import c_long

CFIndex = c_long
NSMakePoint = None
