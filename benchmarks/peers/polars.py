"""The workloads in Polars: lazy frames on its streaming engine."""

from __future__ import annotations

import os
import sys
import time

from benchmarks.protocol import Order, Program, serve
from benchmarks.workloads import Answer, of_groups, of_total, of_words

if "--workers" in sys.argv:  # Polars reads its number of threads once, when it is imported
    os.environ["POLARS_MAX_THREADS"] = sys.argv[sys.argv.index("--workers") + 1]

import polars as pl
from polars import col


def a(paths: list[str]) -> pl.LazyFrame:
    kept = pl.scan_parquet(paths).filter(col("value") > 50).select(y=col("value") * 2 + 1)
    return kept.select(n=pl.len(), s=col("y").sum())


def a_udf(paths: list[str]) -> pl.LazyFrame:
    value = col("value")
    above = value.map_elements(lambda v: v > 50, return_dtype=pl.Boolean)
    scaled = value.map_elements(lambda v: v * 2 + 1, return_dtype=pl.Float64)
    kept = pl.scan_parquet(paths).select("value").filter(above).select(y=scaled)
    return kept.select(n=pl.len(), s=col("y").sum())


def b(paths: list[str]) -> pl.LazyFrame:
    return pl.scan_parquet(paths).group_by("key").agg(n=pl.len(), s=col("value").sum())


def c(paths: list[str]) -> pl.LazyFrame:
    def occurrence(key: str) -> pl.Expr:
        return pl.int_range(1, pl.len() + 1).over(key)

    second = pl.scan_parquet(paths).select(k=(col("key") * 7919 + 13) % 50000, v=occurrence("key"))
    third = second.select(k=(col("k") * 104729 + 7) % 20000, v=col("v") + occurrence("k"))
    return third.group_by("k").agg(n=pl.len(), s=col("v").sum())


def e(paths: list[str]) -> pl.LazyFrame:
    words = pl.scan_parquet(paths).select(w=col("line").str.split(" ")).explode("w")
    return words.group_by("w").agg(n=pl.len())


FRAMES = {"A": a, "A_udf": a_udf, "B": b, "B_zipf": b, "C": c, "E": e}


def prepare(order: Order) -> Program:
    name = order.workload.name
    frame = FRAMES[name](order.workload.paths(order.rows))

    def run() -> tuple[float, Answer]:
        started = time.perf_counter()
        result = frame.collect(engine="streaming")
        return time.perf_counter() - started, answer(name, result)

    return run


def answer(name: str, result: pl.DataFrame) -> Answer:
    """What the harness compares, computed outside the timed section."""
    if name.startswith("A"):
        return of_total(*result.row(0))
    if name == "E":
        return of_words(result["w"].to_arrow().cast("string"), result["n"].to_numpy())
    return of_groups(*(column.to_numpy() for column in result.get_columns()))


if __name__ == "__main__":
    serve("polars", pl.__version__, prepare)
