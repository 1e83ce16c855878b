"""A27: shared memory has no name, belongs to one job, and dies with its users."""

import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest

import ambergate as ag
from ambergate import col
from tests.cases.programs import all_gone, environment, run, start, wait_for, workers_of
from tests.sequences import seq

PROGRAM = """
import sys, time
import ambergate as ag
from ambergate import col
rows = ag.from_arrow({"x": list(range(50_000))}, parallelism=2)
job = ag.start(rows.filter(lambda x: time.sleep(0.0002) or True, columns=["x"]).distinct("x")
    .to_table(name="t"), workers=2)
print("started", flush=True)
sys.stdin.readline()
job.wait()
print(job.result("t").num_rows, flush=True)
"""


def names():
    return set(os.listdir("/dev/shm"))


def test_the_naive_way_unlinks_what_others_use(tmp_path):
    """Named segments: an unrelated process that attaches and exits destroys the segment."""
    program = """
import subprocess, sys
from multiprocessing import shared_memory
segment = shared_memory.SharedMemory(create=True, size=64)
subprocess.run([sys.executable, "-c",
    "from multiprocessing import shared_memory as s; s.SharedMemory(name=%r)" % segment.name],
    capture_output=True)
try:
    shared_memory.SharedMemory(name=segment.name).close()
    print("alive")
except FileNotFoundError:
    print("gone")
"""
    if sys.version_info < (3, 13):
        assert run(["-c", program], cwd=tmp_path).stdout.strip() == "gone"


def test_two_jobs_of_two_processes_do_not_clash(tmp_path):
    before = names()
    drivers = [start(["-c", PROGRAM], stdin=subprocess.PIPE, cwd=tmp_path) for _ in range(2)]
    try:
        for driver in drivers:
            assert driver.stdout.readline() == "started\n"
        assert names() == before
        answers = [driver.communicate("go\n", timeout=60) for driver in drivers]
        assert answers == [("50000\n", ""), ("50000\n", "")]
        assert names() == before
    finally:
        for driver in drivers:
            driver.kill()
            driver.communicate()


def test_killing_a_worker_fails_the_job_and_leaves_nothing(tmp_path):
    before = names()
    for victim in range(2):
        sink = (
            seq(50_000)
            .filter(col("v") >= 0)
            .map(slow, columns=["v"], returns={"v": "int64"})
            .to_table()
        )
        job = ag.start(sink, workers=2)
        workers = workers_of(os.getpid())
        os.kill(workers[victim].pid, signal.SIGKILL)
        with pytest.raises(ag.JobFailed, match="was killed by SIGKILL") as caught:
            job.wait(timeout="10s")
        assert caught.value.operator.startswith("worker ")
        assert all_gone(workers)
        assert names() == before


def slow(v):
    import time

    time.sleep(0.0005)
    return v


def test_killing_the_whole_group(tmp_path):
    before = names()
    driver = start(["-c", PROGRAM], stdin=subprocess.PIPE, cwd=tmp_path, start_new_session=True)
    assert driver.stdout.readline() == "started\n"
    workers = workers_of(driver.pid)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()
    wait_for(lambda: all_gone(workers), 5, "the workers to end")
    assert names() == before


def test_many_jobs_in_one_interpreter_stay_level():
    process = psutil.Process()
    stream = seq(100).filter(col("v") > 10)
    for _ in range(3):
        stream.collect(workers=2)
    before = process.num_fds(), threading.active_count(), names()
    for _ in range(20):
        stream.collect(workers=2)
    wait_for(lambda: threading.active_count() <= before[1], 5, "threads to end")
    assert process.num_fds() <= before[0]
    assert names() == before[2]


def test_memory_that_cannot_be_had_is_an_error_before_anything_runs(tmp_path):
    program = """
import resource
import ambergate as ag
stream = ag.from_arrow({"x": list(range(100))}).distinct("x")
try:
    stream.collect(workers=2, ring_bytes=1 << 45)
except ag.AmbergateError as error:
    print(type(error).__name__, "ring_bytes" in str(error))
print(stream.collect(workers=2).num_rows)
"""
    done = run(["-c", program], cwd=tmp_path, env=environment())
    assert done.stdout == "MemoryShortage True\n100\n", done.stderr
