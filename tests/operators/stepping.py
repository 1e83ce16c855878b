"""Drive one executor as a worker does: batch after batch, stopped at any row, moved at any time."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable

import pyarrow as pa

from ambergate.operators.base import DONE, FULL, STOPPED, Executor, Gate, Operator, Seat


def batches_of(table: pa.Table, rows: int) -> list[pa.RecordBatch]:
    """The table in batches of ``rows`` rows, each with memory of its own."""
    parts = [table.slice(start, rows).combine_chunks() for start in range(0, len(table), rows)]
    return [part.to_batches()[0] for part in parts if len(part)]


class Stepper:
    """An executor with a gate; ``moves``: it is snapshot, pickled and restored now and then."""

    def __init__(self, operator: Operator, *schemas: pa.Schema, seed: int = 0, moves: bool = False):
        self.operator, self.schemas = operator, schemas
        self.schema = operator.output_schema("test", *schemas)
        self.executor = self.open()
        self.gate, self.random, self.moves = Gate(), random.Random(seed), moves
        self.gate.reset()
        self.outputs: list[pa.RecordBatch] = []

    def open(self) -> Executor:
        return self.operator.open(Seat("test", 0, 1), *self.schemas)

    def maybe_move(self) -> None:
        if self.moves and self.random.random() < 0.1:
            state = pickle.loads(pickle.dumps(self.executor.snapshot()))
            self.executor = self.open()
            self.executor.restore(state)

    def feed(self, port: int, batch: pa.RecordBatch, stops: bool = True) -> None:
        """Give all rows of a batch, with the gate closing at random rows."""
        cursor, rows = 0, batch.num_rows
        self.gate.at(0)
        while cursor < rows:
            stop = self.random.randint(cursor + 1, rows) if stops else rows
            limit = self.random.randint(cursor, stop) if stops else stop
            self.gate.set_limit(limit)
            progress = self.executor.process(port, batch, cursor, stop, self.gate)
            assert cursor <= progress.cursor <= limit
            if progress.status == DONE:
                assert progress.cursor == stop
            elif progress.status == STOPPED:
                assert progress.cursor == limit
            else:
                assert progress.status == FULL and progress.cursor > cursor
            cursor = progress.cursor
            self.take(progress.outputs)
            self.maybe_move()

    def take(self, outputs: Iterable[pa.RecordBatch]) -> None:
        for output in outputs:
            output.validate(full=True)
            assert output.schema.equals(self.schema), f"{output.schema}, not {self.schema}"
            self.outputs.append(output)

    def end(self, port: int) -> None:
        """End a port; a moved executor goes on where the one before was left."""
        again = True
        while again:
            again = False
            for output in self.executor.end(port):
                self.take([output])
                if self.moves and self.random.random() < 0.1:
                    state = pickle.loads(pickle.dumps(self.executor.snapshot()))
                    self.executor = self.open()
                    self.executor.restore(state)
                    again = True
                    break

    def result(self) -> pa.Table:
        return pa.Table.from_batches(self.outputs, schema=self.schema).combine_chunks()


def run(
    operator: Operator,
    *inputs: pa.Table,
    rows: int = 400,
    seed: int = 0,
    moves: bool = False,
    ports: Iterable[int] | None = None,
) -> pa.Table:
    """The output of one task over whole inputs, read port after port (``ports``: in this order)."""
    stepper = Stepper(operator, *(table.schema for table in inputs), seed=seed, moves=moves)
    for port in ports or range(len(inputs)):
        for batch in batches_of(inputs[port], rows):
            stepper.feed(port, batch)
        stepper.end(port)
    return stepper.result()
