"""Drives one executor over batches of a chosen size, stopping it as often as asked."""

from __future__ import annotations

import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, RAISED, STOPPED, Gate
from ambergate.operators.base import OUTPUT_ROWS, Seat


def cut(table, rows):
    """The table in batches of ``rows`` rows."""
    whole = table.combine_chunks().to_batches()
    whole = whole[0] if whole else pa.RecordBatch.from_pylist([], schema=table.schema)
    return [whole.slice(at, rows) for at in range(0, whole.num_rows, rows)]


class Driver:
    """Feeds an operator's executor and gathers what it emits; a snapshot may be taken anywhere."""

    def __init__(self, operator, schema, name="op"):
        self.operator, self.schema = operator, schema
        self.output_schema = operator.output_schema(name, schema)
        self.executor = operator.open(Seat(name, 0, 1), schema)
        self.gate = Gate()
        self.gate.reset()
        self.position = 0
        self.outputs = []

    def feed(self, batch, stops=(), swap=False):
        """One batch, stopping at each of ``stops`` (rows since the start); swap = restart there."""
        limits = sorted(s for s in stops if self.position <= s < self.position + batch.num_rows)
        start = 0
        self.gate.at(self.position)
        for limit in [*limits, None]:
            self.gate.set_limit((1 << 62) if limit is None else limit)
            status = FULL
            while status == FULL:
                progress = self.executor.process(0, batch, start, batch.num_rows, self.gate)
                status, start = progress.status, progress.cursor
                self.take(progress.outputs)
                if status == RAISED:
                    self.position += start
                    return progress
            if limit is not None:
                assert status == STOPPED and start == limit - self.position
            else:
                assert status == DONE and start == batch.num_rows
            if swap:
                state = self.executor.snapshot()
                self.executor = self.operator.open(Seat("op", 0, 1), self.schema)
                self.executor.restore(state)
        self.position += batch.num_rows
        return progress

    def take(self, outputs):
        for output in outputs:
            output.validate(full=True)
            assert output.schema == self.output_schema
            assert 0 < output.num_rows <= OUTPUT_ROWS
            self.outputs.append(output)

    def result(self):
        self.take(self.executor.end(0))
        return pa.Table.from_batches(self.outputs, self.output_schema)


def run(operator, table, rows=400, stops=(), swap=False):
    """The operator's whole output over ``table``."""
    driver = Driver(operator, table.schema)
    for batch in cut(table, rows):
        progress = driver.feed(batch, stops, swap)
        if progress.error is not None:
            raise progress.error
    return driver.result()


def drive(operator, batch, rows, stops=()):
    """The output of a stateless operator, restarted at every stop, and its error."""
    driver = Driver(operator, batch.schema)
    error = None
    for start in range(0, batch.num_rows, rows):
        error = driver.feed(batch.slice(start, rows), stops, swap=True).error
        if error is not None:
            break
    else:
        assert list(driver.executor.end(0)) == [] and driver.executor.describe() == {}
    return pa.Table.from_batches(driver.outputs, driver.output_schema), error
