"""The C part of the package, runloop._native: the core itself, so that nothing needs to be installed, and native.c beside this
file."""

import os
import subprocess

from cffi import FFI

ROOT = "../.."
CORE = f"{ROOT}/Sources/CRunLoopCore"
here = os.path.dirname(os.path.abspath(__file__))


def read(name):
    with open(os.path.join(here, name)) as file:
        return file.read()


sources = subprocess.check_output([os.path.join(here, ROOT, "scripts/core-sources")], text=True).split()
ffi = FFI()
ffi.cdef(read("native.cdef"))
ffi.set_source(
    "runloop._native",
    read("native.c"),
    sources=[f"{ROOT}/{name}" for name in sources],
    include_dirs=[f"{CORE}/include", f"{CORE}/src"],
    define_macros=[("_GNU_SOURCE", "1"), ("RUNLOOP_BUILDING_CORE", None)],
    extra_compile_args=["-std=c11", "-fvisibility=hidden", "-pthread"],
    extra_link_args=["-pthread"],
)
