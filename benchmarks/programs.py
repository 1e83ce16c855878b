"""The workloads in ambergate; served to the harness like those of the other engines.

The time runs from the opening of the gates, every worker ready and nothing read, to the result as
a table: starting is left out, as it is for the others, reading is not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa

import ambergate as ag
from ambergate import col
from benchmarks.protocol import Order, Program, serve
from benchmarks.version import own_version
from benchmarks.workloads import Answer, of_groups, of_total, of_words

RESULT = "t"
WAIT_S = 600


def a(paths: list[str]) -> Any:
    kept = ag.read_parquet(paths).filter(col("value") > 50).select(y=col("value") * 2 + 1)
    return kept.agg(n=ag.count(), s=ag.sum("y"))


def a_udf(paths: list[str]) -> Any:
    kept = ag.read_parquet(paths).filter(lambda v: v > 50, columns=["value"])
    scaled = kept.map(lambda v: v * 2 + 1, columns=["value"], returns={"y": "float64"})
    return scaled.agg(n=ag.count(), s=ag.sum("y"))


def b(paths: list[str]) -> Any:
    return ag.read_parquet(paths).group_by("key").agg(n=ag.count(), s=ag.sum("value"))


def c(paths: list[str]) -> Any:
    first = ag.read_parquet(paths).select("key").group_by("key").running(v=ag.count())
    second = first.select(k=(col("key") * 7919 + 13) % 50000, v=col("v"))
    third = second.group_by("k").running(again=ag.count())
    summed = third.select(k=(col("k") * 104729 + 7) % 20000, v=col("v") + col("again"))
    return summed.group_by("k").agg(n=ag.count(), s=ag.sum("v"))


def e(paths: list[str]) -> Any:
    words = ag.read_parquet(paths).select(w=col("line").str.split(" ")).explode("w")
    return words.group_by("w").agg(n=ag.count())


STREAMS: dict[str, Callable[[list[str]], Any]] = {
    "A": a,
    "A_udf": a_udf,
    "B": b,
    "B_zipf": b,
    "C": c,
    "E": e,
}


def sink(order: Order) -> Any:
    """The dataflow of a workload, ending in a table."""
    return STREAMS[order.workload.name](order.workload.paths(order.rows)).to_table(name=RESULT)


def answer(name: str, result: pa.Table) -> Answer:
    """What the harness compares, computed outside the timed section."""
    if name.startswith("A"):
        return of_total(result["n"][0].as_py(), result["s"][0].as_py())
    if name == "E":
        return of_words(result["w"], result["n"].to_numpy())
    key = "k" if name == "C" else "key"
    return of_groups(*(result[column].to_numpy() for column in (key, "n", "s")))


def prepare(order: Order) -> Program:
    """A run starts a job with its gates closed, opens them, and waits for the result."""
    options = {"backend": os.environ.get("AMBERGATE_BENCH_BACKEND", "local")}

    def run() -> tuple[float, Answer]:
        with ag.start(sink(order), workers=order.workers, paused=True, **options) as job:
            started = time.perf_counter()
            job.resume()
            job.wait(timeout=WAIT_S)
            result = job.result(RESULT)
            seconds = time.perf_counter() - started
        return seconds, answer(order.workload.name, result)

    return run


if __name__ == "__main__":
    serve("ambergate", own_version(), prepare)
