"""Run a stateless operator's executor over a batch, cut and stopped where a test says."""

from __future__ import annotations

import pyarrow as pa

from ambergate.operators.base import DONE, FULL, RAISED, STOPPED, Gate, Operator, Seat


def drive(
    operator: Operator, batch: pa.RecordBatch, batch_rows: int, stops: list[int] = ()
) -> tuple[pa.Table, BaseException | None]:
    """The output of ``operator`` over ``batch`` in batches of ``batch_rows``, and its error.

    The gate closes at each of ``stops`` (rows since the begin) and is opened again; every output
    must belong to rows before the stop.
    """
    output = operator.output_schema("op", batch.schema)
    executor = operator.open(Seat("op", 0, 1), batch.schema)
    gate = Gate()
    gate.reset()
    limits = [*sorted(stops), 2**62]
    gate.set_limit(limits.pop(0))
    made: list[pa.RecordBatch] = []
    for base in range(0, batch.num_rows, batch_rows):
        part = batch.slice(base, batch_rows)
        gate.at(base)
        cursor = 0
        while cursor < part.num_rows:
            before = cursor
            progress = executor.process(0, part, cursor, part.num_rows, gate)
            cursor = progress.cursor
            made += progress.outputs
            assert all(out.schema == output and out.num_rows for out in progress.outputs)
            if progress.status == RAISED:
                return pa.Table.from_batches(made, output), progress.error
            if progress.status == STOPPED:
                assert base + cursor == max(gate.limit, base + before)
                state = executor.snapshot()
                executor = operator.open(Seat("op", 0, 1), batch.schema)
                executor.restore(state)
                gate.set_limit(limits.pop(0))
            elif progress.status == DONE:
                assert cursor == part.num_rows
            else:
                assert progress.status == FULL and cursor > before
    assert list(executor.end(0)) == [] and executor.describe() == {}
    return pa.Table.from_batches(made, output), None
