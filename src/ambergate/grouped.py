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
        computed = [each for each in keys if not isinstance(each, str | Column)]
        self.stream = stream.with_columns(*computed) if computed else stream
        self.keys = tuple(each if isinstance(each, str) else each.name for each in keys)

    def agg(
        self, *, name: str | None = None, parallelism: int | None = None, **aggregates: Aggregate
    ) -> Stream:
        """One row per key when the input ends: the keys, then the aggregates."""
        before, plain = plain_aggregates(self.stream, name or "group_by", aggregates)
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
        before, plain = plain_aggregates(self.stream, name or "running", aggregates)
        return before.then(Running(self.keys, plain), name, parallelism)


def plain_aggregates(
    stream: Stream, operator: str, aggregates: Mapping[str, Aggregate]
) -> tuple[Stream, tuple[tuple[str, Aggregate], ...]]:
    """Aggregates over plain columns, and the stream that has those columns."""
    if not aggregates:
        raise PlanError(operator, "needs at least one aggregate", "write n=ag.count()")
    computed: list[Expr] = []
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
        elif isinstance(argument, Expr):
            column = f"{label}.input"
            computed.append(argument.alias(column))
            argument = column
        plain.append((label, Aggregate(aggregate.function, argument)))
    if computed:
        stream = stream.with_columns(*computed)
    return stream, tuple(plain)
