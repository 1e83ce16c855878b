"""Combine: rows of one batch with equal keys as one, before they are dealt to the tasks of GroupBy.

Each aggregate becomes one or two *partial* columns, which GroupBy adds up. Rows of different
batches are never combined, so there is no state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from ambergate.expr.aggregates import Aggregate
from ambergate.kernels.aggregation import accumulator
from ambergate.operators.base import DONE, STOPPED, Gate, Operator, Progress, Seat
from ambergate.operators.groups import (
    STRETCH_ROWS,
    Columns,
    Groups,
    Labelled,
    argument_columns,
    key_fields,
    needed,
    result_fields,
)

__all__ = ["Combine", "CombineExecutor", "Partial", "partials"]

SAMPLE_ROWS = 2_048  # rows at the begin of a stretch that tell whether combining it pays
WORTH = 0.7  # combine where the sample has at most so many groups a row
COUNTS = pa.int16()  # of a stretch; small, since it goes through channels
MOST_DIGITS = 33  # of decimals whose sum over a stretch surely has 38 digits


class Partial(NamedTuple):
    """One column of what is known of an aggregate."""

    name: str
    function: str
    argument: str | None
    of: pa.DataType | None  # type of the argument
    type: pa.DataType


def partials(
    schema: pa.Schema, keys: Sequence[str], aggregates: Sequence[Labelled]
) -> list[list[Partial]] | None:
    """The partial columns of each aggregate; None where one of them cannot be combined.

    A mean has two: sums, then counts.
    """
    columns = []
    for label, aggregate in aggregates:
        parts = _partials_of(label, aggregate, aggregate.input_type(schema))
        if parts is None:
            return None
        columns.append(parts)
    names = [*keys, *(part.name for parts in columns for part in parts)]
    return columns if len(set(names)) == len(names) else None


def _partials_of(label: str, aggregate: Aggregate, of: pa.DataType | None) -> list[Partial] | None:
    function, argument = aggregate.function, aggregate.argument
    if function == "count":
        return [Partial(label, "count", argument, of, COUNTS)]
    assert of is not None
    if function in ("min", "max"):
        return [Partial(label, function, argument, of, of)]
    if function not in ("sum", "mean"):
        return None
    total = _sum_type(of)
    if total is None:
        return None
    if function == "sum":
        return [Partial(label, "sum", argument, of, total)]
    counts = Partial(f"{label}.count", "count", argument, of, COUNTS)
    return [Partial(f"{label}.sum", "sum", argument, of, total), counts]


def _sum_type(of: pa.DataType) -> pa.DataType | None:
    """A type that holds the sum of a stretch of values; None where there is none."""
    if pa.types.is_floating(of):
        return pa.float64()
    if pa.types.is_boolean(of) or (pa.types.is_integer(of) and of.bit_width < 64):
        return pa.int64()
    if pa.types.is_integer(of):
        return pa.decimal128(38, 0)
    if pa.types.is_decimal128(of) and of.precision <= MOST_DIGITS:
        return pa.decimal128(38, of.scale)
    return None


@dataclass(frozen=True, slots=True)
class Combine(Operator):
    """The keys, and the partial columns of the aggregates, over rows of one batch.

    A batch that has hardly two rows of one key goes on row by row.
    """

    kind: ClassVar[str] = "combine"
    keeps_order: ClassVar[bool] = False

    keys: tuple[str, ...]
    aggregates: tuple[Labelled, ...]

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The keys, then the partial columns."""
        keys = key_fields(name, inputs[0], self.keys)
        result_fields(name, inputs[0], self.keys, self.aggregates)
        return pa.schema(
            [*keys, *(pa.field(part.name, part.type) for part in self.columns(inputs[0]))]
        )

    def columns(self, schema: pa.Schema) -> list[Partial]:
        """All partial columns over ``schema``."""
        made = partials(schema, self.keys, self.aggregates)
        if made is None:
            raise ValueError(f"aggregates cannot be combined: {dict(self.aggregates)}")
        return [part for parts in made for part in parts]

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The keys and the columns of the aggregates."""
        return needed(inputs[0], frozenset(self.keys) | argument_columns(self.aggregates))

    def open(self, seat: Seat, *inputs: pa.Schema) -> CombineExecutor:
        """The runtime half for one task."""
        return CombineExecutor(self, seat.operator, inputs[0])


class CombineExecutor:
    """Combines stretches of a batch; keeps nothing from one call to the next."""

    def __init__(self, operator: Combine, name: str, schema: pa.Schema):
        self._parts = operator.columns(schema)
        keys = key_fields(name, schema, operator.keys)
        results = [pa.field(part.name, part.type) for part in self._parts]
        made = [
            accumulator(part.function, part.of, str(part.argument), part.type)
            for part in self._parts
        ]
        self._groups = Groups(keys, results, made)
        self._keys = Columns(schema, operator.keys)
        self._values = Columns(schema, [part.argument for part in self._parts])
        self._ones = pa.array(np.ones(STRETCH_ROWS, np.int16))
        self._open = Gate()
        self._open.reset()

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Combine the rows that the gate lets through."""
        keys, values = self._keys.of(batch), self._values.of(batch)
        outputs, cursor = [], start
        while cursor < stop:
            first = cursor
            cursor = gate.rows(first, min(first + STRETCH_ROWS, stop))
            if cursor == first:
                return Progress(STOPPED, cursor, outputs)
            outputs.append(self._combined(keys, values, first, cursor))
        return Progress(DONE, cursor, outputs)

    def _combined(
        self, keys: list[pa.Array], values: list[Any], start: int, stop: int
    ) -> pa.RecordBatch:
        groups = self._groups
        groups.clear()
        if groups.grouper is not None:
            sample = min(start + SAMPLE_ROWS, stop)
            groups.assign(keys, start, sample, self._open)
            if groups.count > WORTH * (sample - start):
                return self._row_by_row(keys, values, start, stop)
            groups.clear()
        groups.update(keys, [(array, None) for array in values], start, stop, self._open)
        return groups.batch(0, groups.count)

    def _row_by_row(
        self, keys: list[pa.Array], values: list[Any], start: int, stop: int
    ) -> pa.RecordBatch:
        rows = stop - start
        arrays = [key.slice(start, rows) for key in keys]
        for part, value in zip(self._parts, values, strict=True):
            array: Any = None if value is None else value.slice(start, rows)
            if part.function != "count":
                arrays.append(array if part.type == array.type else array.cast(part.type))
            elif array is None or array.null_count == 0:
                arrays.append(self._ones.slice(0, rows))
            else:
                arrays.append(array.is_valid().cast(COUNTS))
        return pa.RecordBatch.from_arrays(arrays, schema=self._groups.schema)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """Nothing is kept, so nothing is due."""
        return iter(())

    def snapshot(self) -> Any:
        """No state."""
        return None

    def restore(self, state: Any) -> None:
        """No state."""

    def describe(self) -> dict[str, pa.Table]:
        """No state."""
        return {}
