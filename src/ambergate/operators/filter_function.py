"""FilterFunction: the rows for which a user's function is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, Gate
from ambergate.kernels.rows import caller_for, filter_rows
from ambergate.kernels.selection import take_batch
from ambergate.operators.base import OUTPUT_ROWS, Operator, Progress, Seat
from ambergate.operators.functions import checked_columns, stretch
from ambergate.operators.stateless import StatelessExecutor

__all__ = ["FilterFunction"]


@dataclass(frozen=True, slots=True)
class FilterFunction(Operator):
    """Keep the rows for which ``function`` returns something true; None keeps none."""

    function: Callable[..., Any]
    columns: tuple[str, ...] | None  # arguments, in order; None: one row view

    kind: ClassVar[str] = "filter"
    shares: ClassVar[bool] = False

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator; raises PlanError where an argument does not exist."""
        checked_columns(name, self.columns, inputs[0])
        return inputs[0]

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator; a row view may read any column."""
        if self.columns is None:
            return frozenset(inputs[0].names)
        return wanted | frozenset(self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> FilterFunctionExecutor:
        """See Operator."""
        return FilterFunctionExecutor(self, inputs[0])


class FilterFunctionExecutor(StatelessExecutor):
    """Stateless; selected rows are copied."""

    def __init__(self, operator: FilterFunction, schema: pa.Schema):
        self.operator, self.schema = operator, schema
        self.places = np.empty(OUTPUT_ROWS, np.int64)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor."""
        operator = self.operator
        end = stretch(batch, operator.columns, start, min(stop, start + OUTPUT_ROWS))
        caller = caller_for(operator.function, batch, operator.columns, start, end)
        status, cursor, count, error = filter_rows(caller, start, end, gate, self.places)
        if status == DONE and end < stop:
            status = FULL
        if count == 0:
            return Progress(status, cursor, (), error)
        if count == batch.num_rows:
            return Progress(status, cursor, (batch,), error)
        made = take_batch(batch, self.places[:count])
        return Progress(status, cursor, (made,), error)
