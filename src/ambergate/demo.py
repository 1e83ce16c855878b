"""A minute with ambergate: a job that is held at an exact row, looked into, and let go again."""

from __future__ import annotations

import time
from collections.abc import Callable

import pyarrow as pa

from ambergate.expr import col, count, sum
from ambergate.jobs import start
from ambergate.sources import from_arrow
from ambergate.tables import format_table

ROWS = 200_000
HELD = {0: 12_345, 1: 54_321}


def rows_of(part: int, parts: int) -> pa.Table:
    """Rows id, key, v of one partition of the demonstration."""
    ids = range(part, ROWS, parts)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "key": pa.array([f"k{i % 7}" for i in ids]),
            "v": pa.array([(i * 7919) % 1000 for i in ids], pa.int64()),
        }
    )


def demo(say: Callable[[str], None] = print) -> None:
    """Run it; ``say`` gets each line."""
    stream = (
        from_arrow([rows_of(0, 2), rows_of(1, 2)], name="rows")
        .filter(lambda v: v % 2 == 0, columns=["v"], name="even")
        .group_by("key")
        .agg(n=count(), total=sum(col("v")), name="totals")
        .sort("key")
    )
    sink = stream.to_table(name="result")
    say(f"the plan\n{sink.explain(workers=2)}\n")
    with start(sink, workers=2, paused=True) as job:
        job["even"].break_at(HELD)
        began = time.perf_counter()
        job.resume()
        stop = job.wait_for_stop(timeout="60s")
        say(f"held after {time.perf_counter() - began:.3f} s: {stop}")
        for task, position in HELD.items():
            say(
                f"  task {task} has consumed exactly {position:,} rows; it holds "
                f"{job['even'].held(task=task)}"
            )
        say(f"  groups so far in task 0 of totals:\n{_state(job)}")
        job["even"].step(3, task=0)
        say(f"  three rows further: {job['even'].held(task=0)}")
        job.resume()
        job.wait(timeout="60s")
        say(f"\nfinished\n{format_table(job.result('result'))}")


def _state(job: object) -> str:
    tables = job["totals"].inspect(task=0)["tables"]  # type: ignore[index]
    return "\n".join(format_table(table, rows=7) for table in tables.values())
