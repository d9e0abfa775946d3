"""Builds the package from the tree: `pip wheel --no-deps Interop/Bindings/python`. What is made on the way goes to the project's build
folder."""

import os
import sys

from setuptools import setup

os.chdir(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.getcwd())
import native

BUILD = "../../../build/python"
# As deep as this folder, since an object stands relative to it as its source stands to here.
TEMP = f"{BUILD}/temp/Interop/Bindings/python"
os.makedirs(TEMP, exist_ok=True)
setup(
    cffi_modules=["native.py:ffi"],
    libraries=[native.linux_library],
    options={"build": {"build_base": BUILD, "build_temp": TEMP}, "egg_info": {"egg_base": BUILD}},
)
