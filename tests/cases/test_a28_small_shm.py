"""A28: a /dev/shm of 64 MB, full or absent, does not matter: nothing of ours is in it."""

import os
import subprocess
import sys

import pytest

from tests.cases.programs import ROOT, environment

NAIVE = """
import os, mmap, sys
fd = os.open("/dev/shm/naive", os.O_CREAT | os.O_RDWR)
os.ftruncate(fd, 200 << 20)
m = mmap.mmap(fd, 200 << 20)
for at in range(0, 200 << 20, 4096):
    m[at] = 1
print("wrote")
"""
OURS = """
import ambergate as ag
n = 2_000_000
stream = ag.from_arrow({"x": range(n), "y": ["some text that is long enough"] * n}, parallelism=4)
table = stream.distinct("x").agg(rows=ag.count(), total=ag.sum("x"))
got = table.collect(workers=4, ring_bytes=4 << 20).to_pylist()[0]
print(got["rows"] == n and got["total"] == n * (n - 1) // 2)
"""


def in_private_shm(command, setup):
    """Run ``command`` in a mount namespace of its own whose /dev/shm is as ``setup`` says."""
    script = f'{setup}\nexec {sys.executable} -c "$PROGRAM"'
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        env=environment(PROGRAM=command),
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
    )


SMALL = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
FULL = SMALL + " && head -c 63m /dev/zero > /dev/shm/filler"
ABSENT = (
    "mount --bind /proc/self/fdinfo /dev/shm 2>/dev/null; mount -t tmpfs -o size=4k,ro x /dev/shm"
)

needs_namespace = pytest.mark.skipif(
    os.geteuid() != 0
    or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0,
    reason="needs the right to make a mount namespace",
)


@needs_namespace
def test_the_naive_way_dies_of_sigbus():
    assert in_private_shm(NAIVE, SMALL).returncode in (-7, 135)


@needs_namespace
@pytest.mark.parametrize("setup", [SMALL, FULL, ABSENT])
def test_a_shuffle_of_200_mb_runs(setup):
    done = in_private_shm(OURS, setup)
    assert done.stdout == "True\n", done.stderr
