"""Builds the package from the tree: `pip wheel --no-deps Bindings/python`. What is made on the way goes to the project's build
folder."""

import os

from setuptools import setup

os.chdir(os.path.dirname(os.path.abspath(__file__)))
os.makedirs("../../build/python", exist_ok=True)
setup(
    cffi_modules=["native.py:ffi"],
    options={"build": {"build_base": "../../build/python"}, "egg_info": {"egg_base": "../../build/python"}},
)
