"""A31: workers end with the process that started them, whatever they are doing then."""

import signal

import pytest

from tests.cases.programs import all_gone, start, wait_for, workers_of

PROGRAM = """
import time, ctypes
import ambergate as ag
from ambergate import col

def spin(id):
    x = 0
    while True:
        x += 1

def hold(id):
    while True:
        ctypes.PyDLL(None).usleep(ctypes.c_uint(900_000))

def sleepy(id):
    time.sleep(0.5)

rows = ag.from_arrow({{"id": list(range(100_000))}}, parallelism=1)
sinks = {{
    "computing": lambda: rows.map(spin, columns=["id"], returns={{"x": "int64"}}).to_table(),
    "holding": lambda: rows.map(hold, columns=["id"], returns={{"x": "int64"}}).to_table(),
    "full ring": lambda: rows.for_each(sleepy, columns=["id"], parallelism=2),
    "empty ring": lambda: ag.from_iter(
        lambda: (time.sleep(1000) or {{"id": 1}} for _ in range(2)), schema={{"id": "int64"}}
    ).to_table(),
}}
job = ag.start(sinks["{doing}"](), workers=2, ring_bytes=1 << 16, batch_rows=512)
print("started", flush=True)
job.wait()
"""


@pytest.mark.parametrize("doing", ["computing", "holding", "full ring", "empty ring"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_are_gone_within_five_seconds(doing, how):
    driver = start(["-c", PROGRAM.format(doing=doing)])
    try:
        assert driver.stdout.readline() == "started\n"
        workers = workers_of(driver.pid)
        assert len(workers) == 2
        driver.send_signal(how)
        assert driver.wait(10) == -how
        wait_for(lambda: all_gone(workers), 5, f"{workers} to end")
        assert "Traceback" not in driver.stderr.read()
    finally:
        driver.kill()
        driver.communicate()


def test_killed_during_start_up():
    driver = start(["-c", PROGRAM.format(doing="computing")])
    try:
        workers = wait_for(lambda: workers_of(driver.pid), 20, "the first worker")
        driver.kill()
        driver.wait(10)
        wait_for(lambda: all_gone(workers), 5, f"{workers} to end")
    finally:
        driver.kill()
        driver.communicate()


def test_under_a_subreaper():
    program = """
import ctypes, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
child = subprocess.Popen([sys.executable, "-c", {inner!r}], stdout=subprocess.PIPE, text=True)
assert child.stdout.readline() == "started\\n"
print(child.pid, flush=True)
time.sleep(60)
"""
    reaper = start(["-c", program.format(inner=PROGRAM.format(doing="computing"))])
    try:
        driver = int(reaper.stdout.readline())
        workers = workers_of(driver)
        assert len(workers) == 2
        import os

        os.kill(driver, signal.SIGKILL)
        wait_for(lambda: all_gone(workers), 5, f"{workers} to end")
    finally:
        reaper.kill()
        reaper.communicate()
