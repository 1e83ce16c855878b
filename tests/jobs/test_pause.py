"""Pause is true quiescence: whatever the tasks are doing, and however often it is asked."""

import random
import time

import pytest

import ambergate as ag
from ambergate import col
from tests.conservation import assert_conserved
from tests.sequences import rows_of, seq

HOLD_C = """
import ctypes
ctypes.PyDLL(None).usleep(ctypes.c_uint({microseconds}))
"""


def slow(v):
    time.sleep(0.0001)
    return v


def test_fifty_random_pauses_change_nothing(backend):
    expected = rows_of(seq(20_000).filter(col("v") < 500).collect(backend="inline"))
    sink = (
        seq(20_000)
        .filter(lambda v: v < 500, columns=["v"], name="low", parallelism=4)
        .to_table(name="t")
    )
    rng = random.Random(5)
    with ag.start(sink, workers=2, backend=backend, batch_rows=64) as job:
        for _ in range(50):
            time.sleep(rng.random() * 0.004)
            report = job.pause()
            if job.state == "finished":
                assert report.state == "finished"
                break
            assert report.paused
            assert report.waiting_for == ()
            job.resume()
        job.wait(timeout="60s")
        assert rows_of(job.result()) == expected


def test_nothing_moves_while_paused(backend):
    sink = (
        seq(100_000).map(slow, columns=["v"], returns={"v": "int64"}, name="m").to_table(name="t")
    )
    with ag.start(sink, workers=2, backend=backend) as job:
        time.sleep(0.1)
        report = job.pause()
        assert report.paused
        before = job.stats()
        assert_conserved(job)
        time.sleep(0.5)
        assert job.stats().equals(before)
        assert report.in_flight_rows == job.pause().in_flight_rows
        assert set(job.stats()["state"].to_pylist()) <= {"paused", "finished"}


def test_a_filter_that_rejects_everything_pauses_between_two_rows(backend):
    def reject(v):
        time.sleep(0.001)
        return False

    sink = seq(10_000).filter(reject, columns=["v"], name="none").to_table(name="t")
    with ag.start(sink, workers=2, backend=backend, batch_rows=400) as job:
        handle = job["none"]
        deadline = time.monotonic() + 10
        while min(handle.positions.values()) < 20 and time.monotonic() < deadline:
            time.sleep(0.002)
        before = handle.positions
        assert job.pause().paused
        # the rest of a batch would be hundreds of rows, a millisecond each
        assert all(handle.positions[task] - before[task] < 200 for task in before)


@pytest.mark.parametrize("holds_the_interpreter", [False, True])
def test_a_long_call_is_pausing_and_everything_is_still_answered(holds_the_interpreter):
    def stuck(id):
        if id == 4:
            if holds_the_interpreter:
                import ctypes

                ctypes.PyDLL(None).usleep(ctypes.c_uint(900_000))
                ctypes.PyDLL(None).usleep(ctypes.c_uint(900_000))
            else:
                time.sleep(1.8)
        return id

    sink = (
        seq(4000)
        .map(stuck, columns=["id"], returns={"id": "int64"}, name="m", parallelism=4)
        .to_table(name="t")
    )
    with ag.start(sink, workers=4, backend="local") as job:
        deadline = time.monotonic() + 10
        while job["m"].positions[0] < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        began = time.perf_counter()
        report = job.pause(timeout=0.05)
        assert time.perf_counter() - began < 1.2  # the call takes longer
        assert not report.paused
        assert report.waiting_for == (("m", 0),)
        assert job.state == "pausing"
        began = time.perf_counter()
        rows = job.stats().to_pylist()
        states = {(row["operator"], row["task"]): row["state"] for row in rows}
        seen = job["m"].inspect(task=0)
        assert time.perf_counter() - began < 1.0
        assert states[("m", 0)] == "pausing"
        assert states[("m", 1)] in ("paused", "finished")
        assert (seen["state"], seen["position"]) == ("pausing", 1)
        assert job.pause(timeout="10s").paused
        assert job["m"].positions[0] == 2  # id 4 was done once; id 8 has not begun
        assert_conserved(job)
        job.resume()
        job.wait(timeout="30s")
        assert sorted(job.result()["id"].to_pylist()) == list(range(4000))


def test_full_rings_pause_at_once(backend):
    def sleepy(v):
        time.sleep(0.002)

    sink = seq(50_000).for_each(sleepy, columns=["v"], name="slow", parallelism=2)
    with ag.start(sink, workers=2, backend=backend, ring_bytes=1 << 16, batch_rows=512) as job:
        time.sleep(0.5)
        report = job.pause()
        assert report.paused
        assert report.in_flight_rows > 0
        assert_conserved(job)


def test_pause_and_resume_are_idempotent_and_the_last_request_wins(backend):
    sink = seq(50_000).map(slow, columns=["v"], returns={"v": "int64"}, name="m").to_table(name="t")
    with ag.start(sink, workers=2, backend=backend) as job:
        assert job.pause().paused
        assert job.pause().paused
        job.resume()
        job.resume()
        assert job.state == "running"
        assert job.pause().paused
        assert job.state == "paused"
        with pytest.raises(ag.JobPaused):
            job.wait(timeout="5s")
        with pytest.raises(TimeoutError):
            job.wait_for_stop(timeout=0.05)
        job.stop()
        job.stop()
        assert job.state == "stopped"
        assert job.pause().state == "stopped"
        job.resume()
        assert job.state == "stopped"
        job.wait(timeout="5s")


def test_pausing_around_the_end_is_never_an_error(backend):
    rng = random.Random(11)
    for _ in range(15):
        sink = seq(100).filter(col("v") >= 0).to_table(name="t")
        with ag.start(sink, workers=2, backend=backend) as job:
            time.sleep(rng.random() * 0.01)
            report = job.pause()
            assert report.state in ("paused", "finished", "running")
            job.resume()
            job.wait(timeout="10s")
            assert job.pause().state == "finished"
            assert job.result().num_rows == 100
