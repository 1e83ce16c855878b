"""What operators over keys share: key columns, aggregates of columns, and the groups of a task."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate.errors import ExpressionError, OverflowOfSum, PlanError
from ambergate.expr.aggregates import Aggregate
from ambergate.kernels.aggregation import Accumulator, Plain, Tally
from ambergate.kernels.grouping import Grouper, can_be_key
from ambergate.operators.base import OUTPUT_ROWS, Gate

__all__ = ["STRETCH_ROWS", "Columns", "Groups", "Labelled", "key_fields", "result_fields"]

STRETCH_ROWS = 16_384  # rows that are grouped, then aggregated, before the gate is looked at again

Labelled = tuple[str, Aggregate]
Values = tuple[pa.Array | None, pa.Array | None]


def values_type(type_: pa.DataType) -> pa.DataType:
    """The type of the values of a dictionary, or the type itself."""
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def key_fields(name: str, schema: pa.Schema, keys: Sequence[str]) -> list[pa.Field]:
    """The fields of the key columns, dictionaries as their values.

    Raises
    ------
    PlanError
        A column is not there, is named twice, or its values cannot be keys.
    """
    fields: list[pa.Field] = []
    for key in keys:
        found = schema.get_all_field_indices(key)
        if len(found) != 1:
            near = get_close_matches(key, schema.names, 1)
            listed = f"did you mean {near[0]!r}?" if near else f"the columns are {schema.names}"
            many = f"{len(found)} columns are named {key!r}"
            raise PlanError(
                name,
                many if found else f"there is no column {key!r} to group by",
                "give them different names with select(...)" if found else listed,
            )
        field = schema.field(found[0])
        of = values_type(field.type)
        if not can_be_key(of):
            raise PlanError(
                name,
                f"column {key!r} of type {field.type} cannot be a key",
                "keys are numbers, booleans, strings, binaries, dates and times; cast it first",
            )
        if key in [other.name for other in fields]:
            raise PlanError(name, f"column {key!r} is given twice", "name each key once")
        fields.append(pa.field(key, of, field.nullable))
    return fields


def result_fields(
    name: str, schema: pa.Schema, taken: Sequence[str], aggregates: Sequence[Labelled]
) -> list[pa.Field]:
    """The fields of the results of ``aggregates`` over ``schema``.

    Raises
    ------
    PlanError
        A column is not there or does not fit, or a label is one of ``taken`` or comes twice.
    """
    fields: list[pa.Field] = []
    for label, aggregate in aggregates:
        if label in taken or label in [field.name for field in fields]:
            raise PlanError(name, f"two output columns are named {label!r}", "rename one of them")
        if not isinstance(aggregate.argument, str | None):
            raise PlanError(
                name, f"{label!r} is {aggregate} of an expression", "compute it in a column before"
            )
        try:
            fields.append(pa.field(label, aggregate.output_type(schema)))
        except ExpressionError as error:
            raise PlanError(name, f"{label}={aggregate}: {error.problem}", error.remedy) from None
    return fields


def argument_columns(aggregates: Sequence[Labelled]) -> frozenset[str]:
    """The columns that ``aggregates`` read."""
    return frozenset(each.argument for _, each in aggregates if each.argument is not None)


def needed(schema: pa.Schema, columns: frozenset[str]) -> frozenset[str]:
    """``columns``, or one that is cheap to read where none is needed: rows must be counted."""
    if columns:
        return columns
    fixed = [field.name for field in schema if not pa.types.is_nested(field.type)]
    return frozenset((fixed or schema.names)[:1])


class Columns:
    """Columns of a batch by their place, dictionaries as their values."""

    __slots__ = ("_decodes", "_wanted")

    def __init__(self, schema: pa.Schema, names: Sequence[str | None]):
        self._wanted = [
            (index, index >= 0 and pa.types.is_dictionary(schema.field(index).type))
            for index in (-1 if name is None else schema.get_field_index(name) for name in names)
        ]
        self._decodes = any(decode for _, decode in self._wanted)

    def of(self, batch: pa.RecordBatch) -> list[Any]:
        """The arrays; None for a name that was None."""
        column = batch.column
        if not self._decodes:
            return [None if index < 0 else column(index) for index, _ in self._wanted]
        return [
            None if index < 0 else column(index).dictionary_decode() if decode else column(index)
            for index, decode in self._wanted
        ]


class Groups:
    """The groups of one task, and the values of their aggregates.

    Parameters
    ----------
    keys : key fields; without any, all rows are one group that is there from the begin
    results : result fields
    accumulators : one for each result
    """

    def __init__(
        self,
        keys: Sequence[pa.Field],
        results: Sequence[pa.Field],
        accumulators: Sequence[Accumulator],
    ):
        self.schema = pa.schema([*keys, *results])
        self.accumulators = list(accumulators)
        self.grouper = Grouper([field.type for field in keys]) if keys else None
        # fixed records are updated together; rows that are kept, by themselves
        self._plain = [index for index, each in enumerate(accumulators) if isinstance(each, Plain)]
        self._others = [index for index in range(len(accumulators)) if index not in self._plain]
        records = [each.records for each in accumulators if isinstance(each, Plain)]
        self._tally = Tally(self.grouper, records)
        self.ids = np.empty(STRETCH_ROWS, np.int64)
        self.clear()

    def clear(self) -> None:
        """Forget all groups."""
        if self.grouper is not None:
            self.grouper.clear()
        for each in self.accumulators:
            each.clear()
            each.reserve(self.count)

    def truncate(self, count: int) -> None:
        """Forget the groups from ``count`` on, as if they had not come; not of kept rows."""
        if self.grouper is not None:
            self.grouper.truncate(count)
        for each in self.accumulators:
            each.truncate(count)  # type: ignore[attr-defined]

    @property
    def count(self) -> int:
        """Groups so far."""
        return 1 if self.grouper is None else self.grouper.count

    def assign(
        self, keys: list[pa.Array], start: int, stop: int, gate: Gate
    ) -> tuple[npt.NDArray[np.int64] | None, int]:
        """Find the groups of rows ``start:stop``, at most STRETCH_ROWS: ids (None: all 0), cursor.

        There is a value of each aggregate for each of them then.
        """
        stop = min(stop, start + STRETCH_ROWS)
        if self.grouper is None:
            return None, gate.rows(start, stop)
        before = self.grouper.count
        _, cursor = self.grouper.assign(keys, start, stop, gate, self.ids)
        count = self.grouper.count
        if count > before:
            for each in self.accumulators:
                each.reserve(count)
        return self.ids, cursor

    def update(
        self, keys: list[pa.Array], values: list[Values], start: int, stop: int, gate: Gate
    ) -> int:
        """Take rows ``start:stop`` into their groups; returns the first that was not started.

        ``values`` has, for each result, an array (None where rows are counted) and the counts of
        values it was made of (None where it was not aggregated before).
        """
        plain = [values[index] for index in self._plain]
        while start < stop:
            end = min(stop, start + STRETCH_ROWS)
            _, cursor = self._tally.update(keys, plain, start, end, gate, self.ids)
            for index in self._others if cursor > start else ():
                each = self.accumulators[index]
                each.reserve(self.count)
                ids = None if self.grouper is None else self.ids
                each.update(ids, values[index][0], start, cursor)
            start = cursor
            if cursor < end:
                break
        return start

    def batch(self, first: int, last: int, strict: bool = True) -> pa.RecordBatch:
        """Keys and results of groups ``first:last``; a sum too large is an error, or null."""
        arrays = [] if self.grouper is None else self.grouper.keys(first, last)
        arrays += [each.values(first, last, strict) for each in self.accumulators]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def next_batch(self, first: int, strict: bool = True) -> pa.RecordBatch:
        """As ``batch``, from ``first`` on: as many groups as one emitted batch may have."""
        last = min(first + OUTPUT_ROWS, self.count)
        while True:
            try:
                return self.batch(first, last, strict)
            except OverflowError as error:  # texts of more than 2 GiB together
                if isinstance(error, OverflowOfSum) or last - first == 1:
                    raise
                last = first + (last - first) // 2

    def check(self) -> None:
        """Raise OverflowOfSum where a result does not fit its type."""
        for each in self.accumulators:
            each.check()

    def table(self) -> pa.Table:
        """All groups; sums that do not fit are null."""
        batches, first = [], 0
        while first < self.count:
            batches.append(self.next_batch(first, strict=False))
            first += batches[-1].num_rows
        return pa.Table.from_batches(batches, schema=self.schema)

    def export(self) -> dict[str, Any]:
        """Keys and values, independent of later rows."""
        return {
            "keys": [] if self.grouper is None else self.grouper.export(),
            "values": [each.export() for each in self.accumulators],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take what ``export`` gave."""
        if self.grouper is not None:
            self.grouper.load(state["keys"])
        for each, values in zip(self.accumulators, state["values"], strict=True):
            each.load(values)
            each.reserve(self.count)
