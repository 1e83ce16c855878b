"""However a job or its program ends: all of the output or none, and nothing left running."""

import contextlib
import os
import random
import signal
import threading
import time

import pytest

import ambergate as ag
from ambergate import col
from tests.cases.programs import all_gone, run, start, wait_for, workers_of

PARTS = 6


def files_in(folder):
    return [name for _, _, names in os.walk(folder) for name in names]


def three_sinks(folder):
    rows = ag.from_arrow({"v": list(range(5000))}).filter(col("v") >= 0)
    return [rows.write_csv(f"{folder}/{number}/") for number in range(3)]


def test_a_stop_at_any_moment_leaves_all_of_the_output_or_nothing(backend, tmp_path):
    rng, ends = random.Random(7), set()
    for number in range(40 if backend == "inline" else 12):
        folder = tmp_path / str(number)
        job = ag.start(*three_sinks(folder), workers=2, backend=backend)
        time.sleep(rng.random() * (0.03 if backend == "inline" else 0.05))
        job.stop()
        ends.add(job.state)
        assert len(files_in(folder)) == (PARTS if job.state == "finished" else 0)
    assert ends <= {"finished", "stopped"}


def test_an_exception_in_the_block_stops_the_job(backend, tmp_path):
    rows = ag.from_iter(({"v": v} for v in iter(int, 1)), schema={"v": "int64"})
    with (
        pytest.raises(ZeroDivisionError),
        ag.start(rows.write_csv(f"{tmp_path}/x.csv"), backend=backend) as job,
    ):
        _ = 1 / 0
    assert job.state == "stopped"
    assert os.listdir(tmp_path) == []


def test_many_jobs_one_after_the_other_and_at_once():
    rows = ag.from_arrow({"v": list(range(100))}).filter(col("v") < 50)
    failures = []

    def several(jobs, backend):
        try:
            for _ in range(jobs):
                assert rows.collect(workers=2, backend=backend).num_rows == 50
        except BaseException as error:
            failures.append(error)

    several(100, "inline")
    before = threading.active_count()
    threads = [
        threading.Thread(target=several, args=(jobs, backend))
        for jobs, backend in [(10, "inline"), (2, "local")] * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    wait_for(lambda: threading.active_count() <= before, 10, "the threads of all jobs to end")


PROGRAM = """
import os, sys, time
import ambergate as ag

def slow(v):
    time.sleep(0.01)
    return v

rows = ag.from_arrow({{"v": list(range(50_000))}})
sink = rows.map(slow, columns=["v"], returns={{"v": "int64"}}).write_csv(sys.argv[1] + "/out/")
{then}
"""

ENDS = {
    "falls off": ("job = ag.start(sink, workers=2, backend=sys.argv[2])", 0),
    "raises": ("job = ag.start(sink, workers=2, backend=sys.argv[2]); raise SystemExit(3)", 3),
    "paused": ("ag.start(sink, workers=2, backend=sys.argv[2]).pause()", 0),
    "dropped": ("ag.start(sink, workers=2, backend=sys.argv[2]); import gc; gc.collect()", 0),
    "from a thread": (
        "import threading; t = threading.Thread(target=lambda: ag.start("
        "sink, workers=2, backend=sys.argv[2])); t.start(); t.join()",
        0,
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_a_program_that_ends_with_a_running_job(how, backend, tmp_path):
    then, code = ENDS[how]
    began = time.monotonic()
    ended = run(["-c", PROGRAM.format(then=then), str(tmp_path), backend], timeout=30)
    assert (ended.returncode, ended.stderr) == (code, "")
    assert time.monotonic() - began < 15
    assert files_in(tmp_path) == []


def test_a_forked_child_that_ends_does_not_stop_the_jobs_of_its_parent(tmp_path):
    then = """
job = ag.start(sink, workers=2)
child = os.fork()
if child == 0:
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(job.pause().paused)
"""
    ended = run(["-c", PROGRAM.format(then=then), str(tmp_path)], timeout=30)
    assert (ended.stdout, ended.stderr) == ("True\n", "")


@pytest.mark.parametrize("delay_s", [0.05, 0.3, 1.0])
def test_control_c_ends_the_program_by_its_signal(delay_s, backend, tmp_path):
    then = 'print("go", flush=True)\nag.run(sink, workers=2, backend=sys.argv[2])'
    driver = start(
        ["-c", PROGRAM.format(then=then), str(tmp_path), backend], start_new_session=True
    )
    try:
        assert driver.stdout.readline() == "go\n"
        time.sleep(delay_s)
        workers = workers_of(driver.pid)
        os.killpg(driver.pid, signal.SIGINT)
        _, errors = driver.communicate(timeout=15)
        assert driver.returncode == -signal.SIGINT
        assert errors.count("Traceback") == 1, errors  # the program's own
        assert all_gone(workers)
        assert files_in(tmp_path) == []
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)
        driver.communicate()
