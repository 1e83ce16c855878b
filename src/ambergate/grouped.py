"""Streams with keys, and aggregates over them."""

from __future__ import annotations

from collections.abc import Mapping

from ambergate.errors import PlanError
from ambergate.expr.aggregates import Aggregate
from ambergate.expr.nodes import Column, Expr
from ambergate.operators.group_by import GroupBy
from ambergate.operators.running import Running
from ambergate.stream import Stream


class Grouped:
    """A stream with keys: ``agg`` for one row per key, ``running`` for one row per input row."""

    def __init__(self, stream: Stream, keys: tuple[str | Expr, ...]):
        self.computed = {each.name: each for each in keys if not isinstance(each, str | Column)}
        self.stream = stream
        self.keys = tuple(each if isinstance(each, str) else each.name for each in keys)

    def agg(
        self, *, name: str | None = None, parallelism: int | None = None, **aggregates: Aggregate
    ) -> Stream:
        """One row per key when the input ends: the keys, then the aggregates."""
        before, plain = plain_aggregates(self.stream, name or "group_by", aggregates, self.computed)
        return before.then(GroupBy(self.keys, plain), name, parallelism)

    def running(
        self, *, name: str | None = None, parallelism: int | None = None, **aggregates: Aggregate
    ) -> Stream:
        """One row per input row: its columns, and the aggregates of its key so far."""
        for label, aggregate in aggregates.items():
            if isinstance(getattr(aggregate, "argument", None), Expr) and not isinstance(
                aggregate.argument, Column
            ):
                raise PlanError(
                    name or "running",
                    f"{label!r} aggregates an expression",
                    "compute it before, with with_columns()",
                )
        taken = set(self.computed) & set(self.stream.schema.names)
        if taken:
            raise PlanError(
                name or "running",
                f"the computed key {taken.pop()!r} has the name of a column",
                'give it another with .alias("name")',
            )
        before, plain = plain_aggregates(self.stream, name or "running", aggregates, self.computed)
        return before.then(Running(self.keys, plain), name, parallelism)


def plain_aggregates(
    stream: Stream,
    operator: str,
    aggregates: Mapping[str, Aggregate],
    keys: Mapping[str, Expr] | None = None,
) -> tuple[Stream, tuple[tuple[str, Aggregate], ...]]:
    """Aggregates over plain columns, and the stream that has those columns and computed ``keys``.

    Aggregates are over the columns of ``stream``, also where a key has taken the name of one.
    """
    if not aggregates:
        raise PlanError(operator, "needs at least one aggregate", "write n=ag.count()")
    computed: dict[str, Expr] = dict(keys or {})
    plain = []
    for label, aggregate in aggregates.items():
        if not isinstance(aggregate, Aggregate):
            raise PlanError(
                operator,
                f"{label!r} is not an aggregate but {type(aggregate).__name__}",
                "write ag.sum('column') or col('column').sum()",
            )
        argument = aggregate.argument
        if isinstance(argument, Column):
            argument = argument.column
        if isinstance(argument, str) and argument in computed and argument in stream.schema.names:
            argument = Column(argument)
        if isinstance(argument, Expr):
            column = f"{label}.input"
            while column in stream.schema.names or column in computed:
                column += "_"
            computed[column] = argument
            argument = column
        plain.append((label, Aggregate(aggregate.function, argument)))
    if computed:
        named = [each.alias(column) for column, each in computed.items()]
        stream = stream.with_columns(*named)
    return stream, tuple(plain)
