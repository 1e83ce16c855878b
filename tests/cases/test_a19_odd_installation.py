"""A19: another user, a read-only installation, no home, no place to write."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

import ambergate
import ambergate_native
from tests.cases.programs import run

NOBODY = 65534
BECOME = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
if any(not folder.stat().st_mode & 1 for folder in Path(sys.executable).resolve().parents):
    # the interpreter lies in a private folder: the user may look into it, but not write
    BECOME += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
PROGRAM = """
import ambergate as ag
{more}
rows = [{{"text": "to be or not to be"}}] * 10
words = ag.from_iter(rows).flat_map(split, columns=["text"], returns={{"word": "string"}})
counts = words.group_by("word").agg(n=ag.count()).collect(workers=2)
print(sorted((row["word"], row["n"]) for row in counts.to_pylist()))
"""
EXPECTED = [("be", 20), ("not", 10), ("or", 10), ("to", 20)]
SPLIT = "split = str.split"
COMPILED = """
split = str.split
doubled = ag.from_arrow({"x": [1, 2]}).map(
    lambda x: 2 * x, columns=["x"], returns={"x": "int64"}, jit=True)
assert doubled.collect(workers=1)["x"].to_pylist() == [2, 4]
"""


@pytest.fixture
def installed():
    """The package copied to where everyone may read and only root write."""
    folder = Path(tempfile.mkdtemp(prefix="installed-"))
    for package in (ambergate, ambergate_native):
        source = Path(package.__file__).parent
        shutil.copytree(
            source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__", "*.c")
        )
    (folder / "writable").mkdir()
    (folder / "writable").chmod(0o777)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(folder, program, **more):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "PYTHONPATH": str(folder),
        **more,
    }
    return subprocess.run(
        [*BECOME, sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env=environment,
        check=False,
    )


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def warnings_in(done):
    return [line for line in done.stderr.splitlines() if "warn" in line.lower()]


@needs_root
@pytest.mark.parametrize("more", [SPLIT, COMPILED], ids=["plain", "compiled"])
def test_only_the_temporary_folder_is_writable(installed, more):
    writable = installed / "writable"
    done = as_nobody(installed, PROGRAM.format(more=more), TMPDIR=str(writable))
    assert eval(done.stdout or "None") == EXPECTED, done.stderr
    assert len(warnings_in(done)) <= 1
    assert list(writable.iterdir()) == []


MAY_MOUNT = os.getuid() == 0 and not subprocess.call(["unshare", "--mount", "true"])
needs_mounts = pytest.mark.skipif(not MAY_MOUNT, reason="only root who may mount can do this")


def without_a_place(installed, text):
    """Run a program as a user for whom everything is read-only."""
    program = installed / "program.py"
    program.write_text(text)
    program.chmod(0o644)
    (installed / "writable").chmod(0o555)
    script = (
        "mount --make-rprivate / && "
        "for place in /tmp /var/tmp /dev/shm; do mount -o bind,ro $place $place; done; "
        f"exec {' '.join(BECOME)} {sys.executable} program.py"
    )
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=installed,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": str(installed)},
        check=False,
    )


@needs_mounts
@pytest.mark.parametrize("more", [SPLIT, COMPILED], ids=["plain", "compiled"])
def test_no_place_to_write_at_all(installed, more):
    done = without_a_place(installed, PROGRAM.format(more=more))
    assert eval(done.stdout or "None") == EXPECTED, done.stderr
    assert len(warnings_in(done)) <= 1


@needs_mounts
def test_the_naive_way_wants_a_cache(installed):
    text = "import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x\nprint(f(1))\n"
    done = without_a_place(installed, text)
    assert "no locator available" in done.stderr


def test_the_users_module_in_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.writestr("mine.py", "def split(text):\n    return text.split()\n")
    more = "import sys; sys.path.insert(0, 'mine.zip')\nfrom mine import split"
    done = run(["-c", PROGRAM.format(more=more)], cwd=tmp_path)
    assert eval(done.stdout or "None") == EXPECTED, done.stderr


@needs_root
def test_the_import_compiles_nothing_and_takes_as_long(installed):
    program = (
        "import time; began = time.perf_counter(); import ambergate; "
        "took = time.perf_counter() - began; import sys; "
        "print(took, 'numba' in sys.modules)"
    )
    there = [as_nobody(installed, program).stdout.split() for _ in range(3)]
    here = [run(["-B", "-c", program], cwd=installed).stdout.split() for _ in range(3)]
    assert {compiled for _, compiled in there} == {"False"}
    # without byte code to read or write the parsing is added, nothing else
    assert min(float(took) for took, _ in there) < 2 * min(float(took) for took, _ in here) + 1.0
