"""From the plan to the live tasks of one worker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ambergate.channels.bell import RING_HEADER_BYTES, Bell, Ring
from ambergate.channels.channel import LocalChannel, RingChannel
from ambergate.channels.gate import GATE_BYTES, Gate
from ambergate.channels.memory import Memory
from ambergate.graph.layout import Layout, lay_out
from ambergate.graph.physical import PhysicalOperator, Plan
from ambergate.kernels.partition import partition_batch
from ambergate.operators.base import Seat
from ambergate.worker.ends import FileSinkExecutor, ResultExecutor, SourceExecutor
from ambergate.worker.inputs import Port, Stash
from ambergate.worker.io_thread import ReadPump, WritePump
from ambergate.worker.outputs import EdgeOutput, Outputs
from ambergate.worker.task import Task

# Rows of one piece of read-ahead: the I/O thread hands over seldom, the task cuts batches.
READ_ROWS = 1 << 18
UNBOUNDED = 1 << 62


def layout_of(plan: Plan) -> Layout:
    """Where everything of ``plan`` lies in shared memory."""
    return lay_out(plan, GATE_BYTES, RING_HEADER_BYTES)


class Deployment:
    """The tasks of one worker, opened and joined; nothing runs yet.

    Parameters
    ----------
    plan, layout, memory : the job's, the same in every worker
    worker : which worker this is
    job : a token unique to this run, for the names of unfinished files
    report : called by tasks with what happens to them
    in_caller : whether this is the caller's own process, where its iterables can be read directly
    """

    def __init__(
        self,
        plan: Plan,
        layout: Layout,
        memory: Memory,
        worker: int,
        job: str,
        report: Callable[..., None],
        in_caller: bool = False,
    ):
        self.in_caller = in_caller
        self.plan, self.layout, self.memory, self.worker, self.job = (
            plan,
            layout,
            memory,
            worker,
            job,
        )
        self.bells = [Bell(memory.mapping, layout.bell(each)) for each in range(plan.workers)]
        self.bell = self.bells[worker]
        self.pumps: list[Any] = []
        self.sinks: list[WritePump] = []
        self._report = report
        self._writers: dict[tuple[int, int], list[tuple[int, Any]]] = {}
        self._readers: dict[tuple[int, int], list[Any]] = {}
        self._join_channels()
        self.tasks = [
            self._open_task(operator, number)
            for operator in plan.operators
            for number in range(operator.tasks)
            if plan.worker_of(number) == worker
        ]

    def task(self, operator: str, number: int) -> Task:
        """One of this worker's tasks."""
        for task in self.tasks:
            if task.operator == operator and task.number == number:
                return task
        raise KeyError(f"task {number} of {operator!r} is not in worker {self.worker}")

    def _join_channels(self) -> None:
        for channel in self.layout.channels:
            edge = self.plan.edges[channel.edge]
            target = self.plan.operators[edge.target]
            schema = target.inputs[edge.port]
            at_source = channel.source_worker == self.worker
            at_target = channel.target_worker == self.worker
            writer = reader = None
            if channel.nbytes == 0 and at_source:
                writer = reader = (
                    LocalChannel(max_batches=UNBOUNDED, max_bytes=UNBOUNDED)
                    if edge.unbounded
                    else LocalChannel()
                )
            elif at_source or at_target:
                ring = Ring(
                    self.memory.mapping,
                    channel.offset,
                    channel.nbytes,
                    self.bells[channel.target_worker],
                    self.bells[channel.source_worker],
                )
                if at_source:
                    writer = RingChannel.writer(ring, schema)
                else:
                    # a stash that kept batches in place would keep the ring full
                    copy = bool(edge.unbounded) or self._keeps(target, edge.port)
                    reader = RingChannel.reader(ring, schema, copy=copy)
            if writer is not None:
                key = (channel.edge, channel.source_task)
                self._writers.setdefault(key, []).append((channel.target_task, writer))
            if reader is not None:
                reader = Stash(reader) if edge.unbounded else reader
                self._readers.setdefault((channel.edge, channel.target_task), []).append(reader)

    def _feed(self, operator: PhysicalOperator, offset: int, nbytes: int) -> Any:
        """The reading end of the ring through which the caller feeds a source."""
        caller = Bell(self.memory.mapping, self.layout.bell(self.plan.workers))
        ring = Ring(self.memory.mapping, offset, nbytes, self.bell, caller)
        return RingChannel.reader(ring, operator.schema, copy=True)

    def _keeps(self, operator: PhysicalOperator, port: int) -> bool:
        """Whether batches read from a ring may outlive the step: they are copied out then."""
        description = operator.description
        if operator.role != "operator" or port in getattr(description, "retains", ()):
            return True
        if not getattr(description, "shares", True):
            return False  # what it emits never points into its input
        return any(
            edge.exchange.way != "hash" or self.plan.operators[edge.target].tasks == 1
            for _, edge in self.plan.outputs_of(operator.index)
        )

    def _open_task(self, operator: PhysicalOperator, number: int) -> Task:
        gate = Gate(
            self.memory.mapping, self.layout.gate(self.plan.gate_index(operator.index, number))
        )
        executor, ports = self._executor(operator, number)
        edges = []
        for index, edge in self.plan.outputs_of(operator.index):
            writers = [
                writer
                for _, writer in sorted(
                    self._writers.get((index, number), []), key=lambda pair: pair[0]
                )
            ]
            keys = tuple(operator.schema.get_field_index(each) for each in edge.exchange.columns)
            edges.append(EdgeOutput(edge.exchange, writers, number, keys, partition_batch))
        return Task(
            operator.name,
            number,
            executor,
            ports,
            Outputs(edges),
            gate,
            self._report,
            first_port=getattr(operator.description, "first_port", None),
            passes_skipped=operator.role == "source",
        )

    def _executor(self, operator: PhysicalOperator, number: int) -> tuple[Any, list[Port]]:
        description = operator.description
        if operator.role == "source":
            fed = [feed for feed in self.layout.feeds if feed[0] == operator.index]
            if fed and not self.in_caller:
                return SourceExecutor(), [Port(0, [self._feed(operator, *fed[0][1:])])]
            ahead = not getattr(description, "in_caller", False)
            pump = ReadPump(
                partial(
                    description.open,
                    number,
                    operator.tasks,
                    operator.columns,
                    operator.predicate,
                    max(self.plan.batch_rows, READ_ROWS) if ahead else self.plan.batch_rows,
                ),
                self.bell.ring,
            )
            self.pumps.append(pump)
            return SourceExecutor(self.plan.batch_rows), [Port(0, [pump])]
        ports: dict[int, list[Any]] = {port: [] for port in range(len(operator.inputs))}
        for index, edge in self.plan.inputs_of(operator.index):
            ports[edge.port] += self._readers.get((index, number), [])
        joined = [Port(port, readers) for port, readers in ports.items()]
        if operator.role == "operator":
            seat = Seat(operator.name, number, operator.tasks)
            return description.open(seat, *operator.inputs), joined
        if operator.kind == "to_table":
            return ResultExecutor(operator.inputs[0]), joined
        if not hasattr(description, "check"):  # a sink that is a row function
            seat = Seat(operator.name, number, operator.tasks)
            return description.open(seat, *operator.inputs), joined
        sink = WritePump(
            partial(description.open, number, operator.tasks, operator.inputs[0], self.job),
            self.bell.ring,
        )
        self.pumps.append(sink)
        self.sinks.append(sink)
        return FileSinkExecutor(sink), joined
