"""What users write: lazy streams. Nothing runs until ``collect``, ``ag.run`` or ``ag.start``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from ambergate.batch import parse_type
from ambergate.connectors.sinks import WriteCsv, WriteJson, WriteParquet
from ambergate.errors import PlanError
from ambergate.expr.aggregates import Aggregate
from ambergate.expr.nodes import Column, Expr
from ambergate.graph.logical import Node
from ambergate.operators.base import Operator
from ambergate.operators.distinct import Distinct
from ambergate.operators.drop import Drop
from ambergate.operators.explode import Explode
from ambergate.operators.filter import Filter
from ambergate.operators.filter_function import FilterFunction
from ambergate.operators.flat_map import FlatMap
from ambergate.operators.for_each import ForEach
from ambergate.operators.group_by import GroupBy
from ambergate.operators.join import Join
from ambergate.operators.limit import Limit
from ambergate.operators.map import Map
from ambergate.operators.map_batches import MapBatches
from ambergate.operators.running import Running
from ambergate.operators.select import Select
from ambergate.operators.sort import Sort
from ambergate.operators.to_table import ToTable
from ambergate.operators.top import Top
from ambergate.operators.union import Union
from ambergate.operators.with_columns import WithColumns

Types = Mapping[str, str | pa.DataType]


class Stream:
    """Rows to come, described by the operators that make them.

    Every method returns a new stream (or, at the end, a sink); the stream itself never changes.
    ``name=`` and ``parallelism=`` are understood by all of them.
    """

    def __init__(self, node: Node):
        self.node = node

    def __repr__(self) -> str:
        columns = ", ".join(f"{field.name}: {field.type}" for field in self.schema)
        return f"<Stream {self.node.title}: {columns}>"

    @property
    def schema(self) -> pa.Schema:
        """Columns and types of the rows to come."""
        return self.node.schema

    # rows in, rows out

    def filter(
        self,
        predicate: Expr | Callable[..., Any],
        columns: list[str] | None = None,
        *,
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Stream:
        """Keep the rows for which ``predicate`` is true (null counts as false).

        Parameters
        ----------
        predicate : a boolean expression, or a function of one row
        columns : of a function: the columns whose values it is called with, in order; without
            them it gets one row view
        """
        if isinstance(predicate, Expr):
            if columns is not None:
                raise PlanError(name or "filter", "columns= goes with a function, not an expression")
            return self._then(Filter(predicate), name, parallelism)
        if not callable(predicate):
            raise PlanError(
                name or "filter",
                f"needs an expression or a function, got {type(predicate).__name__}",
                "write col('x') > 1, or a function with columns=[...]",
            )
        return self._then(FilterFunction(predicate, _names(columns)), name, parallelism)

    def select(
        self, *columns: str | Expr, name: str | None = None, parallelism: int | None = None,
        **computed: Any,
    ) -> Stream:
        """Keep the named columns and those computed, in this order.

        >>> import ambergate as ag
        >>> s = ag.from_arrow({"a": [1], "b": [2]}).select("a", c=ag.col("b") + 1)
        >>> s.schema.names
        ['a', 'c']
        """
        return self._then(Select(_named("select", columns, computed)), name, parallelism)

    def with_columns(
        self, *columns: Expr, name: str | None = None, parallelism: int | None = None,
        **computed: Any,
    ) -> Stream:
        """Add the computed columns, or replace those of the same name in place."""
        return self._then(WithColumns(_named("with_columns", columns, computed)), name, parallelism)

    def drop(
        self, *columns: str, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """All columns but these."""
        return self._then(Drop(tuple(columns)), name, parallelism)

    def map(
        self,
        fn: Callable[..., Any],
        columns: list[str] | None = None,
        returns: Types | None = None,
        *,
        jit: bool = False,
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Stream:
        """Call ``fn`` once per row; the columns it returns are added or replaced.

        Parameters
        ----------
        fn : gets the values of ``columns``, positionally; without ``columns`` one row view. It
            returns one value, or a tuple or dict for several columns
        returns : column -> Arrow type (a name such as ``"int64"``, or a ``pyarrow.DataType``)
        jit : compile ``fn`` with Numba; numeric columns only

        Raises
        ------
        PlanError
            ``returns`` is missing, or a column does not exist.
        """
        made = Map(fn, _names(columns), _types(name or "map", returns), jit)
        return self._then(made, name, parallelism)

    def flat_map(
        self,
        fn: Callable[..., Any],
        columns: list[str] | None = None,
        returns: Types | None = None,
        *,
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Stream:
        """Call ``fn`` once per row; it returns any number of rows, as a list or a generator."""
        made = FlatMap(fn, _names(columns), _types(name or "flat_map", returns))
        return self._then(made, name, parallelism)

    def map_batches(
        self,
        fn: Callable[[pa.RecordBatch], Any],
        returns: Types | None = None,
        rows: int = 4096,
        *,
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Stream:
        """Call ``fn`` with batches of exactly ``rows`` rows (the last may be shorter).

        Such a batch is the unit the operator stops between, as a row is for others.
        """
        made = MapBatches(fn, _types(name or "map_batches", returns), rows)
        return self._then(made, name, parallelism)

    def explode(
        self, column: str, *, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """One row per element of the list in ``column``; an empty list gives one null."""
        return self._then(Explode(column), name, parallelism)

    def union(
        self, *others: Stream, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """All rows of all streams, columns by name; in no order."""
        streams = (self, *others)
        return _node(Union(len(streams)), tuple(s.node for s in streams), name, parallelism)

    def distinct(
        self, *columns: str, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """The first whole row for each value of ``columns`` (of all columns without them)."""
        return self._then(Distinct(tuple(columns)), name, parallelism)

    def join(
        self,
        other: Stream,
        on: str | list[str] | None = None,
        how: str = "inner",
        *,
        left_on: str | list[str] | None = None,
        right_on: str | list[str] | None = None,
        suffix: str = "_right",
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Stream:
        """Match rows of both streams by equal keys; ``other`` is read to its end first.

        Parameters
        ----------
        on : key columns of the same name; or ``left_on`` and ``right_on``
        how : inner, left, right, full, semi (rows with a match), anti (rows without)
        suffix : appended to a column of ``other`` whose name is taken

        Null keys never match; NaN matches NaN.
        """
        where = name or "join"
        if on is not None and (left_on is not None or right_on is not None):
            raise PlanError(where, "on= and left_on=/right_on= exclude each other")
        left, right = (on, on) if on is not None else (left_on, right_on)
        if left is None or right is None:
            raise PlanError(where, "needs the key columns", "write on='key' or left_on=, right_on=")
        keys = tuple([each] if isinstance(each, str) else list(each) for each in (left, right))
        made = Join(tuple(keys[0]), tuple(keys[1]), how, suffix)
        return _node(made, (self.node, other.node), name, parallelism)

    # order

    def sort(
        self,
        *by: str,
        descending: bool | list[bool] = False,
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Stream:
        """All rows in order; stable; nulls last. Needs the end of the input."""
        flags = descending if isinstance(descending, bool) else tuple(descending)
        return self._then(Sort(tuple(by), flags), name, parallelism)

    def top(
        self,
        n: int,
        by: str | list[str],
        descending: bool | list[bool] = True,
        *,
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Stream:
        """The ``n`` greatest rows (the least with ``descending=False``), in order."""
        columns = (by,) if isinstance(by, str) else tuple(by)
        flags = descending if isinstance(descending, bool) else tuple(descending)
        return self._then(Top(n, columns, flags), name, parallelism)

    def limit(
        self, n: int, *, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """The first ``n`` rows to come; what feeds them alone is stopped then."""
        return self._then(Limit(n), name, parallelism)

    def head(
        self, n: int = 5, *, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """The same as ``limit``."""
        return self.limit(n, name=name or None, parallelism=parallelism)

    # groups

    def group_by(self, *keys: str | Expr) -> Grouped:
        """Rows with equal keys belong together; null is a key, NaN equals NaN."""
        if not keys:
            raise PlanError("group_by", "needs at least one key", "for all rows together use agg()")
        return Grouped(self, keys)

    def agg(
        self, *, name: str | None = None, parallelism: int | None = None, **aggregates: Aggregate
    ) -> Stream:
        """Aggregates over all rows: one row, also over no rows."""
        before, plain = _plain(self, name or "agg", aggregates)
        return before._then(GroupBy((), plain), name, parallelism, kind="agg")

    # ends

    def write_csv(
        self, target: str, *, if_exists: str = "error", name: str | None = None,
        parallelism: int | None = None,
    ) -> Sink:
        """One CSV file, or with a trailing ``/`` a folder of parts; visible when all is written."""
        return self._end(WriteCsv(str(target), if_exists=if_exists), "write_csv", name, parallelism)

    def write_json(
        self, target: str, *, if_exists: str = "error", name: str | None = None,
        parallelism: int | None = None,
    ) -> Sink:
        """JSON lines, as ``write_csv``."""
        return self._end(
            WriteJson(str(target), if_exists=if_exists), "write_json", name, parallelism
        )

    def write_parquet(
        self, target: str, *, if_exists: str = "error", name: str | None = None,
        parallelism: int | None = None,
    ) -> Sink:
        """Parquet, as ``write_csv``."""
        return self._end(
            WriteParquet(str(target), if_exists=if_exists), "write_parquet", name, parallelism
        )

    def for_each(
        self, fn: Callable[..., Any], columns: list[str] | None = None, *,
        name: str | None = None, parallelism: int | None = None,
    ) -> Sink:
        """Call ``fn`` with each row, at once and at least once; in the worker's process."""
        return self._end(ForEach(fn, _names(columns)), "for_each", name, parallelism)

    def to_table(self, *, name: str | None = None, parallelism: int | None = None) -> Sink:
        """Keep the rows for ``job.result(name)``."""
        return self._end(ToTable(), "to_table", name, parallelism)

    def collect(self, **options: Any) -> pa.Table:
        """Run to the end and return the rows; options as of ``ag.run``."""
        from ambergate.jobs import collect

        return collect(self, **options)

    def preview(self, n: int = 5) -> pa.Table:
        """The first ``n`` rows to come, run in this process."""
        return self.limit(n).collect(backend="inline")

    def explain(self, workers: int | None = None) -> str:
        """The plan as text: operators, tasks, exchanges, memory in flight. Runs nothing."""
        from ambergate.engine import explain

        return explain([self.to_table().node], workers)

    def _then(
        self, operator: Operator, name: str | None, parallelism: int | None, kind: str = ""
    ) -> Stream:
        return _node(operator, (self.node,), name, parallelism, kind)

    def _end(
        self, description: Any, kind: str, name: str | None, parallelism: int | None
    ) -> Sink:
        if hasattr(description, "output_schema"):
            description.output_schema(name or kind, self.schema)
        node = Node("sink", kind, description, (self.node,), self.schema, name, parallelism)
        return Sink(node)


class Sink:
    """The end of a dataflow: what ``ag.run`` and ``ag.start`` take."""

    def __init__(self, node: Node):
        self.node = node

    def __repr__(self) -> str:
        return f"<Sink {self.node.title}>"

    def explain(self, workers: int | None = None) -> str:
        """The plan as text; runs nothing."""
        from ambergate.engine import explain

        return explain([self.node], workers)


class Grouped:
    """A stream with keys: ``agg`` for one row per key, ``running`` for one row per input row."""

    def __init__(self, stream: Stream, keys: tuple[str | Expr, ...]):
        computed = {each.name: each for each in keys if not isinstance(each, str | Column)}
        self.stream = stream.with_columns(**computed) if computed else stream
        self.keys = tuple(each if isinstance(each, str) else each.name for each in keys)

    def agg(
        self, *, name: str | None = None, parallelism: int | None = None, **aggregates: Aggregate
    ) -> Stream:
        """One row per key when the input ends: the keys, then the aggregates."""
        before, plain = _plain(self.stream, name or "group_by", aggregates)
        return before._then(GroupBy(self.keys, plain), name, parallelism)

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
        before, plain = _plain(self.stream, name or "running", aggregates)
        return before._then(Running(self.keys, plain), name, parallelism)


def _node(
    operator: Operator,
    inputs: tuple[Node, ...],
    name: str | None,
    parallelism: int | None,
    kind: str = "",
) -> Stream:
    kind = kind or operator.kind
    schema = operator.output_schema(name or kind, *[each.schema for each in inputs])
    return Stream(Node("operator", kind, operator, inputs, schema, name, parallelism))


def _names(columns: list[str] | str | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _types(operator: str, returns: Types | None) -> dict[str, pa.DataType]:
    if not returns:
        raise PlanError(
            operator,
            "returns= is missing: the types of what a function returns cannot be known",
            'write returns={"column": "int64"}',
        )
    return {column: parse_type(each) for column, each in returns.items()}


def _named(
    operator: str, columns: tuple[str | Expr, ...], computed: dict[str, Any]
) -> tuple[tuple[str, Expr], ...]:
    from ambergate.expr.nodes import as_expr

    named: dict[str, Expr] = {}
    for each in columns:
        expression = Column(each) if isinstance(each, str) else each
        if not isinstance(expression, Expr):
            raise PlanError(operator, f"{each!r} is neither a column name nor an expression")
        if expression.name in named:
            raise PlanError(operator, f"column {expression.name!r} is given twice")
        named[expression.name] = expression
    for label, value in computed.items():
        if label in named:
            raise PlanError(operator, f"column {label!r} is given twice")
        named[label] = as_expr(value)
    return tuple(named.items())


def _plain(
    stream: Stream, operator: str, aggregates: Mapping[str, Aggregate]
) -> tuple[Stream, tuple[tuple[str, Aggregate], ...]]:
    """Aggregates over plain columns, and the stream that has those columns."""
    if not aggregates:
        raise PlanError(operator, "needs at least one aggregate", "write n=ag.count()")
    computed: dict[str, Expr] = {}
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
            computed[column] = argument
            argument = column
        plain.append((label, Aggregate(aggregate.function, argument)))
    if computed:
        stream = stream.with_columns(**computed)
    return stream, tuple(plain)
