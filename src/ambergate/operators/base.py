"""What every operator and every executor is.

An operator is a frozen description: it travels to the workers by pickle and knows its types. Its
executor is the runtime half, one per task, and the only holder of state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, RAISED, STOPPED, Gate
from ambergate.graph.exchange import ANY, Exchange

__all__ = [
    "DONE",
    "FULL",
    "OUTPUT_ROWS",
    "RAISED",
    "STOPPED",
    "Executor",
    "Gate",
    "Operator",
    "Progress",
    "Seat",
    "blocks",
]

OUTPUT_ROWS = 32_768  # rows of one emitted batch, at most
LIBRARY_ROWS = 4_096  # rows of one call into a library that cannot be stopped inside


@dataclass(frozen=True, slots=True)
class Seat:
    """Which task of an operator an executor is opened for."""

    operator: str  # the operator's name in its dataflow
    task: int
    tasks: int


class Progress(NamedTuple):
    """How far a call to ``process`` came.

    ``status`` is DONE (``cursor == stop``), STOPPED (the gate closed), FULL (enough output for one
    step) or RAISED (row ``cursor`` raised ``error``; it left no output and no state behind).
    ``outputs`` belong to the rows before ``cursor``.
    """

    status: int
    cursor: int
    outputs: Sequence[pa.RecordBatch] = ()
    error: BaseException | None = None


class Executor(Protocol):
    """The runtime half of an operator in one task; driven by one thread."""

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Consume rows ``start`` to the returned cursor of ``batch``, which came in by ``port``.

        Row ``k`` is started only if ``gate.bound(k, stop) > k``; the caller has told the gate the
        position of row 0 (``gate.at``). The batch is valid during the call only, unless the
        operator ``retains`` the port: executors keep copies, never views, of other batches.
        """
        ...

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """No more rows come by ``port``: yield what is now due, in batches of OUTPUT_ROWS at most.

        Called once per port. The caller may leave any time between two batches.
        """
        ...

    def snapshot(self) -> Any:
        """The state as picklable values and Arrow data, independent of the live state."""
        ...

    def restore(self, state: Any) -> None:
        """Take the state that ``snapshot`` gave."""
        ...

    def describe(self) -> dict[str, pa.Table]:
        """The state as the user should see it: named tables; empty where there is no state."""
        ...


class Operator:
    """A frozen description of one operator; subclasses are frozen dataclasses.

    Class attributes say what the planner may do with it.
    """

    kind: ClassVar[str] = ""  # the word its derived name is made of
    ports: ClassVar[int] = 1  # inputs
    single: ClassVar[bool] = False  # must run as one task (it needs all rows in one place)
    keeps_order: ClassVar[bool] = True  # forwards rows in the order they come
    makes_order: ClassVar[bool] = False  # emits rows in an order that what follows should keep
    blocking: ClassVar[bool] = False  # needs the end of its input before it emits
    order_sensitive: ClassVar[bool] = False  # its result depends on the order of its input
    first_port: ClassVar[int | None] = None  # this port is read to its end before the others
    retains: ClassVar[frozenset[int]] = frozenset()  # ports whose batches outlive a step

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The schema downstream, given one schema per port; raises PlanError naming ``name``."""
        raise NotImplementedError

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """How rows must be dealt to this operator's tasks at ``port``."""
        return ANY

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """Which columns of ``port`` are read, if of the output only ``wanted`` are; for pruning.

        The default asks for all.
        """
        return frozenset(inputs[port].names)

    def narrow(self, wanted: frozenset[str], *inputs: pa.Schema) -> Operator:
        """The operator as it is run where of its output only ``wanted`` are read.

        ``inputs`` are the pruned schemas. The default is the operator itself.
        """
        return self

    def open(self, seat: Seat, *inputs: pa.Schema) -> Executor:
        """The runtime half for one task, given the (possibly pruned) schema of each port."""
        raise NotImplementedError


def blocks(
    gate: Gate, start: int, stop: int, rows: int = LIBRARY_ROWS
) -> Iterator[tuple[int, int]]:
    """Bounded stretches of ``start:stop`` for library calls, ending where the gate closes.

    >>> gate = Gate(); gate.reset(); gate.set_limit(5000)
    >>> list(blocks(gate, 0, 10_000))
    [(0, 4096), (4096, 5000)]
    """
    row = start
    while row < stop:
        end = gate.rows(row, min(row + rows, stop))
        if end == row:
            return
        yield row, end
        row = end
