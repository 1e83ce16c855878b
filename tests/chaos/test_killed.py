"""Killed or stopped workers and controllers leave nothing behind; the job says what happened."""

import json
import os
import random
import signal
import time

import psutil
import pytest

import ambergate as ag
from tests.cases.programs import all_gone, start, wait_for, workers_of

ROWS = 20_000


def slow(v):
    time.sleep(0.0002)
    return v


def sinks_in(folder):
    rows = ag.from_arrow({"v": list(range(ROWS))}).map(
        slow, columns=["v"], returns={"v": "int64"}, name="slow"
    )
    return (
        rows.write_csv(f"{folder}/parts/"),
        rows.write_parquet(f"{folder}/one.parquet"),
        rows.write_json(f"{folder}/one.jsonl"),
    )


def files_in(folder):
    return [name for _, _, names in os.walk(folder) for name in names]


@pytest.mark.parametrize("seed", range(6))
def test_a_killed_worker_fails_the_job_at_once_and_leaves_no_file(seed, tmp_path):
    rng = random.Random(seed)
    job = ag.start(*sinks_in(tmp_path), workers=2, batch_rows=100)
    time.sleep(rng.random() * 0.4)
    workers = workers_of(os.getpid())
    assert len(workers) == 2
    if seed % 2:
        job.pause()
    rng.choice(workers).kill()
    began = time.monotonic()
    with pytest.raises(ag.JobFailed, match="killed by SIGKILL"):
        job.wait_for_stop(timeout="20s")
    assert time.monotonic() - began < 5
    assert job.state == "failed"
    assert all_gone(workers)
    assert files_in(tmp_path) == []


def test_a_stopped_worker_is_named_by_a_pause_and_goes_on(tmp_path):
    def stop_itself(v):
        if v == 10:
            os.kill(os.getpid(), signal.SIGSTOP)
        return v

    rows = ag.from_arrow({"v": list(range(100))}, parallelism=1)
    sink = rows.map(stop_itself, columns=["v"], returns={"v": "int64"}, name="halt", parallelism=1)
    with ag.start(sink.to_table(name="t", parallelism=1), workers=2) as job:
        stopped = wait_for(
            lambda: [w for w in workers_of(os.getpid()) if w.status() == psutil.STATUS_STOPPED],
            20,
            "a worker to stop",
        )
        report = job.pause(timeout="300ms")
        assert not report.paused
        assert report.waiting_for == (("halt", 0),)
        assert job.stats().num_rows == 3
        stopped[0].send_signal(signal.SIGCONT)
        assert job.pause(timeout="10s").paused
        job.resume()
        job.wait(timeout="20s")
        assert job.result()["v"].to_pylist() == list(range(100))


def test_a_worker_that_stands_still_does_not_hold_up_the_end():
    rows = ag.from_arrow({"v": list(range(ROWS))})
    sink = rows.map(slow, columns=["v"], returns={"v": "int64"}).to_table()
    job = ag.start(sink, workers=2)
    workers = workers_of(os.getpid())
    for worker in workers:
        worker.suspend()
    began = time.monotonic()
    job.stop()
    assert time.monotonic() - began < 3.5  # two seconds for all of them together
    assert job.state == "stopped"
    assert all_gone(workers)


PROGRAM = """
import sys
from tests.chaos.test_killed import sinks_in
import ambergate as ag

job = ag.start(*sinks_in(sys.argv[1]), workers=2, batch_rows=100)
print("started", flush=True)
job.wait()
"""


def test_what_a_killed_controller_leaves_is_removed_by_the_next_run(tmp_path):
    driver = start(["-c", PROGRAM, str(tmp_path)])
    try:
        assert driver.stdout.readline() == "started\n"
        workers = workers_of(driver.pid)
        wait_for(lambda: files_in(tmp_path), 20, "an unfinished file")
        driver.kill()
        driver.wait(10)
        wait_for(lambda: all_gone(workers), 5, f"{workers} to end")
    finally:
        driver.kill()
        driver.communicate()
    assert all(name.startswith(".") for name in files_in(tmp_path))
    few = ag.from_arrow({"v": [1]}, parallelism=1)
    ag.run(
        few.write_csv(f"{tmp_path}/parts/"),
        few.write_parquet(f"{tmp_path}/one.parquet"),
        few.write_json(f"{tmp_path}/one.jsonl"),
        backend="inline",
    )
    assert sorted(files_in(tmp_path)) == ["one.jsonl", "one.parquet", "part-00000.csv"]
    assert json.loads((tmp_path / "one.jsonl").read_text()) == {"v": 1}
