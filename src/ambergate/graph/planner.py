"""From the logical graph to the physical plan.

In order: names are derived, aggregates over computed values get an operator that computes them,
group-bys that can are split into a local combine and a final step, unused columns are pruned at
the sources, filters hand their simple conjuncts to Parquet sources, parallelism and exchanges are
chosen. None of it changes what a position means: rows a source skips are counted as consumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.graph.exchange import BROADCAST, FORWARD, GATHER, ROUND_ROBIN, Exchange
from ambergate.graph.layout import RING_FLOOR, ring_bytes_for
from ambergate.graph.logical import Node, names_of, topological
from ambergate.graph.physical import Edge, PhysicalOperator, Plan

BATCH_ROWS = 32_768


def plan_dataflow(
    sinks: Sequence[Node],
    workers: int,
    batch_rows: int | None = None,
    ring_bytes: int | None = None,
    skipping: bool = True,
) -> Plan:
    """The physical plan of the dataflow that ends in ``sinks``.

    Parameters
    ----------
    sinks : the sink nodes of one job
    workers : worker processes, also the default parallelism
    batch_rows : rows of a source's batches at most
    ring_bytes : capacity of each ring; by default all rings share 64 MiB
    skipping : prune columns and skip row groups that a filter would reject

    Raises
    ------
    PlanError
        No sink, clashing names, or a parallelism that an operator cannot have.
    """
    if not sinks:
        raise PlanError(
            "run", "there is nothing to run", "end a stream with a sink such as to_table()"
        )
    if workers < 1:
        raise PlanError("run", f"workers must be at least 1, got {workers}")
    if batch_rows is not None and batch_rows < 1:
        raise PlanError("run", f"batch_rows must be at least 1, got {batch_rows}")
    if ring_bytes is not None and ring_bytes < RING_FLOOR:
        raise PlanError("run", f"ring_bytes must be at least {RING_FLOOR}, got {ring_bytes}")
    for sink in sinks:
        if sink.role != "sink":
            raise PlanError(
                sink.title, "is not a sink", "end the stream with write_*, for_each or to_table"
            )
    nodes = _expand(sinks)
    names = names_of(nodes)
    index = {id(node): number for number, node in enumerate(nodes)}
    wanted = _wanted(nodes) if skipping else None

    operators: list[PhysicalOperator] = []
    ordered: dict[int, bool] = {}
    for number, node in enumerate(nodes):
        ups = [operators[index[id(up)]] for up in node.inputs]
        inputs = tuple(up.schema for up in ups)
        if wanted is not None and hasattr(node.description, "narrow"):
            narrowed = node.description.narrow(wanted[id(node)], *inputs)
        else:
            narrowed = node.description
        schema, columns = _schema_of(node, narrowed, names[id(node)], inputs, wanted)
        after_order = any(ordered[up.index] for up in ups)
        keeps = node.role == "sink" or getattr(node.description, "keeps_order", False)
        ordered[number] = bool(getattr(node.description, "makes_order", False)) or (
            after_order and keeps
        )
        operators.append(
            PhysicalOperator(
                index=number,
                name=names[id(node)],
                role=node.role,
                kind=node.kind,
                description=narrowed,
                tasks=_tasks_of(node, names[id(node)], ups, workers, after_order and keeps),
                inputs=inputs,
                schema=schema,
                columns=columns,
            )
        )
    edges = _edges(nodes, index, operators)
    if skipping:
        _hand_down_conjuncts(operators, edges)
    crossing = sum(
        1
        for edge in edges
        for one, other in edge.pairs(operators[edge.source].tasks, operators[edge.target].tasks)
        if one % workers != other % workers
    )
    return Plan(
        operators=tuple(operators),
        edges=tuple(edges),
        workers=workers,
        batch_rows=batch_rows or BATCH_ROWS,
        ring_bytes=ring_bytes or ring_bytes_for(crossing),
    )


def _expand(sinks: Sequence[Node]) -> list[Node]:
    """Let each operator replace itself by several: computed inputs, combine and final steps."""
    made: dict[int, Node] = {}
    for node in topological(sinks):
        inputs = tuple(made[id(up)] for up in node.inputs)
        same = all(one is other for one, other in zip(inputs, node.inputs, strict=True))
        current = node if same else replace(node, inputs=inputs)
        expand = getattr(node.description, "expand", None)
        made[id(node)] = expand(current) if expand else current
    return list(topological([made[id(sink)] for sink in sinks]))


def _schema_of(
    node: Node,
    description: Any,
    name: str,
    inputs: tuple[pa.Schema, ...],
    wanted: dict[int, frozenset[str]] | None,
) -> tuple[pa.Schema, tuple[str, ...] | None]:
    """The schema downstream, and of a source the columns to read (None: all)."""
    if node.role == "source":
        schema = node.schema
        if wanted is None or wanted[id(node)] >= frozenset(schema.names):
            return schema, None
        columns = tuple(column for column in schema.names if column in wanted[id(node)])
        return pa.schema([schema.field(column) for column in columns]), columns
    if node.role == "sink" and not hasattr(description, "output_schema"):
        return inputs[0], None
    return description.output_schema(name, *inputs), None


def _wanted(nodes: list[Node]) -> dict[int, frozenset[str]]:
    """Which output columns of each node are read by anyone downstream."""
    wanted: dict[int, frozenset[str]] = {id(node): frozenset() for node in nodes}
    for node in reversed(nodes):
        if not wanted[id(node)] and len(node.schema):  # rows are counted by some column
            wanted[id(node)] = frozenset([_lightest(node.schema)])
        for port, up in enumerate(node.inputs):
            schemas = [each.schema for each in node.inputs]
            if node.role == "sink" and not hasattr(node.description, "needs"):
                needed = frozenset(up.schema.names)
            else:
                needed = node.description.needs(port, wanted[id(node)], *schemas)
            wanted[id(up)] |= needed
    return wanted


def _lightest(schema: pa.Schema) -> str:
    """The column that is cheapest to carry."""

    def bits(field: pa.Field) -> int:
        try:
            return field.type.bit_width
        except ValueError:  # texts and lists
            return 1 << 20

    return min(schema, key=bits).name


def _hand_down_conjuncts(operators: list[PhysicalOperator], edges: list[Edge]) -> None:
    """Give each source whose only consumer is a filter beside it the conjuncts to skip by."""
    for source in operators:
        after = [edge for edge in edges if edge.source == source.index]
        if len(after) != 1 or not getattr(source.description, "skips", False):
            continue
        conjuncts = getattr(operators[after[0].target].description, "conjuncts", None)
        if conjuncts is not None and after[0].exchange == FORWARD:
            operators[source.index] = replace(source, predicate=tuple(conjuncts(source.schema)))


def _tasks_of(
    node: Node, name: str, ups: list[PhysicalOperator], workers: int, ordered: bool
) -> int:
    wanted = node.parallelism or (1 if ordered else workers)
    if node.role == "source":
        return node.description.tasks(wanted)
    single = getattr(node.description, "single", False)
    if single and node.parallelism not in (None, 1):
        raise PlanError(
            name, f"needs all rows in one place and cannot have parallelism={node.parallelism}"
        )
    if single:
        return 1
    if node.parallelism is None and node.role == "sink" and ups:
        return ups[0].tasks
    return wanted


def _edges(
    nodes: list[Node], index: dict[int, int], operators: list[PhysicalOperator]
) -> list[Edge]:
    edges = []
    for node in nodes:
        target = operators[index[id(node)]]
        for port, up in enumerate(node.inputs):
            source = operators[index[id(up)]]
            exchange = _exchange(node, port, source, target)
            edges.append(Edge(source.index, target.index, port, exchange, _unbounded(node, port)))
    return edges


def _exchange(
    node: Node, port: int, source: PhysicalOperator, target: PhysicalOperator
) -> Exchange:
    if target.tasks == 1:
        return FORWARD if source.tasks == 1 else GATHER
    asked = None
    if hasattr(node.description, "exchange"):
        asked = node.description.exchange(port, *target.inputs)
    if asked is None or asked.way == "any":
        return FORWARD if source.tasks == target.tasks else ROUND_ROBIN
    if asked.way == "broadcast":
        return BROADCAST
    return asked


def _unbounded(node: Node, port: int) -> str:
    """Why the channels into ``port`` must not be bounded.

    An operator that reads one port to its end first would block the others; where both sides come
    from one operator, that one would wait for the blocked side for ever.
    """
    first = getattr(node.description, "first_port", None)
    if first is None or port == first:
        return ""
    ahead = {id(each) for each in topological([node.inputs[first]])}
    shared = [each for each in topological([node.inputs[port]]) if id(each) in ahead]
    if not shared:
        return ""
    return f"both sides come from {shared[-1].title!r}, and the other side is read to its end first"
