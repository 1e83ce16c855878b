"""Build the native extension modules; everything else stands in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

NATIVE = Path("ext/ambergate_native")
CHECKED = os.environ.get("AMBERGATE_CHECKED") == "1"
SANITIZE = os.environ.get("AMBERGATE_SANITIZE", "")
WEAKENED = os.environ.get("AMBERGATE_WEAKENED") == "1"
MODULES = os.environ.get("AMBERGATE_MODULES", "")  # by commas; all if not said
# Cython does not see that its directives changed: checked sources live in a folder of their own.
GENERATED = "build/cython-checked" if CHECKED else "build/cython"

JOBS = int(os.environ.get("AMBERGATE_BUILD_JOBS", "2"))

compile_args = ["-O3", "-fno-strict-aliasing", "-Wno-unused-function", "-Wno-unreachable-code"]
link_args: list[str] = []
if SANITIZE:
    compile_args += ["-O1", "-g", f"-fsanitize={SANITIZE}", "-fno-omit-frame-pointer"]
    link_args += [f"-fsanitize={SANITIZE}"]
if WEAKENED:
    compile_args += ["-DAMBERGATE_WEAKENED"]
if os.environ.get("AMBERGATE_UNGATED") == "1":  # what benchmarks/gate_cost.py compares with
    compile_args += ["-DAMBERGATE_UNGATED"]
if sys.platform == "linux" and not SANITIZE:
    link_args += ["-Wl,-s"]

extensions = [
    Extension(
        f"ambergate_native.{source.stem}",
        [str(source)],
        include_dirs=[str(NATIVE)],
        depends=[str(header) for header in sorted(NATIVE.glob("*.h"))],
        extra_compile_args=compile_args,
        extra_link_args=link_args,
    )
    for source in sorted(NATIVE.glob("*.pyx"))
    if not MODULES or source.stem in MODULES.split(",")
]

setup(
    options={"build_ext": {"parallel": JOBS}},
    ext_modules=cythonize(
        extensions,
        include_path=["ext"],
        build_dir=GENERATED,
        nthreads=JOBS,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": CHECKED,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "binding": True,
            "embedsignature": True,
            "autotestdict": False,
            "auto_pickle": False,
            "freethreading_compatible": False,
        },
    ),
)
