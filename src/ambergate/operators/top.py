"""Top: the first rows of an order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.graph.exchange import GATHER, Exchange
from ambergate.kernels.selection import take_batch
from ambergate.kernels.sorting import Keys, rows_before
from ambergate.operators.base import (
    DONE,
    LIBRARY_ROWS,
    STOPPED,
    Gate,
    Operator,
    Progress,
    Seat,
    blocks,
)
from ambergate.operators.ordering import Ordering, flags
from ambergate.operators.runs import SortedRuns

__all__ = ["Top", "TopExecutor"]


@dataclass(frozen=True, slots=True)
class Top(Operator):
    """The ``n`` first rows in the order of the columns ``by``, greatest first by default.

    Equal to a sort and a limit, with a state of about ``n`` rows: of equal rows those that came
    first are kept. Nulls go last, NaN is the greatest number.

    >>> Top(3, ("score",)).output_schema("top", pa.schema({"score": "float64"}))
    score: double
    """

    kind: ClassVar[str] = "top"
    single: ClassVar[bool] = True
    keeps_order: ClassVar[bool] = False
    makes_order: ClassVar[bool] = True
    blocking: ClassVar[bool] = True
    order_sensitive: ClassVar[bool] = True  # which of equal rows are kept

    n: int
    by: tuple[str, ...]
    descending: bool | tuple[bool, ...] = True  # one for all columns, or one each
    nulls_last: bool = True

    @property
    def ordering(self) -> Ordering:
        """The order, with one direction a column."""
        return Ordering(self.by, flags(self.descending, len(self.by)), self.nulls_last)

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The input's schema; PlanError where a column is missing or has no order."""
        if self.n < 0:
            raise PlanError(name, f"cannot keep {self.n} rows", "give a number of 0 or more")
        self.ordering.check(name, inputs[0])
        return inputs[0]

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """All rows to one task."""
        return GATHER

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """What is wanted, and the columns ordered by."""
        return wanted | frozenset(self.by)

    def open(self, seat: Seat, *inputs: pa.Schema) -> TopExecutor:
        """The runtime half for one task."""
        return TopExecutor(self.n, inputs[0], self.ordering)


class TopExecutor:
    """Keeps the rows that may still be among the first ``n``.

    Rows not before the n-th best known so far (the *bar*) are dropped as they come. When rows
    have doubled they are packed: merged, and all but the first ``n`` forgotten. Packing is one
    merged batch a stretch of input, so that no call is long when ``n`` is large.
    """

    def __init__(self, n: int, schema: pa.Schema, ordering: Ordering):
        self._n, self._schema, self._ordering = n, schema, ordering
        self._runs = SortedRuns(schema, ordering)
        self._bar: tuple[Keys, int] | None = None
        self._emitted = 0
        # while packing: what is being merged, and what it has become so far
        self._unpacked: SortedRuns | None = None
        self._packed = SortedRuns(schema, ordering)
        self._packing: Iterator[pa.RecordBatch] = iter(())

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Keep the rows that may be among the first; nothing is emitted before the end."""
        cursor = start
        for first, end in blocks(gate, start, stop):
            self._add(batch, first, end)
            self._pack()
            cursor = end
        return Progress(DONE if cursor == stop else STOPPED, cursor)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """The first ``n`` rows in order, from the first not yet yielded."""
        for batch in self._all().merged(self._emitted, self._n):
            self._emitted += batch.num_rows
            yield batch

    def snapshot(self) -> Any:
        """The rows kept, as runs, and how many rows were emitted."""
        return {"runs": self._all().batches(), "emitted": self._emitted}

    def restore(self, state: Any) -> None:
        """Take the runs; their keys are made anew."""
        self.__init__(self._n, self._schema, self._ordering)
        for batch in state["runs"]:
            self._runs.append(batch)
        self._emitted = state["emitted"]

    def describe(self) -> dict[str, pa.Table]:
        """The first ``n`` rows so far, in order."""
        best = list(self._all().merged(0, self._n))
        return {"rows": pa.Table.from_batches(best, schema=self._schema)}

    def _add(self, batch: pa.RecordBatch, start: int, stop: int) -> None:
        if self._n == 0:
            return
        if self._bar is None:
            places = np.arange(start, stop)
        else:
            found = rows_before(*self._ordering.keys(batch), *self._bar, start, stop)
            places = np.frombuffer(found, np.int64)
        if len(places):
            self._runs.add(take_batch(batch, places))

    def _pack(self) -> None:
        """Begin packing when it is due, and advance it by one batch."""
        if self._unpacked is None:
            if self._runs.rows < self._n + max(self._n, LIBRARY_ROWS):
                return
            self._unpacked, self._runs = self._runs, SortedRuns(self._schema, self._ordering)
            self._packed = SortedRuns(self._schema, self._ordering)
            self._packing = self._unpacked.merged(0, self._n)
        batch = next(self._packing, None)
        if batch is not None:
            self._packed.append(batch)
        if self._packed.rows == self._n:
            self._bar = self._packed.last_key()
            self._packed.extend(self._runs)
            self._runs, self._unpacked = self._packed, None

    def _all(self) -> SortedRuns:
        """All rows kept, earlier ones first."""
        if self._unpacked is None:
            return self._runs
        whole = SortedRuns(self._schema, self._ordering)
        whole.extend(self._unpacked)
        whole.extend(self._runs)
        return whole
