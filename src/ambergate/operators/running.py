"""Running: after each row, the aggregates of its key so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.errors import OverflowOfSum, PlanError
from ambergate.graph.exchange import GATHER, Exchange, hashed
from ambergate.kernels.aggregation import Plain, accumulator, steps
from ambergate.operators.base import DONE, RAISED, STOPPED, Gate, Operator, Progress, Seat
from ambergate.operators.groups import (
    Columns,
    Groups,
    Labelled,
    argument_columns,
    key_fields,
    result_fields,
)

__all__ = ["Running", "RunningExecutor"]


@dataclass(frozen=True, slots=True)
class Running(Operator):
    """One row for each input row: its columns, and the aggregates of its key up to this row.

    A row whose sum does not fit the sum's type raises, and leaves nothing behind. Lists, counts of
    distinct values, and first and last values of nested types have no running form.

    Examples
    --------
    >>> from ambergate.expr.aggregates import Aggregate
    >>> Running(("k",), (("n", Aggregate("count")),)).output_schema("running",
    ...     pa.schema({"k": "string", "v": "int32"}))
    k: string
    v: int32
    n: int64
    """

    kind: ClassVar[str] = "running"
    order_sensitive: ClassVar[bool] = True

    keys: tuple[str, ...]
    aggregates: tuple[Labelled, ...]

    @property
    def single(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Without keys all rows are one group."""
        return not self.keys

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The input's columns, then a column for each aggregate."""
        schema = inputs[0]
        key_fields(name, schema, self.keys)
        results = result_fields(name, schema, schema.names, self.aggregates)
        for label, each in self.aggregates:
            if not steps(each.function, each.input_type(schema)):
                raise PlanError(
                    name,
                    f"{label}={each} over {each.input_type(schema)} has no running form",
                    "use agg() for it",
                )
        return pa.schema([*schema, *results])

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """Equal keys to the same task."""
        return hashed(*self.keys) if self.keys else GATHER

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The keys, the columns of the aggregates, and what is wanted of the others."""
        read = frozenset(self.keys) | argument_columns(self.aggregates)
        return read | (wanted & frozenset(inputs[0].names))

    def open(self, seat: Seat, *inputs: pa.Schema) -> RunningExecutor:
        """The runtime half for one task."""
        return RunningExecutor(self, seat.operator, inputs[0])


class RunningExecutor:
    """Keeps a record for each group and aggregate, and tells them after each row."""

    def __init__(self, operator: Running, name: str, schema: pa.Schema):
        self._schema = operator.output_schema(name, schema)
        keys = key_fields(name, schema, operator.keys)
        results = list(self._schema)[len(schema) :]
        made: list[Any] = [
            accumulator(each.function, each.input_type(schema), str(each.argument))
            for _, each in operator.aggregates
        ]
        self._groups = Groups(keys, results, made)
        self._keys = Columns(schema, operator.keys)
        self._values = Columns(schema, [each.argument for _, each in operator.aggregates])
        # exact sums first: where one of them stops, the others of its kind can go back
        exact = [isinstance(each, Plain) and each.is_exact for each in made]
        self._order = sorted(range(len(made)), key=lambda index: not exact[index])

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Take rows into their groups, and emit each with the values after it."""
        keys, values = self._keys.of(batch), self._values.of(batch)
        columns, outputs, cursor = batch.columns, [], start
        while cursor < stop:
            first = cursor
            before = self._groups.count
            ids, done = self._groups.assign(keys, first, stop, gate)
            if done == first:
                return Progress(STOPPED, cursor, outputs)
            results, cursor, error = self._step(ids, values, first, done)
            if cursor > first:
                whole = cursor - first == batch.num_rows
                rows = columns if whole else [each.slice(first, cursor - first) for each in columns]
                outputs.append(pa.RecordBatch.from_arrays([*rows, *results], schema=self._schema))
            if error is not None:
                self._forget(ids, before, cursor - first)
                return Progress(RAISED, cursor, outputs, error)
        return Progress(DONE, cursor, outputs)

    def _step(
        self, ids: Any, values: list[Any], start: int, stop: int
    ) -> tuple[list[pa.Array], int, OverflowOfSum | None]:
        """The values of each aggregate after each row, up to a row whose sum does not fit."""
        made = self._groups.accumulators
        results: list[Any] = [None] * len(made)
        cursor, error = stop, None
        for place, index in enumerate(self._order):
            each: Any = made[index]
            results[index], end = each.step(ids, values[index], start, cursor)
            if end < cursor:
                for other in self._order[:place]:
                    after = None if ids is None else ids[end - start :]
                    made[other].undo(after, values[other], end, cursor)
                    results[other] = results[other].slice(0, end - start)
                cursor, error = end, each.overflow()
        return results, cursor, error

    def _forget(self, ids: Any, before: int, rows: int) -> None:
        """Drop the groups that came with rows from number ``rows`` on."""
        if ids is not None:
            count = max(before, int(ids[:rows].max(initial=-1)) + 1)
            self._groups.truncate(count)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """All was emitted at once."""
        return iter(())

    def snapshot(self) -> Any:
        """Keys and values."""
        return self._groups.export()

    def restore(self, state: Any) -> None:
        """Take the state that ``snapshot`` gave."""
        self._groups.clear()
        self._groups.load(state)

    def describe(self) -> dict[str, pa.Table]:
        """``groups``: keys and values after the last row of each."""
        return {"groups": self._groups.table()}
