"""A35 a-d: a pause takes effect at once, holds everything still, and may meet the end."""

import random
import time

import pytest

import ambergate as ag
from ambergate import col
from tests.cases.conftest import bag
from tests.cases.programs import wait_for
from tests.conservation import assert_conserved
from tests.sequences import seq


def busy(v):
    """About ten microseconds."""
    total = 0
    for number in range(120):
        total += number
    return v + total - 7140


def job_of(n, backend, workers, **options):
    stream = seq(n).map(busy, columns=["v"], returns={"v": "int64"}, name="slow")
    sink = stream.group_by("key").agg(n=ag.count(), t=ag.sum("v"), name="totals").to_table(name="t")
    return ag.start(sink, backend=backend, workers=workers, **options)


def expected(n):
    totals = {}
    for number in range(n):
        rows, total = totals.get(number % 10, (0, 0))
        totals[number % 10] = rows + 1, total + number * 7919 % 1000
    return sorted(repr((key, rows, total)) for key, (rows, total) in totals.items())


@pytest.mark.parametrize("workers", [1, 4])
def test_counters_stand_still_and_the_result_is_the_same(backend, workers):
    n = 300_000
    with job_of(n, backend, workers, batch_rows=1024) as job:
        time.sleep(0.1)
        began = time.monotonic()
        report = job.pause()
        assert time.monotonic() - began < 1.0
        assert report.paused
        assert job.state == "paused"
        first = job.stats().select(["operator", "task", "rows_in", "rows_out"])
        assert 0 < sum(first["rows_in"].to_pylist()) < 3 * n
        groups = job["totals"].inspect(task=0)["tables"]["groups"]
        time.sleep(1.0)
        assert job.stats().select(["operator", "task", "rows_in", "rows_out"]) == first
        assert job["totals"].inspect(task=0)["tables"]["groups"] == groups
        assert_conserved(job)
        job.resume()
        job.wait(timeout="60s")
        assert bag(job.result("t")) == expected(n)


def test_a_pause_at_any_time_also_after_the_end(backend):
    chance = random.Random(35)
    for _ in range(12):
        with job_of(100, backend, 1) as job:
            time.sleep(chance.random() * 0.02)
            report = job.pause()
            assert report.state in ("paused", "finished")
            assert report.paused == (report.state == "paused")
            job.resume()
            job.wait(timeout="30s")
            after = job.pause()
            assert (after.paused, after.state) == (False, "finished")
            assert bag(job.result("t")) == expected(100)


def test_a_long_call_is_named_and_the_pause_comes_when_it_ends(backend, tmp_path):
    began = tmp_path / "began"

    def long(v):
        if v == 0:
            began.touch()
            time.sleep(3)
        return v

    stream = ag.from_arrow({"v": list(range(10))}, parallelism=1)
    sink = stream.map(long, columns=["v"], returns={"v": "int64"}, name="long").to_table(name="t")
    with ag.start(sink, backend=backend, workers=1) as job:
        wait_for(began.exists, 10, "the long call to begin")
        report = job.pause(timeout="200ms")
        assert (report.paused, report.state) == (False, "pausing")
        assert report.waiting_for == (("long", 0),)
        assert job.stats().num_rows == 3
        report = job.pause(timeout="20s")
        assert report.paused
        assert job["long"].positions == {0: 1}
        job.resume()
        job.wait(timeout="30s")
        assert job.result("t").num_rows == 10


def test_a_full_ring_does_not_delay_the_pause(backend):
    def slow(v):
        time.sleep(0.001)
        return v

    stream = seq(40_000).distinct("id")  # through rings that fill
    sink = stream.map(slow, columns=["v"], returns={"v": "int64"}, parallelism=1).to_table(name="t")
    with ag.start(sink, backend=backend, workers=2, ring_bytes=1 << 16, batch_rows=512) as job:
        time.sleep(0.5)
        began = time.monotonic()
        assert job.pause().paused
        assert time.monotonic() - began < 1.0
        assert_conserved(job)
        job.stop()


def test_fifty_pauses_change_nothing(backend):
    n = 40_000
    with job_of(n, backend, 2, batch_rows=400) as job:
        for _ in range(50):
            report = job.pause()
            assert report.state in ("paused", "finished")
            job.resume()
        job.wait(timeout="60s")
        assert bag(job.result("t")) == expected(n)


def test_the_oracle_knows_a_lost_row():
    table = seq(100).filter(col("id") != 5).group_by("key").agg(n=ag.count(), t=ag.sum("v"))
    assert bag(table.collect(backend="inline")) != expected(100)
