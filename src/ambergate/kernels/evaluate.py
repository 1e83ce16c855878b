"""From an expression and a schema to something that computes it, row range by row range."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from ambergate.errors import ExpressionError
from ambergate.expr.nodes import Alias, Column, Expr, Literal
from ambergate.expr.types import Typed, annotate
from ambergate.kernels.program import Region, Views, compile_region
from ambergate.kernels.strings import split_rows
from ambergate.kernels.vector import is_native
from ambergate_native.gate import DONE, RAISED, STOPPED, Gate

__all__ = [
    "ArrowEvaluator",
    "ColumnEvaluator",
    "Evaluation",
    "Evaluator",
    "Selection",
    "SplitEvaluator",
    "VectorEvaluator",
    "compile_expression",
]

SLICE_ROWS = 4_096  # rows of one call into pyarrow, which cannot be stopped inside


class Evaluation(NamedTuple):
    """The values of rows ``start`` to ``cursor``; ``error`` is what row ``cursor`` raised."""

    status: int
    cursor: int
    values: pa.Array
    error: BaseException | None = None


class Selection(NamedTuple):
    """How many rows of ``start`` to ``cursor`` are selected; ``error`` is of row ``cursor``."""

    status: int
    cursor: int
    selected: int
    error: BaseException | None = None


class Evaluator(Protocol):
    """Computes one expression over batches of one schema; used by one thread."""

    type: pa.DataType  # of the values

    def evaluate(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Evaluation:
        """The values of rows ``start`` to the returned cursor.

        ``status`` is DONE, STOPPED (the gate closed) or RAISED (row ``cursor`` has no value).
        """
        ...

    def select(
        self,
        batch: pa.RecordBatch,
        start: int,
        stop: int,
        gate: Gate,
        indices: np.ndarray,
        views: Views | None = None,
    ) -> Selection:
        """Write the numbers of the rows that are true to ``indices``, from 0 on.

        ``indices`` is int64 of at least ``stop - start`` rows; null and false are not selected.
        ``views`` are those of ``batch``, where they are at hand.
        """
        ...


def compile_expression(expr: Expr, schema: pa.Schema) -> Evaluator:
    """The evaluator of ``expr`` over batches of ``schema``.

    Raises
    ------
    ExpressionError
        The expression does not fit the schema.

    Examples
    --------
    >>> from ambergate.expr import col
    >>> batch = pa.record_batch({"a": [1, 2, None]})
    >>> gate = Gate(); gate.reset()
    >>> evaluator = compile_expression(col("a") * 2, batch.schema)
    >>> evaluator.evaluate(batch, 0, 3, gate).values.to_pylist()
    [2, 4, None]
    """
    try:
        return _compile(expr, schema)
    except RecursionError:
        raise ExpressionError(
            "expression", "is nested too deeply", "compute parts of it with with_columns first"
        ) from None


def _compile(expr: Expr, schema: pa.Schema) -> Evaluator:
    typed = annotate(expr, schema)
    while isinstance(expr, Alias):
        expr = expr.of
    if isinstance(expr, Column):
        return ColumnEvaluator(schema.get_field_index(expr.column), typed.type)
    if isinstance(typed.expr, Literal):
        return ArrowEvaluator(typed, schema)
    if is_native(typed):
        region = compile_region(typed)
        if all(_is_column(leaf, schema) for leaf in region.leaves):
            return VectorEvaluator(typed, region, schema)
    if typed.expr.function == "str.split" and _is_column(typed.arguments[0], schema):
        index = schema.get_field_index(typed.arguments[0].expr.column)
        if pa.list_(schema.field(index).type) == typed.type:
            return SplitEvaluator(index, typed.expr.options[0], typed.type)
    return ArrowEvaluator(typed, schema)


def _is_column(leaf: Typed, schema: pa.Schema) -> bool:
    """Whether the leaf is a column of the batch as it is, and no dictionary."""
    return isinstance(leaf.expr, Column) and schema.field(leaf.expr.column).type == leaf.type


class _Selecting:
    """``select`` made of ``evaluate``."""

    type: pa.DataType

    def evaluate(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Evaluation:
        raise NotImplementedError

    def select(
        self,
        batch: pa.RecordBatch,
        start: int,
        stop: int,
        gate: Gate,
        indices: np.ndarray,
        views: Views | None = None,
    ) -> Selection:
        """See Evaluator."""
        status, cursor, values, error = self.evaluate(batch, start, stop, gate)
        if pa.types.is_null(values.type):
            return Selection(status, cursor, 0, error)
        if values.null_count:
            values = values.fill_null(False)
        found = np.flatnonzero(values.to_numpy(zero_copy_only=False))
        np.add(found, start, out=indices[: len(found)])
        return Selection(status, cursor, len(found), error)


class ColumnEvaluator(_Selecting):
    """A column as it is; its values are a slice of the batch, not a copy."""

    def __init__(self, index: int, of: pa.DataType):
        self.index, self.type = index, of

    def evaluate(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Evaluation:
        """See Evaluator."""
        cursor = gate.rows(start, stop)
        values = batch.column(self.index)
        if start or cursor < len(values):
            values = values.slice(start, cursor - start)
        return Evaluation(DONE if cursor == stop else STOPPED, cursor, values)


class VectorEvaluator(_Selecting):
    """Runs a program of the vector machine on the batch's columns."""

    def __init__(self, typed: Typed, region: Region, schema: pa.Schema):
        self.type, self.region, self.program = typed.type, region, region.program
        self.places = [schema.get_field_index(leaf.expr.column) for leaf in region.leaves]
        # the view of a whole batch costs as much as those of a few columns, but not of many
        self.whole = len(schema) <= 8 * (len(self.places) + 1)
        if self.whole:
            self.program.read_from(self.places)

    def views(self, batch: pa.RecordBatch) -> Views:
        """The columns that the program reads."""
        return Views(batch if self.whole else [batch.column(place) for place in self.places])

    def evaluate(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Evaluation:
        """See Evaluator."""
        status, cursor, values, validity, nulls, failed = self.program.run(
            self.views(batch), start, stop, gate, pa.allocate_buffer
        )
        made = pa.Array.from_buffers(self.type, cursor - start, [validity, values], nulls)
        error = self._error(batch, cursor, failed) if status == RAISED else None
        return Evaluation(status, cursor, made, error)

    def select(
        self,
        batch: pa.RecordBatch,
        start: int,
        stop: int,
        gate: Gate,
        indices: np.ndarray,
        views: Views | None = None,
    ) -> Selection:
        """See Evaluator."""
        if views is None or not self.whole:
            views = self.views(batch)
        status, cursor, count, failed = self.program.select(views, start, stop, gate, indices)
        error = self._error(batch, cursor, failed) if status == RAISED else None
        return Selection(status, cursor, count, error)

    def _error(self, batch: pa.RecordBatch, row: int, failed: int) -> ExpressionError:
        from ambergate.kernels.arrow_evaluator import misfit

        source = self.region.sources[failed]
        return misfit(source, {name: batch.column(name)[row] for name in source[0].expr.columns()})


class SplitEvaluator(_Selecting):
    """Cuts a string column at a separator."""

    def __init__(self, index: int, separator: str, of: pa.DataType):
        self.index, self.separator, self.type = index, separator, of

    def evaluate(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Evaluation:
        """See Evaluator."""
        strings = batch.column(self.index)
        return Evaluation(*split_rows(strings, self.separator, start, stop, gate))


class ArrowEvaluator(_Selecting):
    """Computes slices of SLICE_ROWS rows.

    Where a slice raises, its first failing row is found by bisection, so that the rows before it
    are kept.
    """

    def __init__(self, typed: Typed, schema: pa.Schema):
        from ambergate.kernels.arrow_evaluator import ArrowExpression

        self.typed, self.type = typed, typed.type
        self.compute = ArrowExpression(typed, schema).compute

    def evaluate(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Evaluation:
        """See Evaluator."""
        parts: list[pa.Array] = []
        row, error = start, None
        while row < stop and error is None:
            end = gate.rows(row, min(row + SLICE_ROWS, stop))
            if end == row:
                break
            values, row, error = self._slice(batch, row, end)
            parts.append(values)
        status = RAISED if error is not None else DONE if row == stop else STOPPED
        if len(parts) == 1:
            return Evaluation(status, row, parts[0], error)
        values = pa.concat_arrays(parts) if parts else pa.array([], self.type)
        return Evaluation(status, row, values, error)

    def _slice(
        self, batch: pa.RecordBatch, start: int, stop: int
    ) -> tuple[pa.Array, int, BaseException | None]:
        try:
            return self.compute(batch, start, stop), stop, None
        except Exception as error:
            failure = error
        # rows before `low` compute, some row before `high` raises
        low, high = start, stop
        values = pa.array([], self.type)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                values, low = self.compute(batch, start, middle), middle
            except Exception as error:
                high, failure = middle, error
        if isinstance(failure, pa.ArrowException):
            failure = ExpressionError(str(self.typed.expr), str(failure))
        return values, low, failure
