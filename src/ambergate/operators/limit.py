"""Limit: the first rows that come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.graph.exchange import GATHER, Exchange
from ambergate.operators.base import DONE, STOPPED, Gate, Operator, Progress, Seat

__all__ = ["Limit", "LimitExecutor"]


@dataclass(frozen=True, slots=True)
class Limit(Operator):
    """The first ``n`` rows that come; then no more input is asked for.

    >>> Limit(10).output_schema("limit", pa.schema({"a": "int64"}))
    a: int64
    """

    kind: ClassVar[str] = "limit"
    single: ClassVar[bool] = True
    order_sensitive: ClassVar[bool] = True

    n: int

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The input's schema; PlanError where ``n`` is negative."""
        if self.n < 0:
            raise PlanError(name, f"cannot keep {self.n} rows", "give a number of 0 or more")
        return inputs[0]

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """All rows to one task."""
        return GATHER

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """What is wanted."""
        return wanted

    def open(self, seat: Seat, *inputs: pa.Schema) -> LimitExecutor:
        """The runtime half for one task."""
        return LimitExecutor(self.n)


class LimitExecutor:
    """Counts down; ``satisfied`` once no further row can matter.

    Rows that still come then are consumed and dropped.
    """

    def __init__(self, n: int):
        self._left = n

    @property
    def satisfied(self) -> bool:
        """Whether the task may end although its input has not."""
        return self._left == 0

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Emit rows as they come, as long as there are any left to emit."""
        cursor = gate.rows(start, stop)
        count = min(self._left, cursor - start)
        self._left -= count
        outputs = (batch.slice(start, count),) if count else ()
        return Progress(DONE if cursor == stop else STOPPED, cursor, outputs)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """Nothing is left to emit."""
        return iter(())

    def snapshot(self) -> Any:
        """The number of rows left to emit."""
        return self._left

    def restore(self, state: Any) -> None:
        """Take the number of rows left to emit."""
        self._left = state

    def describe(self) -> dict[str, pa.Table]:
        """One row: how many rows are left to emit."""
        return {"left": pa.table({"rows": pa.array([self._left], pa.int64())})}
