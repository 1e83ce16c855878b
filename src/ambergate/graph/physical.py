"""The physical plan: operators as parallel tasks, joined by channels, dealt to workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ambergate.graph.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Edge:
    """All channels from one operator to one port of another."""

    source: int  # index of the operator upstream
    target: int  # index of the operator downstream
    port: int
    exchange: Exchange
    unbounded: str = ""  # why this edge may queue without bound; empty where it may not

    def pairs(self, up: int, down: int) -> list[tuple[int, int]]:
        """The (upstream task, downstream task) pairs that have a channel."""
        if self.exchange.way == "forward":
            return [(task, task) for task in range(up)]
        if self.exchange.way == "gather":
            return [(task, 0) for task in range(up)]
        return [(one, other) for one in range(up) for other in range(down)]


@dataclass(frozen=True, slots=True)
class PhysicalOperator:
    """One operator with its tasks; task ``i`` runs in worker ``i mod workers``."""

    index: int
    name: str
    role: str
    kind: str
    description: Any
    tasks: int
    inputs: tuple[pa.Schema, ...]  # as pruned, one per port
    schema: pa.Schema  # downstream
    columns: tuple[str, ...] | None = None  # of a source: the columns to read
    predicate: tuple[tuple[str, str, Any], ...] = ()  # of a source: conjuncts for skipping


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel: ``offset`` and ``nbytes`` of its ring, or zero where it stays in one worker."""

    edge: int
    source_task: int
    target_task: int
    source_worker: int
    target_worker: int
    offset: int = 0
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a worker needs to know to run its tasks."""

    operators: tuple[PhysicalOperator, ...]  # inputs before consumers
    edges: tuple[Edge, ...]
    workers: int
    batch_rows: int
    ring_bytes: int

    def worker_of(self, task: int) -> int:
        """The worker that runs task ``task`` of any operator."""
        return task % self.workers

    def operator(self, name: str) -> PhysicalOperator:
        """The operator called ``name``; KeyError that lists the names otherwise."""
        for operator in self.operators:
            if operator.name == name:
                return operator
        names = ", ".join(repr(operator.name) for operator in self.operators)
        raise KeyError(f"no operator is called {name!r}; there are {names}")

    def inputs_of(self, index: int) -> list[tuple[int, Edge]]:
        """The edges into operator ``index``, each with its number."""
        return [(number, edge) for number, edge in enumerate(self.edges) if edge.target == index]

    def outputs_of(self, index: int) -> list[tuple[int, Edge]]:
        """The edges out of operator ``index``, each with its number."""
        return [(number, edge) for number, edge in enumerate(self.edges) if edge.source == index]

    def gate_index(self, operator: int, task: int) -> int:
        """The number of a task's gate: tasks are counted operator by operator."""
        return sum(each.tasks for each in self.operators[:operator]) + task

    @property
    def tasks(self) -> int:
        """Tasks of all operators together."""
        return sum(operator.tasks for operator in self.operators)
