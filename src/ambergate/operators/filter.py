"""Filter: the rows for which a condition is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, Gate
from ambergate.errors import PlanError
from ambergate.expr.conjuncts import cannot_raise, conjuncts_of
from ambergate.expr.nodes import Expr
from ambergate.kernels.evaluate import compile_expression
from ambergate.kernels.selection import Views, take_batch
from ambergate.operators.base import OUTPUT_ROWS, Operator, Progress, Seat
from ambergate.operators.computed import type_in
from ambergate.operators.stateless import Stateless

__all__ = ["Filter"]


@dataclass(frozen=True, slots=True)
class Filter(Operator):
    """Keep the rows whose ``predicate`` is true; false and null rows go.

    >>> from ambergate.expr import col
    >>> Filter(col("a") > 1).output_schema("filter", pa.schema({"a": pa.int64()})).names
    ['a']
    """

    predicate: Expr

    kind: ClassVar[str] = "filter"

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator; raises PlanError where the predicate is no condition."""
        (schema,) = inputs
        of = type_in(name, self.predicate, schema)
        if not (pa.types.is_boolean(of) or pa.types.is_null(of)):
            raise PlanError(
                name,
                f"the predicate {self.predicate} must be a bool, got {of}",
                "compare it, as in col(...) > 0",
            )
        return schema

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator."""
        return wanted | self.predicate.columns()

    def conjuncts(self, schema: pa.Schema) -> tuple[tuple[str, str, Any], ...]:
        """Comparisons of columns with constants that every kept row meets.

        None where the predicate may raise: at a row that is not read it would not.
        """
        return conjuncts_of(self.predicate) if cannot_raise(self.predicate, schema) else ()

    def open(self, seat: Seat, *inputs: pa.Schema) -> FilterExecutor:
        """See Operator."""
        self.output_schema(seat.operator, *inputs)
        return FilterExecutor(self.predicate, inputs[0])


class FilterExecutor(Stateless):
    """Stateless; selected rows are copied."""

    def __init__(self, predicate: Expr, schema: pa.Schema):
        self.evaluator = compile_expression(predicate, schema)
        self.indices = np.empty(OUTPUT_ROWS, np.int64)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor."""
        limit = stop if stop - start <= OUTPUT_ROWS else start + OUTPUT_ROWS
        views = Views(batch)
        status, cursor, count, error = self.evaluator.select(
            batch, start, limit, gate, self.indices, views
        )
        if status == DONE and limit < stop:
            status = FULL
        if count == 0:
            return Progress(status, cursor, (), error)
        made = take_batch(batch, self.indices[:count], False, views)
        return Progress(status, cursor, (made,), error)
