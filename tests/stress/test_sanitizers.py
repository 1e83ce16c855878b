"""The lock-free code under ThreadSanitizer and AddressSanitizer, and the proof that they look.

On x86 a ring without a single memory order passes every ordinary test. ThreadSanitizer follows
what the orders promise instead; with AMBERGATE_WEAKENED they promise nothing, and it must tell.
It does not understand fences: what rests on those alone (who sleeps, who is paused) is checked by
the loops themselves.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("two_threads.py")
MODULES = "bell,gate,leases,ring,stress"
BUILD_S, RUN_S = 100, 60

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(BUILD_S + RUN_S + 20),
    pytest.mark.skipif(sys.platform != "linux", reason="sanitizers are preloaded as on Linux"),
]


def runtime(name: str) -> str:
    """The sanitizer's library, as the compiler knows it."""
    compiler = shutil.which(os.environ.get("CC", "gcc"))
    if compiler is None:
        pytest.skip("no compiler to build with")
    found = subprocess.run(
        [compiler, f"-print-file-name=lib{name}.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not os.path.isabs(found):
        pytest.skip(f"the compiler has no lib{name}.so")
    return found


def build(folder: Path, **switches: str) -> Path:
    """The native modules that matter here, built into ``folder``."""
    places = ["--build-lib", str(folder), "--build-temp", str(folder / "objects")]
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", *places],
        cwd=ROOT,
        env={**os.environ, "AMBERGATE_MODULES": MODULES, **switches},
        check=True,
        capture_output=True,
        timeout=BUILD_S,
    )
    shutil.copy(ROOT / "ext" / "ambergate_native" / "__init__.py", folder / "ambergate_native")
    return folder


def run(folder: Path, library: str, scale: int, **switches: str) -> subprocess.CompletedProcess:
    """The loops, with the sanitizer in the process from its start."""
    command = [sys.executable, str(DRIVER), str(scale)]
    # Where addresses have more than 28 random bits (vm.mmap_rnd_bits) older sanitizers cannot
    # map their shadow; a container may forbid to go without.
    fixed = ["setarch", platform.machine(), "-R"]
    if shutil.which("setarch") and subprocess.run([*fixed, "true"]).returncode == 0:
        command = [*fixed, *command]
    return subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(folder), "LD_PRELOAD": library, **switches},
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )


def test_no_data_race(tmp_path):
    folder = build(tmp_path, AMBERGATE_SANITIZE="thread")
    ran = run(folder, runtime("tsan"), 200, TSAN_OPTIONS="exitcode=66")
    assert "WARNING: ThreadSanitizer" not in ran.stderr, ran.stderr[:4000]
    assert (ran.returncode, ran.stdout) == (0, "held\n"), ran.stderr[:4000]


def test_a_missing_memory_order_is_reported(tmp_path):
    folder = build(tmp_path, AMBERGATE_SANITIZE="thread", AMBERGATE_WEAKENED="1")
    ran = run(folder, runtime("tsan"), 1, TSAN_OPTIONS="exitcode=66")
    assert ran.returncode == 66, ran.stderr[:4000]
    assert "WARNING: ThreadSanitizer: data race" in ran.stderr
    assert "read_records" in ran.stderr
    assert "pause_rows" in ran.stderr or "run_rows" in ran.stderr


def test_no_bad_access(tmp_path):
    folder = build(tmp_path, AMBERGATE_SANITIZE="address")
    ran = run(
        folder,
        runtime("asan"),
        200,
        ASAN_OPTIONS="detect_leaks=0:exitcode=66",
        PYTHONMALLOC="malloc",
    )
    assert "ERROR: AddressSanitizer" not in ran.stderr, ran.stderr[:4000]
    assert (ran.returncode, ran.stdout) == (0, "held\n"), ran.stderr[:4000]
