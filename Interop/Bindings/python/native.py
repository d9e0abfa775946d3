"""The C part of the package, runloop._native: the core and the library for Linux themselves, so that nothing needs to be installed, and
native.c beside this file."""

import os
import subprocess

from cffi import FFI

here = os.path.dirname(os.path.abspath(__file__))
ROOT = "." if os.path.exists(os.path.join(here, "Sources")) else "../../.."  # A source distribution has the C libraries in it.
CORE, LINUX = f"{ROOT}/Sources/CRunLoopCore", f"{ROOT}/Sources/CRunLoopLinux"


def read(name):
    with open(os.path.join(here, name)) as file:
        return file.read()


def sources(library):
    """The C files of a library."""
    names = subprocess.check_output([os.path.join(here, ROOT, "Tools/scripts/library-files"), "sources", library], text=True)
    return [f"{ROOT}/{name}" for name in names.split()]


COMPILE_ARGS = ["-std=c11", "-fvisibility=hidden", "-pthread"]
# Each library finds its internal headers by their folders, which have the same names in both: so this one is compiled apart.
linux_library = (
    "runloop_linux",
    {"sources": sources("linux"), "include_dirs": [f"{CORE}/include", f"{LINUX}/include", f"{LINUX}/src"],
     "macros": [("_GNU_SOURCE", "1")], "cflags": COMPILE_ARGS},
)
ffi = FFI()
ffi.cdef(read("native.cdef") + read("linux.cdef"))
ffi.set_source(
    "runloop._native",
    read("native.c"),
    sources=sources("core"),
    include_dirs=[f"{CORE}/include", f"{CORE}/src", f"{LINUX}/include"],
    libraries=["runloop_linux"],
    define_macros=[("_GNU_SOURCE", "1"), ("RUNLOOP_BUILDING_CORE", None)],
    extra_compile_args=COMPILE_ARGS,
    extra_link_args=["-pthread"],
)
