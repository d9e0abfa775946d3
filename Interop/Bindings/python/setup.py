"""Builds the package from the tree: `pip wheel --no-deps Interop/Bindings/python`. What is made on the way goes to the project's build
folder."""

import os
import sys
import zlib

from setuptools import setup

os.chdir(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.getcwd())
import native

# Setuptools takes objects that are there, whatever flags they were made with: so each flags have a folder.
flags = os.environ.get("CFLAGS", "") + os.environ.get("LDFLAGS", "")
BUILD = "../../../build/python" + (f"-{zlib.crc32(flags.encode()):08x}" if flags else "")
# As deep as this folder, since an object stands relative to it as its source stands to here.
TEMP = f"{BUILD}/temp/Interop/Bindings/python"
os.makedirs(TEMP, exist_ok=True)
setup(
    cffi_modules=["native.py:ffi"],
    libraries=[native.linux_library],
    options={"build": {"build_base": BUILD, "build_temp": TEMP}, "egg_info": {"egg_base": BUILD}},
)
