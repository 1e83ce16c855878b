"""GroupBy: one row for each key, when the input ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.graph.exchange import GATHER, Exchange, hashed
from ambergate.graph.logical import Node
from ambergate.kernels.aggregation import accumulator
from ambergate.operators.base import DONE, STOPPED, Gate, Operator, Progress, Seat
from ambergate.operators.combine import Combine, partials
from ambergate.operators.groups import (
    Columns,
    Groups,
    Labelled,
    argument_columns,
    key_fields,
    needed,
    result_fields,
)

__all__ = ["GroupBy", "GroupByExecutor"]

ORDER_SENSITIVE = frozenset({"first", "last", "collect_list"})


@dataclass(frozen=True, slots=True)
class GroupBy(Operator):
    """One row for each key: the keys, then the aggregates, in the order in which keys first came.

    Null is a key, NaN equals NaN, -0.0 equals 0.0. Without keys there is one row, also over no
    rows, and one task. A sum that does not fit its type is an error when the input ends, whatever
    the order of rows; nothing is emitted then.

    Parameters
    ----------
    keys : columns to group by
    aggregates : label and aggregate, over plain columns
    before : the schema of the rows, where the input has been combined: its columns are those of
        ``Combine`` over such rows

    Examples
    --------
    >>> from ambergate.expr.aggregates import Aggregate
    >>> aggregates = ("n", Aggregate("count")), ("total", Aggregate("sum", "v"))
    >>> GroupBy(("k",), aggregates).output_schema("g", pa.schema({"k": "string", "v": "int32"}))
    k: string
    n: int64
    total: int64
    """

    kind: ClassVar[str] = "group_by"
    keeps_order: ClassVar[bool] = False
    blocking: ClassVar[bool] = True
    shares: ClassVar[bool] = False  # what it emits never points into its input

    keys: tuple[str, ...]
    aggregates: tuple[Labelled, ...]
    before: pa.Schema | None = None

    @property
    def single(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Without keys all rows are one group."""
        return not self.keys

    @property
    def order_sensitive(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether an aggregate depends on the order of rows."""
        return any(each.function in ORDER_SENSITIVE for _, each in self.aggregates)

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The keys, then a column for each aggregate."""
        schema = self.before or inputs[0]
        keys = key_fields(name, schema, self.keys)
        return pa.schema([*keys, *result_fields(name, schema, self.keys, self.aggregates)])

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """Equal keys to the same task."""
        return hashed(*self.keys) if self.keys else GATHER

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The keys and the columns of the aggregates."""
        if self.before is not None:
            return frozenset(inputs[0].names)
        return needed(inputs[0], frozenset(self.keys) | argument_columns(self.aggregates))

    def expand(self, node: Node) -> Node:
        """``node``, where it is likely to pay after one that combines rows where they are.

        With integer keys, combining costs what dealing the rows to their tasks does, and pays only
        if there are few keys, which nobody knows yet. Texts cost more to deal, and other types
        have few values as a rule.
        """
        schema = node.inputs[0].schema
        if any(pa.types.is_integer(schema.field(key).type) for key in self.keys):
            return node
        return self.combined(node)

    def combined(self, node: Node) -> Node:
        """``node`` after one that combines rows where they are; as it is where that cannot be."""
        schema = node.inputs[0].schema
        if self.before is not None or partials(schema, self.keys, self.aggregates) is None:
            return node
        combine = Combine(self.keys, self.aggregates)
        combined = Node(
            role=node.role,
            kind=f"{node.kind}.combine",
            description=combine,
            inputs=node.inputs,
            schema=combine.output_schema(node.title, schema),
            stem=f"{node.name or node.kind}.combine",
        )
        return replace(node, description=replace(self, before=schema), inputs=(combined,))

    def open(self, seat: Seat, *inputs: pa.Schema) -> GroupByExecutor:
        """The runtime half for one task."""
        return GroupByExecutor(self, seat.operator, inputs[0])


def merged_columns(operator: GroupBy) -> tuple[list[str | None], list[str | None]]:
    """Of combined rows, the columns of the values and of the counts of each aggregate."""
    assert operator.before is not None
    values: list[str | None] = []
    counts: list[str | None] = []
    for parts in partials(operator.before, operator.keys, operator.aggregates) or []:
        counted = parts[-1].name if parts[-1].function == "count" else None
        counts.append(counted)
        values.append(None if parts[0].function == "count" else parts[0].name)
    return values, counts


class GroupByExecutor:
    """Keeps a record for each group and aggregate; emits them all at the end."""

    def __init__(self, operator: GroupBy, name: str, schema: pa.Schema):
        before = operator.before or schema
        keys = key_fields(name, before, operator.keys)
        results = result_fields(name, before, operator.keys, operator.aggregates)
        made = [
            accumulator(each.function, each.input_type(before), str(each.argument))
            for _, each in operator.aggregates
        ]
        self._groups = Groups(keys, results, made)
        self._keys = Columns(schema, operator.keys)
        self._emitted = 0
        self._counts = None  # of combined rows: the columns that tell of how many each is made
        names: list[str | None] = [each.argument for _, each in operator.aggregates]
        if operator.before is not None:
            names, counts = merged_columns(operator)
            self._counts = Columns(schema, counts)
        self._values = Columns(schema, names)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Take rows into their groups."""
        values = self._values.of(batch)
        counts = repeat(None) if self._counts is None else self._counts.of(batch)
        pairs = list(zip(values, counts, strict=False))
        cursor = self._groups.update(self._keys.of(batch), pairs, start, stop, gate)
        return Progress(DONE if cursor == stop else STOPPED, cursor)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """All groups."""
        self._groups.check()
        while self._emitted < self._groups.count:
            batch = self._groups.next_batch(self._emitted)
            self._emitted += batch.num_rows
            yield batch

    def snapshot(self) -> Any:
        """Keys, values, and how many groups were emitted."""
        return {**self._groups.export(), "emitted": self._emitted}

    def restore(self, state: Any) -> None:
        """Take the state that ``snapshot`` gave."""
        self._groups.clear()
        self._groups.load(state)
        self._emitted = state["emitted"]

    def describe(self) -> dict[str, pa.Table]:
        """``groups``: keys and values so far; a sum that does not fit its type is null."""
        return {"groups": self._groups.table()}
