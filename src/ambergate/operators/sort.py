"""Sort: all rows, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.graph.exchange import GATHER, Exchange
from ambergate.operators.base import DONE, STOPPED, Gate, Operator, Progress, Seat, blocks
from ambergate.operators.ordering import Ordering, flags
from ambergate.operators.runs import SortedRuns

__all__ = ["Sort", "SortExecutor"]


@dataclass(frozen=True, slots=True)
class Sort(Operator):
    """All rows, in the order of the columns ``by``, when the input ends.

    Stable: equal rows stay in the order they came. Nulls go to the end unless ``nulls_last`` is
    False, whatever the direction; NaN is the greatest number; strings go by their UTF-8 bytes.

    >>> Sort(("a", "b"), descending=(True, False)).output_schema("sort", pa.schema({"a": "int64",
    ...     "b": "string"}))
    a: int64
    b: string
    """

    kind: ClassVar[str] = "sort"
    single: ClassVar[bool] = True
    keeps_order: ClassVar[bool] = False
    makes_order: ClassVar[bool] = True
    blocking: ClassVar[bool] = True
    retains: ClassVar[frozenset[int]] = frozenset({0})

    by: tuple[str, ...]
    descending: bool | tuple[bool, ...] = False  # one for all columns, or one each
    nulls_last: bool = True

    @property
    def ordering(self) -> Ordering:
        """The order, with one direction a column."""
        return Ordering(self.by, flags(self.descending, len(self.by)), self.nulls_last)

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The input's schema; PlanError where a column is missing or has no order."""
        self.ordering.check(name, inputs[0])
        return inputs[0]

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """All rows to one task."""
        return GATHER

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """What is wanted, and the columns sorted by."""
        return wanted | frozenset(self.by)

    def open(self, seat: Seat, *inputs: pa.Schema) -> SortExecutor:
        """The runtime half for one task."""
        return SortExecutor(inputs[0], self.ordering)


class SortExecutor:
    """Makes sorted runs of the rows as they come; merges them at the end.

    Each call sorts stretches of 4,096 rows, so that it can be left after any of them; ``end``
    can be left between two batches, and goes on after what it has yielded when called again.
    """

    def __init__(self, schema: pa.Schema, ordering: Ordering):
        self._schema, self._ordering = schema, ordering
        self._runs = SortedRuns(schema, ordering)
        self._emitted = 0

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Keep the rows; nothing is emitted before the end."""
        cursor = start
        for first, end in blocks(gate, start, stop):
            self._runs.add(batch.slice(first, end - first))
            cursor = end
        return Progress(DONE if cursor == stop else STOPPED, cursor)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """All rows in order, from the first not yet yielded."""
        for batch in self._runs.merged(self._emitted):
            self._emitted += batch.num_rows
            yield batch

    def snapshot(self) -> Any:
        """The runs and how many rows were emitted."""
        return {"runs": self._runs.batches(), "emitted": self._emitted}

    def restore(self, state: Any) -> None:
        """Take the runs; their keys are made anew."""
        self._runs = SortedRuns(self._schema, self._ordering)
        for batch in state["runs"]:
            self._runs.append(batch)
        self._emitted = state["emitted"]

    def describe(self) -> dict[str, pa.Table]:
        """The rows kept, run after run: not yet in their final order."""
        return {"rows": self._runs.to_table()}
