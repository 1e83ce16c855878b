"""The executor behind select, with_columns and drop: columns forwarded and columns computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, STOPPED, Gate
from ambergate.errors import ExpressionError, PlanError
from ambergate.expr.nodes import Alias, Column, Expr
from ambergate.kernels.evaluate import Evaluator, compile_expression
from ambergate.operators.base import OUTPUT_ROWS, Progress
from ambergate.operators.stateless import Stateless

__all__ = ["ComputedExecutor", "forwarded", "named_expressions", "type_in"]


def type_in(name: str, expr: Expr, schema: pa.Schema) -> pa.DataType:
    """The type of ``expr``; raises PlanError naming the operator ``name`` where it does not fit."""
    try:
        return expr.type(schema)
    except ExpressionError as error:
        raise PlanError(name, f"{error.expression}: {error.problem}", error.remedy) from None


def named_expressions(
    name: str, columns: Sequence[str | Expr], named: Mapping[str, Any]
) -> tuple[tuple[str, Expr], ...]:
    """Columns as users give them (names, expressions, name=expression) as pairs.

    >>> from ambergate.expr import col
    >>> named_expressions("select", ["a", col("b") + 1], {"c": 5})
    (('a', col("a")), ('b + 1', col("b") + 1), ('c', lit(5)))
    """
    from ambergate.expr.nodes import as_expr

    pairs = []
    for column in columns:
        if isinstance(column, str):
            pairs.append((column, Column(column)))
        elif isinstance(column, Expr):
            pairs.append((column.name, column))
        else:
            raise PlanError(name, f"{column!r} is neither a column name nor an expression")
    for label, value in named.items():
        if not isinstance(value, Expr) and callable(value):
            raise PlanError(
                name, f"column {label!r} is a function", "use map(function, columns=, returns=)"
            )
        pairs.append((label, as_expr(value)))
    return tuple(pairs)


def forwarded(expr: Expr) -> str | None:
    """The column that ``expr`` merely forwards, or None where it computes."""
    while isinstance(expr, Alias):
        expr = expr.of
    return expr.column if isinstance(expr, Column) else None


class ComputedExecutor(Stateless):
    """Stateless: each output column is an input column or computed from the row.

    Parameters
    ----------
    pairs : output columns in order, each with its expression
    schema : of the input
    output : schema of the output
    """

    def __init__(
        self, pairs: Sequence[tuple[str, Expr]], schema: pa.Schema, output: pa.Schema
    ) -> None:
        self.output = output
        self.parts: list[int | Evaluator] = []
        for _, expr in pairs:
            column = forwarded(expr)
            if column is None:
                self.parts.append(compile_expression(expr, schema))
            else:
                self.parts.append(schema.get_field_index(column))
        computed = [place for place, part in enumerate(self.parts) if not isinstance(part, int)]
        self.computes = bool(computed)
        # what is forwarded stays in its place under its name: the output is the input with some
        # columns set
        self.edits = len(self.parts) >= len(schema) and all(
            part == place and schema.field(place).equals(output.field(place))
            for place, part in enumerate(self.parts)
            if isinstance(part, int)
        )
        self.fields = list(output)
        self.inputs = len(schema)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor."""
        limit = stop if stop - start <= OUTPUT_ROWS else start + OUTPUT_ROWS
        status, cursor, error = DONE, limit, None
        columns: list[Any] = self.parts.copy()
        if self.computes:
            for place, part in enumerate(self.parts):
                if not isinstance(part, int):
                    # a later column is computed up to where the earlier ones came
                    found = part.evaluate(batch, start, cursor, gate)
                    columns[place] = found.values
                    if found.status != DONE:
                        status, cursor, error = found.status, found.cursor, found.error
        else:
            cursor = gate.rows(start, limit)
            status = DONE if cursor == limit else STOPPED
        if status == DONE and limit < stop:
            status = FULL
        length = cursor - start
        if length == 0:
            return Progress(status, cursor, (), error)
        if self.edits:
            made = self._edited(batch, columns, start, length)
        else:
            made = self._collected(batch, columns, start, length)
        return Progress(status, cursor, (made,), error)

    def _edited(
        self, batch: pa.RecordBatch, columns: list[Any], start: int, length: int
    ) -> pa.RecordBatch:
        """The batch with the computed columns set: one call for each, however wide it is."""
        made = batch if length == batch.num_rows else batch.slice(start, length)
        for place, column in enumerate(columns):
            if isinstance(column, int):
                continue
            if len(column) != length:
                column = column.slice(0, length)
            if place < self.inputs:
                made = made.set_column(place, self.fields[place], column)
            else:
                made = made.append_column(self.fields[place], column)
        return made

    def _collected(
        self, batch: pa.RecordBatch, columns: list[Any], start: int, length: int
    ) -> pa.RecordBatch:
        whole = length == batch.num_rows
        for place, column in enumerate(columns):
            if isinstance(column, int):
                column = batch.column(column)
                columns[place] = column if whole else column.slice(start, length)
            elif len(column) != length:
                columns[place] = column.slice(0, length)
        if not columns:
            return batch.select([]).slice(start, length)
        return pa.RecordBatch.from_arrays(columns, schema=self.output)
