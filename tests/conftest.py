"""What holds after every test: nothing of ours is left running, open, or lying about."""

import gc
import os
import time
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import HealthCheck, settings

SETTLE_S = 5.0

# a busy machine is no failure
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# With the first CSV file it reads pyarrow opens a pipe for signals, and keeps it for good.
pa.csv.read_csv(pa.BufferReader(b"a\n1\n"))


def children():
    """Live child processes of this one."""
    alive = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.status() != psutil.STATUS_ZOMBIE and "ambergate" in " ".join(
                process.cmdline()
            ):
                alive.append(process)
        except psutil.Error:
            continue
    return alive


def shared_names():
    """Names in /dev/shm."""
    return set(os.listdir("/dev/shm")) if Path("/dev/shm").is_dir() else set()


def descriptors():
    """Open descriptors that are sockets, memory files or process descriptors."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if "memfd" in target or "pidfd" in target or target.startswith(("socket:", "pipe:")):
            found.append(target)
    return len(found)


@pytest.fixture(autouse=True)
def nothing_left_behind(request):
    """Fail the test that leaves a worker, a shared-memory name or descriptors behind."""
    if "leaves" in request.keywords or not Path("/proc/self/fd").is_dir():
        yield
        return
    names, open_before = shared_names(), descriptors()
    yield
    deadline = time.monotonic() + SETTLE_S
    while True:
        if children() or descriptors() > open_before:
            gc.collect()
        left = children()
        new_names = shared_names() - names
        open_now = descriptors()
        if not left and not new_names and open_now <= open_before:
            return
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    for process in left:
        process.kill()
    assert not left, f"processes left behind: {left}"
    assert not new_names, f"shared-memory names left behind: {new_names}"
    assert open_now <= open_before, f"{open_now - open_before} descriptors left open"


@pytest.fixture(params=["inline", "local"])
def backend(request):
    """Each end-to-end test runs on each backend."""
    return request.param
