"""What a stranger's machine gets: a light import, a wheel and an sdist that install, true stubs."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "ext" / "ambergate_native"
IMPORT_BUDGET_S = 0.25
# Each is heavy or has side effects, and is imported by the feature that needs it.
LAZY = {
    "IPython",
    "concurrent.futures",
    "fsspec",
    "multiprocessing",
    "numba",
    "pandas",
    "pyarrow.csv",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "ray",
    "rich",
}

PROBE = f"""
import json, os, sys, time
sys.path[:0] = {[str(ROOT / "src"), str(ROOT / "ext")]!r}
wall, cpu = time.perf_counter(), time.process_time()
import ambergate
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
tasks = "/proc/self/task"
children = f"{{tasks}}/{{os.getpid()}}/children"
print(json.dumps({{
    "wall": wall,
    "cpu": cpu,
    "modules": sorted(sys.modules),
    "threads": len(os.listdir(tasks)) if os.path.isdir(tasks) else 1,
    "children": open(children).read().split() if os.path.isfile(children) else [],
}}))
"""


def run(*command, **options):
    """Run a command; its output is in the failure's message."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=900, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def imports():
    """What five fresh processes tell of ``import ambergate``."""
    return [json.loads(run(sys.executable, "-c", PROBE)) for _ in range(5)]


def test_the_import_is_quick(imports):
    # the least CPU time of five: other work on the machine cannot fail this test
    assert min(report["cpu"] for report in imports) < IMPORT_BUDGET_S


@pytest.mark.parametrize("module", sorted(LAZY))
def test_the_import_leaves_heavy_modules_alone(imports, module):
    assert module not in imports[0]["modules"]


def test_the_import_starts_no_process_and_no_thread_of_ours(imports):
    bare = PROBE.replace("import ambergate", "import numpy, pyarrow")
    threads = json.loads(run(sys.executable, "-c", bare))["threads"]
    assert imports[0]["children"] == []
    assert imports[0]["threads"] <= threads


def test_the_stubs_are_true():
    modules = [f"ambergate_native.{path.stem}" for path in sorted(NATIVE.glob("*.pyi"))]
    ways = {**os.environ, "MYPYPATH": str(NATIVE.parent), "PYTHONPATH": str(NATIVE.parent)}
    options = [
        *("--mypy-config-file", str(ROOT / "pyproject.toml")),
        *("--allowlist", str(ROOT / "tests" / "stubs_allowed.txt"), "--ignore-unused-allowlist"),
    ]
    run(sys.executable, "-m", "mypy.stubtest", *options, *modules, env=ways, cwd=ROOT)


def borrow(python, *folders):
    """Let the interpreter of a fresh environment see the packages in ``folders``.

    A plain path in a ``.pth`` file comes after the environment's own packages, and the ``.pth``
    files of the folder itself (an editable install of this very package) are not read.
    """
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(site, "borrowed.pth").write_text("\n".join(folders) + "\n")
    return Path(site)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_sdist_builds_a_wheel_that_installs_in_a_clean_environment(tmp_path):
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", tmp_path, ROOT)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    native = {path.relative_to(ROOT).as_posix() for path in NATIVE.glob("*.p*")}
    assert (
        native | {"LICENSE", "README.md", "setup.py", "ext/ambergate_native/atomics.h"} <= shipped
    )
    assert not [name for name in shipped if name.endswith((".c", ".so", ".pyc"))]

    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("-w", tmp_path, sdist),
    )
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {"ambergate/py.typed", "ambergate_native/py.typed"} <= packed
    assert {f"ambergate_native/{path.name}" for path in NATIVE.glob("*.p*")} - packed <= {
        f"ambergate_native/{path.name}" for path in NATIVE.glob("*.pyx")
    }
    modules = {f"ambergate_native/{path.stem}" for path in NATIVE.glob("*.pyx")}
    assert modules == {
        name.removesuffix(sysconfig.get_config_var("EXT_SUFFIX"))
        for name in packed
        if name.endswith(".so")
    }
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert sources <= packed, "a package is missing from [tool.setuptools] packages"

    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    bare = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    here = {"cwd": tmp_path, "env": bare}
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel, **here)
    site = borrow(python, sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    code = "import ambergate, ambergate_native.gate as g; print(ambergate.__file__, g.__file__)"
    for found in run(python, "-c", code, **here).split():
        assert Path(found).resolve().is_relative_to(site.resolve())
