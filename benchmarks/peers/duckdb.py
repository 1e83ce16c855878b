"""The workloads in DuckDB: SQL over ``parquet_scan``."""

from __future__ import annotations

import time

import duckdb
import pyarrow as pa

from benchmarks.protocol import Order, Program, serve
from benchmarks.workloads import Answer, of_groups, of_total, of_words

OCCURRENCE = "count(*) over (partition by {} order by id rows unbounded preceding)"
QUERIES = {
    "A": "select count(*) n, sum(value * 2 + 1) s from source where value > 50",
    "A_udf": "select count(*) n, sum(scaled(value)) s from source where above_50(value)",
    "B": "select key, count(*) n, sum(value) s from source group by key",
    "B_zipf": "select key, count(*) n, sum(value) s from source group by key",
    "C": f"""
        with second as (
            select id, (key * 7919 + 13) % 50000 k, {OCCURRENCE.format("key")} v from source
        ), third as (
            select (k * 104729 + 7) % 20000 k, v + {OCCURRENCE.format("k")} v from second
        )
        select k, count(*) n, sum(v) s from third group by k""",
    "E": """
        select w, count(*) n from (select unnest(string_split(line, ' ')) w from source)
        group by w""",
}


def prepare(order: Order) -> Program:
    name = order.workload.name
    connection = duckdb.connect()
    connection.execute(f"set threads = {order.workers}")
    connection.create_function("above_50", lambda v: v > 50, ["DOUBLE"], "BOOLEAN")
    connection.create_function("scaled", lambda v: v * 2 + 1, ["DOUBLE"], "DOUBLE")
    paths = order.workload.paths(order.rows)
    connection.execute(f"create view source as select * from parquet_scan({paths!r})")

    def run() -> tuple[float, Answer]:
        started = time.perf_counter()
        result = connection.sql(QUERIES[name]).to_arrow_table()
        return time.perf_counter() - started, answer(name, result)

    return run


def answer(name: str, result: pa.Table) -> Answer:
    """What the harness compares, computed outside the timed section."""
    if name.startswith("A"):
        return of_total(result["n"][0].as_py(), result["s"][0].as_py())
    if name == "E":
        return of_words(result["w"], result["n"].to_numpy())
    keys, counts, sums = (column.to_numpy() for column in result.columns)
    return of_groups(keys, counts, sums)


if __name__ == "__main__":
    serve("duckdb", duckdb.__version__, prepare)
