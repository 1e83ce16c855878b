"""Expressions that the vector machine cannot compute alone, slice by slice.

Strings, decimals, parts of dates and lists are computed by pyarrow.compute; what the machine can
compute within them stays with it, so that an operation means the same wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from ambergate.errors import ExpressionError, OverflowOfExpression
from ambergate.expr.nodes import Call, Column, Literal
from ambergate.expr.types import Typed
from ambergate.kernels.arrow_functions import FUNCTIONS, Values, convert, spread
from ambergate.kernels.constants import scalar
from ambergate.kernels.program import Views, compile_region
from ambergate.kernels.vector import is_native, may_fail
from ambergate_native.gate import RAISED, Gate

__all__ = ["ArrowExpression", "misfit"]


class Rows:
    """Some rows of a batch; columns are cut or gathered when they are asked for."""

    def __init__(self, batch: pa.RecordBatch, start: int, count: int):
        self.batch, self.start, self.count = batch, start, count
        self.chosen: pa.Array | None = None

    def column(self, index: int) -> pa.Array:
        """The values of one column."""
        values = self.batch.column(index)
        if self.chosen is not None:
            return values.take(self.chosen)
        return values.slice(self.start, self.count)

    def take(self, places: np.ndarray) -> Rows:
        """The rows at ``places`` of these."""
        rows = Rows(self.batch, 0, len(places))
        before = np.arange(self.start, self.start + self.count)
        if self.chosen is not None:
            before = self.chosen.to_numpy()
        rows.chosen = pa.array(before[places])
        return rows


Compute = Callable[[Rows], Values]


class ArrowExpression:
    """``compute(batch, start, stop)`` gives the values of a slice, or raises.

    Parameters
    ----------
    typed : the expression
    schema : of the batches
    """

    def __init__(self, typed: Typed, schema: pa.Schema):
        self.typed, self.schema = typed, schema
        self.gate = Gate()
        self.gate.reset()
        self.root = self._compile(typed)

    def compute(self, batch: pa.RecordBatch, start: int, stop: int) -> pa.Array:
        """The values of rows ``start`` to ``stop``."""
        values = convert(self.root(Rows(batch, start, stop - start)), self.typed.type)
        return spread(values, stop - start)

    def _compile(self, typed: Typed) -> Compute:
        expr = typed.expr
        if isinstance(expr, Column):
            return self._column(self.schema.get_field_index(expr.column))
        if isinstance(expr, Literal):
            constant = scalar(expr.value, typed.type)
            return lambda rows: constant
        if is_native(typed):
            return self._region(typed)
        if expr.function == "when" and any(map(may_fail, typed.arguments)):
            return self._when(typed)
        arguments = self._arguments(typed)
        if expr.function == "fill_null" and may_fail(typed.arguments[1]):
            return self._fill_null(*arguments)
        function = FUNCTIONS[expr.function]
        return lambda rows: function(typed, *(argument(rows) for argument in arguments))

    def _arguments(self, typed: Typed) -> list[Compute]:
        pairs = zip(typed.arguments, typed.wants, strict=True)
        return [self._argument(argument, wanted) for argument, wanted in pairs]

    def _argument(self, argument: Typed, wanted: pa.DataType | None) -> Compute:
        if argument.loose:
            constant = scalar(argument.value, wanted or argument.type)
            return lambda rows: constant
        compute = self._compile(argument)
        if wanted is None or wanted.equals(argument.type):
            return compute
        return lambda rows: convert(compute(rows), wanted)

    def _column(self, index: int) -> Compute:
        if pa.types.is_dictionary(self.schema.field(index).type):
            return lambda rows: rows.column(index).dictionary_decode()
        return lambda rows: rows.column(index)

    def _region(self, typed: Typed) -> Compute:
        region = compile_region(typed)
        leaves = [self._compile(leaf) for leaf in region.leaves]
        of, gate, run = typed.type, self.gate, region.program.run

        def compute(rows: Rows) -> pa.Array:
            count = rows.count
            columns = Views([spread(leaf(rows), count) for leaf in leaves])
            status, cursor, values, validity, nulls, failed = run(
                columns, 0, count, gate, pa.allocate_buffer
            )
            if status == RAISED:
                source = region.sources[failed]
                row = {
                    name: rows.column(self.schema.get_field_index(name))[cursor]
                    for name in source[0].expr.columns()
                }
                raise misfit(source, row)
            return pa.Array.from_buffers(of, count, [validity, values], nulls)

        return compute

    def _when(self, typed: Typed) -> Compute:
        """Each value is computed for those rows alone that have it."""
        *pairs, other = self._arguments(typed)

        def compute(rows: Rows) -> pa.Array:
            left = np.arange(rows.count)
            chosen, parts = [], []
            for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
                part = rows.take(left)
                true = spread(condition(part), len(left)).fill_null(False)
                mask = true.to_numpy(zero_copy_only=False)
                chosen.append(left[mask])
                parts.append(spread(value(part.take(np.flatnonzero(mask))), len(chosen[-1])))
                left = left[~mask]
            chosen.append(left)
            parts.append(spread(other(rows.take(left)), len(left)))
            places = np.empty(rows.count, np.int64)
            places[np.concatenate(chosen)] = np.arange(rows.count)
            return pa.concat_arrays(parts).take(pa.array(places))

        return compute

    def _fill_null(self, first: Compute, second: Compute) -> Compute:
        def compute(rows: Rows) -> pa.Array:
            values = spread(first(rows), rows.count)
            null = values.is_null().to_numpy(zero_copy_only=False)
            missing = np.flatnonzero(null)
            places = np.arange(rows.count)
            places[missing] = rows.count + np.arange(len(missing))
            fill = spread(second(rows.take(missing)), len(missing))
            return pa.concat_arrays([values, fill]).take(pa.array(places))

        return compute


def misfit(source: tuple[Typed, pa.DataType], row: dict[str, pa.Scalar]) -> ExpressionError:
    """The error of a row where the first of ``source`` does not fit the second.

    ``row`` are the values of the columns it reads.
    """
    typed, of = source
    listed = ", ".join(f"{name} = {row[name].as_py()!r}" for name in sorted(row))
    problem = f"the value does not fit {of}"
    cast = isinstance(typed.expr, Call) and typed.expr.function == "cast"
    return OverflowOfExpression(
        str(typed.expr),
        f"{problem} where {listed}" if listed else problem,
        "" if cast else "cast to float64 or a decimal first",
    )
