"""From an expression and a schema to something that computes it, row range by row range."""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from ambergate.channels.gate import DONE, RAISED, STOPPED, Gate
from ambergate.errors import ExpressionError
from ambergate.expr.nodes import Alias, Column, Expr, Literal
from ambergate.expr.types import Typed, annotate

__all__ = [
    "ArrowEvaluator",
    "ColumnEvaluator",
    "Evaluation",
    "Evaluator",
    "Selection",
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
    count: int
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
        self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate, indices: np.ndarray
    ) -> Selection:
        """Write the numbers of the rows that are true to ``indices``, from 0 on.

        ``indices`` is int64 of at least ``stop - start`` rows; null and false are not selected.
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
    typed = annotate(expr, schema)
    while isinstance(expr, Alias):
        expr = expr.of
    if isinstance(expr, Column):
        return ColumnEvaluator(schema.get_field_index(expr.column), typed.type)
    return ArrowEvaluator(typed, schema)


class _Selecting:
    """``select`` made of ``evaluate``."""

    type: pa.DataType

    def evaluate(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Evaluation:
        raise NotImplementedError

    def select(
        self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate, indices: np.ndarray
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


class ArrowEvaluator(_Selecting):
    """Calls pyarrow.compute on slices of SLICE_ROWS rows.

    Where a slice raises, its first failing row is found by bisection, so that the rows before it
    are kept.
    """

    def __init__(self, typed: Typed, schema: pa.Schema):
        self.typed, self.type = typed, typed.type
        self.indices = {name: index for index, name in enumerate(schema.names)}

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
            return self._compute(batch, start, stop), stop, None
        except Exception as error:
            # rows before `low` compute, some row before `high` raises
            low, high, failure = start, stop, error
        values = pa.array([], self.type)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                values, low = self._compute(batch, start, middle), middle
            except Exception as error:
                high, failure = middle, error
        if isinstance(failure, pa.ArrowException):
            failure = ExpressionError(str(self.typed.expr), str(failure))
        return values, low, failure

    def _compute(self, batch: pa.RecordBatch, start: int, stop: int) -> pa.Array:
        from ambergate.kernels.arrow_functions import convert, spread

        columns = {
            name: batch.column(index).slice(start, stop - start)
            for name, index in self.indices.items()
        }
        return spread(convert(self._value(self.typed, columns), self.type), stop - start)

    def _value(self, typed: Typed, columns: dict[str, pa.Array]) -> pa.Array | pa.Scalar:
        from ambergate.kernels.arrow_functions import FUNCTIONS, convert

        expr = typed.expr
        if isinstance(expr, Column):
            values = columns[expr.column]
            return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        if isinstance(expr, Literal):
            return scalar(expr.value, typed.type)
        arguments = []
        for argument, wanted in zip(typed.arguments, typed.wants, strict=True):
            if argument.loose:
                values = scalar(argument.value, wanted or argument.type)
            else:
                values = self._value(argument, columns)
                values = values if wanted is None else convert(values, wanted)
            arguments.append(values)
        return FUNCTIONS[expr.function](typed, *arguments)


def scalar(value: Any, of: pa.DataType) -> pa.Scalar:
    """A constant as an Arrow scalar."""
    if isinstance(value, tuple):
        return pa.scalar(list(value), of)
    if pa.types.is_floating(of) and value is not None:
        return pa.scalar(float(value), of)
    if pa.types.is_timestamp(of) and isinstance(value, dt.date):
        return pa.scalar(value).cast(of)
    return pa.scalar(value, of)
