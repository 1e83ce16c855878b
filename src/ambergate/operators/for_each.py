"""ForEach: a sink that calls a user's function with each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, Gate
from ambergate.kernels.rows import caller_for, each_row
from ambergate.operators.base import Operator, Progress, Seat
from ambergate.operators.functions import checked_columns, stretch
from ambergate.operators.stateless import StatelessExecutor

__all__ = ["ForEach"]


@dataclass(frozen=True, slots=True)
class ForEach(Operator):
    """Call ``function`` with each row, at once and at least once; what it returns is dropped."""

    function: Callable[..., Any]
    columns: tuple[str, ...] | None  # arguments, in order; None: one row view

    kind: ClassVar[str] = "for_each"

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator; a sink emits nothing."""
        checked_columns(name, self.columns, inputs[0])
        return pa.schema([])

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator; a row view may read any column."""
        return frozenset(inputs[0].names if self.columns is None else self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> ForEachExecutor:
        """See Operator."""
        return ForEachExecutor(self)


class ForEachExecutor(StatelessExecutor):
    """Calls; keeps nothing."""

    def __init__(self, operator: ForEach):
        self.operator = operator

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor."""
        operator = self.operator
        end = stretch(batch, operator.columns, start, stop)
        caller = caller_for(operator.function, batch, operator.columns, start, end)
        status, cursor, error = each_row(caller, start, end, gate)
        if status == DONE and end < stop:
            status = FULL
        return Progress(status, cursor, (), error)
