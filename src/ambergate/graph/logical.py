"""The logical graph: what users write, as nodes that know their operator, inputs and schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ambergate.errors import PlanError


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """One operator in a dataflow.

    ``role`` is ``source``, ``operator`` or ``sink``; ``description`` is the frozen operator,
    source or sink. A node without a given name gets a derived one when the dataflow is planned.
    """

    role: str
    kind: str
    description: Any
    inputs: tuple[Node, ...]
    schema: pa.Schema
    name: str | None = None
    parallelism: int | None = None
    stem: str = ""  # what a derived name is made of, where that is not the kind

    def __post_init__(self) -> None:
        if self.name is not None and (not self.name or "/" in self.name):
            raise PlanError(self.name, "a name is a non-empty text without '/'")
        if self.parallelism is not None and self.parallelism < 1:
            raise PlanError(self.title, f"parallelism must be at least 1, got {self.parallelism}")

    @property
    def title(self) -> str:
        """The name in messages before names are derived."""
        return self.name or self.kind


def topological(sinks: Iterable[Node]) -> Iterator[Node]:
    """Every node reachable from ``sinks`` once, inputs before consumers, in a stable order."""
    done: set[int] = set()
    stack: list[tuple[Node, bool]] = [(sink, False) for sink in reversed(list(sinks))]
    while stack:
        node, expanded = stack.pop()
        if id(node) in done:
            continue
        if expanded:
            done.add(id(node))
            yield node
        else:
            stack.append((node, True))
            stack.extend((up, False) for up in reversed(node.inputs))


def names_of(nodes: Iterable[Node]) -> dict[int, str]:
    """A unique name per node (by ``id``): the given one, else its kind, numbered where it clashes.

    Derived names depend on the graph alone, so the same program gets the same names.
    """
    ordered = list(nodes)
    taken: set[str] = set()
    for node in ordered:
        if node.name is not None:
            if node.name in taken:
                raise PlanError(node.name, "two operators have this name", "give one another name=")
            taken.add(node.name)
    names: dict[int, str] = {}
    for node in ordered:
        if node.name is not None:
            names[id(node)] = node.name
            continue
        stem = node.stem or node.kind
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        taken.add(name)
        names[id(node)] = name
    return names
