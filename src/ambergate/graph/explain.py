"""The plan as text, for people."""

from __future__ import annotations

from ambergate.graph.layout import Layout
from ambergate.graph.physical import Plan


def explain_plan(plan: Plan, layout: Layout) -> str:
    """One line an operator, with tasks, exchanges and what to know; then the memory in flight."""
    lines = []
    for operator in plan.operators:
        lines.append(f"{operator.name}  [{operator.kind}, {_count(operator.tasks, 'task')}]")
        summary = getattr(operator.description, "summary", None)
        if summary is not None:
            lines.append(f"    {summary()}")
        if operator.columns is not None:
            lines.append(f"    reads only {', '.join(operator.columns) or 'row counts'}")
        if operator.predicate:
            conjuncts = " & ".join(f"{c} {op} {value!r}" for c, op, value in operator.predicate)
            lines.append(f"    skips row groups without {conjuncts}")
        for _, edge in plan.inputs_of(operator.index):
            source = plan.operators[edge.source]
            port = f" into port {edge.port}" if len(operator.inputs) > 1 else ""
            lines.append(f"    <- {source.name} by {edge.exchange}{port}")
            if edge.unbounded:
                lines.append(f"       unbounded: {edge.unbounded}")
        if getattr(operator.description, "order_sensitive", False):
            lines.append("    result depends on the order of rows")
    ring_mib = layout.rings * plan.ring_bytes / (1 << 20)
    lines.append(
        f"in flight at most: {_count(layout.rings, 'ring')} of {plan.ring_bytes >> 10} KiB"
        f" = {ring_mib:.1f} MiB between {_count(plan.workers, 'worker')}"
    )
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
