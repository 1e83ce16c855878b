"""Where gates, bells and rings lie in a job's shared memory.

    +----------------------+---------------------+-----------------+
    | bells, one a worker  | gates, one a task   | rings           |
    | and one of the       | GATE_BYTES each     | ring_bytes each |
    | caller, 128 bytes    |                     |                 |
    +----------------------+---------------------+-----------------+

One anonymous mapping holds all of a job's shared words: one descriptor travels to the workers, and
nothing has a name that could be left behind.
"""

from __future__ import annotations

from dataclasses import dataclass

from ambergate.graph.physical import Channel, Plan

LINE_BYTES = 128
IN_FLIGHT_BYTES = 64 << 20
RING_CEILING = 4 << 20
RING_FLOOR = 64 << 10


@dataclass(frozen=True, slots=True)
class Layout:
    """Offsets into the shared memory of a job, and its channels."""

    bells: int
    gates: int
    gate_bytes: int
    channels: tuple[Channel, ...]
    feeds: tuple[tuple[int, int, int], ...]  # operator, offset, bytes: rings from the caller
    nbytes: int

    def bell(self, worker: int) -> int:
        """Offset of a worker's bell; the caller's comes after the last worker's."""
        return self.bells + worker * LINE_BYTES

    def gate(self, number: int) -> int:
        """Offset of a task's gate."""
        return self.gates + number * self.gate_bytes

    @property
    def rings(self) -> int:
        """How many channels cross between processes."""
        return sum(1 for channel in self.channels if channel.nbytes) + len(self.feeds)


def ring_bytes_for(channels: int) -> int:
    """The default size of a ring, so that all of a job's stay within 64 MiB together.

    >>> ring_bytes_for(2) == 4 << 20, ring_bytes_for(64) == 1 << 20, ring_bytes_for(5000)
    (True, True, 65536)
    """
    return max(RING_FLOOR, min(RING_CEILING, IN_FLIGHT_BYTES // max(channels, 1)))


def lay_out(plan: Plan, gate_bytes: int, ring_header_bytes: int) -> Layout:
    """Deal the shared memory of ``plan`` out."""
    bare: list[Channel] = []
    for number, edge in enumerate(plan.edges):
        up, down = plan.operators[edge.source].tasks, plan.operators[edge.target].tasks
        for one, other in edge.pairs(up, down):
            bare.append(Channel(number, one, other, plan.worker_of(one), plan.worker_of(other)))
    bells = 0
    gates = _aligned((plan.workers + 1) * LINE_BYTES, 4096)
    offset = _aligned(gates + plan.tasks * gate_bytes, 4096)
    ring = ring_header_bytes + _aligned(plan.ring_bytes, 64)
    channels = []
    for channel in bare:
        if channel.source_worker == channel.target_worker:
            channels.append(channel)
            continue
        channels.append(
            Channel(
                channel.edge,
                channel.source_task,
                channel.target_task,
                channel.source_worker,
                channel.target_worker,
                offset,
                ring,
            )
        )
        offset = _aligned(offset + ring, 4096)
    feeds = []
    for operator in plan.operators:
        if operator.role == "source" and getattr(operator.description, "in_caller", False):
            feeds.append((operator.index, offset, ring))
            offset = _aligned(offset + ring, 4096)
    return Layout(bells, gates, gate_bytes, tuple(channels), tuple(feeds), offset)


def _aligned(nbytes: int, to: int) -> int:
    return (nbytes + to - 1) // to * to
