"""What users write: lazy streams. Nothing runs until ``collect``, ``ag.run`` or ``ag.start``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ambergate.arguments import Types, named_columns, names_of_columns, types_of
from ambergate.connectors.sinks import WriteCsv, WriteJson, WriteParquet
from ambergate.connectors.target import IF_EXISTS
from ambergate.errors import PlanError
from ambergate.expr.aggregates import Aggregate
from ambergate.expr.nodes import Expr
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
from ambergate.operators.select import Select
from ambergate.operators.sort import Sort
from ambergate.operators.to_table import ToTable
from ambergate.operators.top import Top
from ambergate.operators.union import Union
from ambergate.operators.with_columns import WithColumns
from ambergate.sink import Sink

if TYPE_CHECKING:
    from ambergate.grouped import Grouped


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
                raise PlanError(
                    name or "filter", "columns= goes with a function, not an expression"
                )
            return self.then(Filter(predicate), name, parallelism)
        if not callable(predicate):
            raise PlanError(
                name or "filter",
                f"needs an expression or a function, got {type(predicate).__name__}",
                "write col('x') > 1, or a function with columns=[...]",
            )
        return self.then(FilterFunction(predicate, names_of_columns(columns)), name, parallelism)

    def select(
        self,
        *columns: str | Expr,
        name: str | None = None,
        parallelism: int | None = None,
        **computed: Any,
    ) -> Stream:
        """Keep the named columns and those computed, in this order.

        >>> import ambergate as ag
        >>> s = ag.from_arrow({"a": [1], "b": [2]}).select("a", c=ag.col("b") + 1)
        >>> s.schema.names
        ['a', 'c']
        """
        return self.then(Select(named_columns("select", columns, computed)), name, parallelism)

    def with_columns(
        self,
        *columns: Expr,
        name: str | None = None,
        parallelism: int | None = None,
        **computed: Any,
    ) -> Stream:
        """Add the computed columns, or replace those of the same name in place."""
        return self.then(
            WithColumns(named_columns("with_columns", columns, computed)), name, parallelism
        )

    def drop(
        self, *columns: str, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """All columns but these."""
        return self.then(Drop(tuple(columns)), name, parallelism)

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
        made = Map(fn, names_of_columns(columns), types_of(name or "map", returns), jit)
        return self.then(made, name, parallelism)

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
        made = FlatMap(fn, names_of_columns(columns), types_of(name or "flat_map", returns))
        return self.then(made, name, parallelism)

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
        made = MapBatches(fn, types_of(name or "map_batches", returns), rows)
        return self.then(made, name, parallelism)

    def explode(
        self, column: str, *, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """One row per element of the list in ``column``; an empty list gives one null."""
        return self.then(Explode(column), name, parallelism)

    def union(
        self, *others: Stream, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """All rows of all streams, columns by name; in no order."""
        streams = (self, *others)
        return node_of(Union(len(streams)), tuple(s.node for s in streams), name, parallelism)

    def distinct(
        self, *columns: str, name: str | None = None, parallelism: int | None = None
    ) -> Stream:
        """The first whole row for each value of ``columns`` (of all columns without them)."""
        return self.then(Distinct(tuple(columns)), name, parallelism)

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
        return node_of(made, (self.node, other.node), name, parallelism)

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
        return self.then(Sort(tuple(by), flags), name, parallelism)

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
        return self.then(Top(n, columns, flags), name, parallelism)

    def limit(self, n: int, *, name: str | None = None, parallelism: int | None = None) -> Stream:
        """The first ``n`` rows to come; what feeds them alone is stopped then."""
        return self.then(Limit(n), name, parallelism)

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
        from ambergate.grouped import Grouped

        return Grouped(self, keys)

    def agg(
        self, *, name: str | None = None, parallelism: int | None = None, **aggregates: Aggregate
    ) -> Stream:
        """Aggregates over all rows: one row, also over no rows."""
        from ambergate.grouped import plain_aggregates

        before, plain = plain_aggregates(self, name or "agg", aggregates)
        return before.then(GroupBy((), plain), name, parallelism, kind="agg")

    # ends

    def write_csv(
        self,
        target: str,
        *,
        if_exists: str = "error",
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Sink:
        """One CSV file, or with a trailing ``/`` a folder of parts; visible when all is written."""
        return self._end(WriteCsv(str(target), if_exists=if_exists), "write_csv", name, parallelism)

    def write_json(
        self,
        target: str,
        *,
        if_exists: str = "error",
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Sink:
        """JSON lines, as ``write_csv``."""
        return self._end(
            WriteJson(str(target), if_exists=if_exists), "write_json", name, parallelism
        )

    def write_parquet(
        self,
        target: str,
        *,
        if_exists: str = "error",
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Sink:
        """Parquet, as ``write_csv``."""
        return self._end(
            WriteParquet(str(target), if_exists=if_exists), "write_parquet", name, parallelism
        )

    def for_each(
        self,
        fn: Callable[..., Any],
        columns: list[str] | None = None,
        *,
        name: str | None = None,
        parallelism: int | None = None,
    ) -> Sink:
        """Call ``fn`` with each row, at once and at least once; in the worker's process."""
        return self._end(ForEach(fn, names_of_columns(columns)), "for_each", name, parallelism)

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

    def then(
        self, operator: Operator, name: str | None, parallelism: int | None, kind: str = ""
    ) -> Stream:
        """The stream that ``operator`` makes of this one."""
        return node_of(operator, (self.node,), name, parallelism, kind)

    def _end(self, description: Any, kind: str, name: str | None, parallelism: int | None) -> Sink:
        if getattr(description, "if_exists", "error") not in IF_EXISTS:
            raise PlanError(
                name or kind,
                f"if_exists={description.if_exists!r} is none of {', '.join(IF_EXISTS)}",
            )
        if hasattr(description, "output_schema"):
            description.output_schema(name or kind, self.schema)
        node = Node("sink", kind, description, (self.node,), self.schema, name, parallelism)
        return Sink(node)


def node_of(
    operator: Operator,
    inputs: tuple[Node, ...],
    name: str | None,
    parallelism: int | None,
    kind: str = "",
) -> Stream:
    """A stream of one more operator; raises PlanError where the inputs do not fit it."""
    kind = kind or operator.kind
    schema = operator.output_schema(name or kind, *[each.schema for each in inputs])
    return Stream(Node("operator", kind, operator, inputs, schema, name, parallelism))
