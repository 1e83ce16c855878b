"""What is in flight is bounded, however slow the sink is."""

import os
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ambergate as ag
from tests.cases.programs import wait_for, workers_of


def private_bytes(processes):
    """Memory of the processes: their own, and what they share in anonymous files, once."""
    return sum(process.memory_full_info().uss for process in processes)


@pytest.mark.slow
def test_a_sleeping_sink_stops_the_source_within_the_bounds(tmp_path):
    rows, parts = 8_000_000, 8
    table = pa.table(
        {"id": pa.array(range(1_000_000), pa.int64()), "text": pa.array(["x" * 20] * 1_000_000)}
    )
    for part in range(parts):
        pq.write_table(table, tmp_path / f"{part}.parquet", row_group_size=100_000)

    def asleep(id):
        time.sleep(30)

    sink = (
        ag.read_parquet(str(tmp_path), name="source")
        .group_by("id")
        .running(n=ag.count(), name="count")
        .for_each(asleep, columns=["id"], name="asleep")
    )
    with ag.start(sink, workers=8, paused=True) as job:
        workers = workers_of(os.getpid())
        assert len(workers) == 8
        before = private_bytes(workers)
        job.resume()
        deadline = time.monotonic() + 60
        last = -1
        while time.monotonic() < deadline:
            read = sum(job["source"].positions.values())
            if read == last and read > 0:
                break
            last = read
            time.sleep(1.0)
        assert 0 < read < rows
        grown = private_bytes(workers) - before
        report = job.pause(timeout=0.2)
        assert not report.paused
        assert all(operator == "asleep" for operator, _ in report.waiting_for)
        assert grown <= 150 << 20, f"memory grew by {grown >> 20} MiB"
        emitted = sum(
            row["bytes_out"] for row in job.stats().to_pylist() if row["operator"] == "source"
        )
        assert emitted > 0
        assert "in flight at most" in sink.explain(workers=8)


def test_explain_shows_the_sum():
    text = ag.from_arrow({"k": [1]}).group_by("k").agg(n=ag.count()).explain(workers=8)
    line = next(line for line in text.split("\n") if line.startswith("in flight at most"))
    assert float(line.split("= ")[1].split(" MiB")[0]) <= 64.0


def test_a_batch_larger_than_a_ring_arrives_though_no_other_follows():
    def rows():
        for v in range(20_000):
            yield {"v": v}
        time.sleep(0.1)  # what came is handed on with the next row
        yield {"v": -1}
        time.sleep(1000)

    stream = ag.from_iter(rows, schema={"v": "int64"}).distinct("v", name="d", parallelism=2)
    sink = stream.to_table(name="t", parallelism=2)
    with ag.start(sink, workers=2, batch_rows=30_000, ring_bytes=1 << 16) as job:
        wait_for(lambda: sum(job["d"].positions.values()) > 20_000, 20, "all rows to arrive")


def test_both_sides_of_a_join_from_one_operator_in_small_batches(backend):
    rows = ag.from_arrow({"k": list(range(4000))}, parallelism=1)
    joined = rows.join(rows, on="k", parallelism=2)
    with ag.start(
        joined.to_table(), workers=2, backend=backend, batch_rows=7, ring_bytes=1 << 16
    ) as job:
        job.wait(timeout="30s")
        assert job.result().num_rows == 4000
