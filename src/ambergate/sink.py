"""The end of a dataflow."""

from __future__ import annotations

from ambergate.graph.logical import Node


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
