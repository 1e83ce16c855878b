"""Workload A by its two kernels alone, in one thread: no files, no tasks, no channels.

Served like an engine. The batches are in memory and the gate is armed with a limit that is never
reached, which is what a task with a breakpoint far ahead pays.
"""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.parquet as pq

from ambergate.channels.gate import DONE, Gate
from ambergate.expr import col
from ambergate.kernels.evaluate import compile_expression
from benchmarks.protocol import Order, Program, serve
from benchmarks.version import own_version
from benchmarks.workloads import Answer, of_total

BATCH_ROWS = 16_384
SCHEMA = pa.schema({"value": pa.float64()})


def prepare(order: Order) -> Program:
    """A run filters and projects every batch; the sums are taken outside the timed section."""
    tables = [pq.read_table(path, columns=["value"]) for path in order.workload.paths(order.rows)]
    batches = [
        batch
        for table in tables
        for batch in table.combine_chunks().to_batches(max_chunksize=BATCH_ROWS)
    ]
    above = compile_expression(col("value") > 50, SCHEMA)
    scaled = compile_expression(col("value") * 2 + 1, SCHEMA)
    gate = Gate()
    gate.reset()
    gate.set_limit(2 * order.rows)

    def run() -> tuple[float, Answer]:
        results, position = [], 0
        started = time.perf_counter()
        for batch in batches:
            gate.at(position)
            rows = batch.num_rows
            mask = above.evaluate(batch, 0, rows, gate)
            y = scaled.evaluate(batch, 0, rows, gate)
            assert mask.status == y.status == DONE
            results.append((mask.values, y.values))
            position += rows
        seconds = time.perf_counter() - started
        kept = [y.filter(mask).to_numpy() for mask, y in results]
        return seconds, of_total(sum(map(len, kept)), sum(float(y.sum()) for y in kept))

    return run


if __name__ == "__main__":
    serve("kernels", own_version(), prepare)
