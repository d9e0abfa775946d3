"""Builds the package: from the tree, `pip wheel --no-deps Interop/Bindings/python`, or from the source distribution that it makes there, which has
the C libraries in it. From the tree, what is made on the way goes to the project's build folder."""

import os
import shutil
import sys
import sysconfig
import zlib

from setuptools import setup
from setuptools.command.sdist import sdist

os.chdir(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.getcwd())
import native

# What a source distribution has of the project besides this folder.
SHARED = ["LICENSE", "Sources/CRunLoopCore/include", "Sources/CRunLoopCore/src", "Sources/CRunLoopLinux/include", "Sources/CRunLoopLinux/src"]
SHARED += ["Tools/scripts/library-files"]


class Sdist(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, [file for file in files if not file.startswith("..")])
        for name in SHARED:
            source, target = os.path.join(native.ROOT, name), os.path.join(base_dir, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.isdir(source):
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)


# Setuptools takes objects that are there, whatever flags they were made with: so each flags have a folder.
flags = os.environ.get("CFLAGS", "") + os.environ.get("LDFLAGS", "")
BUILD = f"{native.ROOT}/build/python" + (f"-{zlib.crc32(flags.encode()):08x}" if flags else "")
# As deep as this folder, since an object stands relative to it as its source stands to here.
TEMP = f"{BUILD}/temp/Interop/Bindings/python"
os.makedirs(TEMP, exist_ok=True)
options = {"build": {"build_base": BUILD, "build_temp": TEMP}, "egg_info": {"egg_base": BUILD}}
if not (sysconfig.get_config_var("Py_GIL_DISABLED") or sysconfig.get_config_var("Py_DEBUG")):  # These have no stable ABI, or cffi no use for it.
    options["bdist_wheel"] = {"py_limited_api": "cp38"}
setup(cffi_modules=["native.py:ffi"], libraries=[native.linux_library], options=options, cmdclass={"sdist": Sdist})
